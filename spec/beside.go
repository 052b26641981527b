package spec

import "github.com/assay-run/assay"

// A Beside is something that a run has beside its command: the key of the study file, and a command, or a file.
type Beside struct {
	Key  string
	Argv []string // of a file its name alone
	File string   // its text
}

// Beside returns the commands that a run of a configuration needs in addition to its own, in the order of the run.
// The second command of a service has the key stop.
func (p *Program) Beside(c assay.Config) []Beside {
	var setup, start, stop []string
	if s := p.Setup(c); s != nil {
		setup = s.Argv
	}
	if s := p.Service(c); s != nil {
		start, stop = s.Start, s.Stop
	}
	return inOrder(setup, p.Files(c), p.Prepare(c), start, p.Verify(c), stop, p.Cleanup(c))
}

// Beside is [Program.Beside] of the study itself, with the placeholders as they are written.
func (s *Study) Beside() []Beside {
	var files []assay.File
	for _, f := range s.Files {
		files = append(files, assay.File{Name: f.Name, Text: f.Text})
	}
	var start, stop []string
	if s.Service != nil {
		start, stop = s.Service.Start.Argv, s.Service.Stop.Argv
	}
	return inOrder(s.Setup.Argv, files, s.Prepare.Argv, start, s.Verify.Argv, stop, s.Cleanup.Argv)
}

func inOrder(setup []string, files []assay.File, prepare, start, verify, stop, cleanup []string) (out []Beside) {
	add := func(key string, argv []string) {
		if len(argv) > 0 {
			out = append(out, Beside{Key: key, Argv: argv})
		}
	}
	add("setup", setup)
	for _, f := range files {
		out = append(out, Beside{"files", []string{f.Name}, f.Text})
	}
	add("prepare", prepare)
	add("service", start)
	add("verify", verify)
	add("stop", stop)
	add("cleanup", cleanup)
	return out
}
