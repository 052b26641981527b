package assay

import (
	"errors"
	"strings"
	"time"
)

// SetupDir is the placeholder in the texts of a [Job] for the folder of its [Setup]. Only the runner of the job knows
// the path. No argument, variable or name of a file can hold a NUL byte: so a value of a parameter is never mistaken
// for the placeholder, and a remaining placeholder cannot start a program.
const SetupDir = "\x00setup\x00"

// A Setup is a command that is run once for all jobs with the same setup, in which [SetupDir] stands for a folder of
// its own. The files it leaves there are kept for the runs. Its working directory is the job's.
type Setup struct {
	Argv []string
	Env  []string // "NAME=value", added to the runner's own environment
	// Inputs are patterns of the files that it reads, relative to the job's Dir. Other files are
	// known by arguments that name them.
	Inputs []string
	// Limit is the longest time that it may take; 0 means no limit. A setup that takes longer has
	// failed.
	Limit time.Duration
	// Left is the rest of the study's time budget for the setup; 0 means no limit. After it Run returns [ErrUnbegun].
	Left     time.Duration
	Parallel bool // it may be made while other jobs run
}

// ErrUnbegun means that the time of a study was over before the run itself began: nothing was learned about it.
var ErrUnbegun = errors.New("the study's time budget was spent before the run began")

// Replace returns the job with each old in its texts replaced by new: in arguments, variables,
// files and commands, not in names. The job itself stays as it is.
func (j Job) Replace(old, new string) Job {
	r := strings.NewReplacer(old, new)
	all := func(texts []string) []string {
		if texts == nil {
			return nil
		}
		out := make([]string, len(texts))
		for i, t := range texts {
			out[i] = r.Replace(t)
		}
		return out
	}
	j.Argv, j.Env, j.Dir, j.Data = all(j.Argv), all(j.Env), r.Replace(j.Dir), r.Replace(j.Data)
	j.Prepare, j.Cleanup, j.Verify = all(j.Prepare), all(j.Cleanup), all(j.Verify)
	if j.Files != nil {
		files := make([]File, len(j.Files))
		for i, f := range j.Files {
			files[i] = File{r.Replace(f.Name), r.Replace(f.Text)}
		}
		j.Files = files
	}
	if j.Setup != nil {
		s := *j.Setup
		s.Argv, s.Env, s.Inputs = all(s.Argv), all(s.Env), all(s.Inputs)
		j.Setup = &s
	}
	if j.Service != nil {
		s := *j.Service
		s.Start, s.Stop, s.Ready.Command = all(s.Start), all(s.Stop), all(s.Ready.Command)
		s.Key, s.Ready.Port, s.Ready.Output = r.Replace(s.Key), r.Replace(s.Ready.Port), r.Replace(s.Ready.Output)
		j.Service = &s
	}
	if j.Metrics != nil {
		metrics := make([]MetricSource, len(j.Metrics))
		for i, m := range j.Metrics {
			m.File, m.Command = r.Replace(m.File), r.Replace(m.Command)
			metrics[i] = m
		}
		j.Metrics = metrics
	}
	return j
}

// A File is a file that is written for a run.
type File struct {
	Name string // a path below the job's Dir
	Text string
}

// fileJSON is the JSON of a File.
type fileJSON struct {
	Name rawText `json:"name"`
	Text rawText `json:"text"`
}

func fileTexts(files []File) (out []fileJSON) {
	for _, f := range files {
		out = append(out, fileJSON{rawText(f.Name), rawText(f.Text)})
	}
	return out
}

func filesOf(files []fileJSON) (out []File) {
	for _, f := range files {
		out = append(out, File{string(f.Name), string(f.Text)})
	}
	return out
}

// setupJSON is the JSON of a Setup.
type setupJSON struct {
	Argv     []rawText     `json:"argv,omitempty"`
	Env      []rawText     `json:"env,omitempty"`
	Inputs   []rawText     `json:"inputs,omitempty"`
	Limit    time.Duration `json:"limit_ns,omitempty"`
	Left     time.Duration `json:"left_ns,omitempty"`
	Parallel bool          `json:"parallel,omitempty"`
}

func (s *Setup) json() *setupJSON {
	if s == nil {
		return nil
	}
	return &setupJSON{raw(s.Argv), raw(s.Env), raw(s.Inputs), s.Limit, s.Left, s.Parallel}
}

func (s *setupJSON) setup() *Setup {
	if s == nil {
		return nil
	}
	return &Setup{texts(s.Argv), texts(s.Env), texts(s.Inputs), s.Limit, s.Left, s.Parallel}
}
