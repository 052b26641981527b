package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// A Beside is something that is done beside the command of a study: the key of the study file that requests it, and
// its value for a configuration, in words.
type Beside struct{ Key, Text string }

// Argv returns the command of a configuration, for people and for those who run it without a
// study: with the folder of its setup as far as that was made, else with {setup}.
func (p *Problem) Argv(c assay.Config) []string { return p.shown(c).texts(p.Program.Argv(c)...) }

// Environment returns the variables that the command needs for a configuration; see
// [spec.Program.Environment].
func (p *Problem) Environment(c assay.Config) []string {
	return p.shown(c).texts(p.Program.Environment(c)...)
}

// Beside returns the actions beside the command for a configuration, in their order, after the variables that all of
// them have. It returns nil if no command is run.
func (p *Problem) Beside(c assay.Config) []Beside {
	if p.Program == nil {
		return nil
	}
	var out []Beside
	for _, v := range p.Environment(c) {
		out = append(out, Beside{"env", v})
	}
	in := p.shown(c)
	for _, b := range p.Program.Beside(c) {
		text := commandText(in.texts(b.Argv...))
		switch b.Key {
		case "files":
			text = fileText(b.Argv[0], in.texts(b.File)[0])
		case "service":
			text += ", " + in.ready(p.Program.Service(c).Ready) + ", " +
				restartText(p.Definition.Service.Restart, p.Program.ServiceUses())
		}
		out = append(out, Beside{b.Key, text})
	}
	return out
}

// A shownIn shows texts of a configuration to people, with the folder of its setup.
type shownIn struct{ folder string }

// shown returns the way to show texts of a configuration: with the folder that its setup has made, else with {setup}.
func (p *Problem) shown(c assay.Config) shownIn {
	folder := "{setup}"
	if s := p.Program.Setup(c); s != nil {
		folder = cmp.Or(Folder(p.Definition, s), folder)
	}
	return shownIn{folder}
}

// texts replaces the placeholders of the folder of the setup and of the slot.
func (s shownIn) texts(texts ...string) []string {
	out := slices.Clone(texts)
	for i, t := range out {
		out[i] = strings.ReplaceAll(assay.InFirstSlot(t), assay.SetupDir, s.folder)
	}
	return out
}

// ready describes when a service is ready.
func (s shownIn) ready(r assay.Ready) string {
	var all []string
	if r.Output != "" {
		all = append(all, "it has printed /"+r.Output+"/")
	}
	if r.Port != "" {
		all = append(all, "port "+s.texts(r.Port)[0]+" answers")
	}
	if len(r.Command) > 0 {
		all = append(all, commandText(s.texts(r.Command...))+" succeeds")
	}
	if len(all) == 0 {
		return "ready when that has ended"
	}
	return "ready when " + strings.Join(all, " and ")
}

// restartText describes when a service is started anew that depends on those parameters.
func restartText(restart string, uses []string) string {
	switch {
	case restart != "changed":
		return "restarted for each run"
	case len(uses) == 0:
		return "started once"
	}
	return "restarted when " + strings.Join(uses, ", ") + " changes"
}

// shownFile is how many runes of a file are shown.
const shownFile = 200

// fileText returns a file that is written before a run, in one line: its lines with | between them.
func fileText(name, text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	shown := []rune(strings.Join(lines, " | "))
	if len(shown) > shownFile {
		return fmt.Sprintf("%s: %s... (%d lines)", name, string(shown[:shownFile]), len(lines))
	}
	return name + ": " + string(shown)
}

// commandText returns a command as it was written: a line for a shell, or a list.
func commandText(argv []string) string {
	if len(argv) == 3 && argv[0] == "sh" && argv[1] == "-c" {
		return argv[2]
	}
	return report.ShellQuote(argv)
}
