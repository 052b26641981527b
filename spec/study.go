package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// Version is the version of the stored form of a [Study].
const Version = 1

// Searchers is the version of the searchers. It grows when one proposes something else than before, so that studies
// which are under way go on as they began: 1, the first part of auto counts large improvements only; 2, every
// improvement counts, as in 0, and earlier studies make the first three proposals and have influence whatever the
// trials are; 3, the third part of auto makes longer steps once its single steps are made.
const Searchers = 3

// A Study is everything that a user defines about a study: the content of a study file or of a command line. Its JSON
// is the spec that is stored with the study; it needs neither the file nor the recorded table to be read.
//
// The fields may be set directly, then [Study.Check] must be called.
type Study struct {
	Version int    `json:"version"`
	Name    string `json:"name,omitempty"`

	// Command is the program and its arguments, which are templates; see
	// [ParseTemplate]. If Shell, it is one line for sh -c, in which nothing is
	// replaced: the parameters are environment variables; see [Study.Program].
	Command []string          `json:"command,omitempty"`
	App     string            `json:"app,omitempty"` // an application of the workers, in place of a command
	Shell   bool              `json:"shell,omitempty"`
	Env     map[string]string `json:"env,omitempty"` // values are templates
	// Secrets are variables whose values are in none of this: "env:VARIABLE" or "file:PATH" of the machine of a run.
	Secrets map[string]string `json:"secrets,omitempty"`
	Dir     string            `json:"dir,omitempty"` // working directory; "" means the tool's own
	Setup   Setup             `json:"setup,omitzero"`
	Prepare Hook              `json:"prepare,omitzero"`
	Warmup  int               `json:"warmup,omitempty"` // runs before each that is measured
	Cleanup Hook              `json:"cleanup,omitzero"`
	Service *Service          `json:"service,omitempty"`
	Files   []File            `json:"files,omitempty"` // written before Prepare
	Verify  Hook              `json:"verify,omitzero"` // fails if the output of a run is wrong

	// Inputs are patterns of files that a run reads, Outputs patterns of files that it writes, both below Dir. Shared
	// are paths that are the same on all machines. Staged lists the files of Inputs and Shared at the time the study was
	// given to a server.
	Inputs  []string `json:"inputs,omitempty"`
	Outputs []string `json:"outputs,omitempty"`
	Shared  []string `json:"shared,omitempty"`
	Staged  *Staged  `json:"staged,omitempty"`

	Params    []Param   `json:"parameters"`
	Where     []string  `json:"where,omitempty"` // relations between parameters
	Objective Objective `json:"objective"`
	// Others are further objectives, at most two: then a front is looked for.
	Others    []Objective `json:"other_objectives,omitempty"`
	SubjectTo []string    `json:"subject_to,omitempty"` // limits on metrics
	Metrics   []Metric    `json:"metrics,omitempty"`

	Search Method `json:"search,omitzero"`
	// Searchers is the version of the searchers at the start of a stored study: its proposals stay the same later. 0 is
	// the version of studies stored before there were versions.
	Searchers int    `json:"searchers,omitempty"`
	Stop      Stop   `json:"stop,omitzero"`
	Repeat    Repeat `json:"repeat,omitzero"`
	Pairs     Pairs  `json:"check,omitzero"` // of runs at the end
	Prior     Prior  `json:"prior,omitzero"`
	Level     Level  `json:"level,omitzero"` // of runs that are cheaper
	Budget    Budget `json:"budget,omitzero"`
	// Timeout is the limit of one run; 0 means none.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	// Parallel is the number of runs at once; 0 means 1.
	Parallel int `json:"parallel,omitempty"`

	Workbench *Workbench `json:"workbench,omitempty"`

	// Placement is where the runs are made.
	Placement Placement `json:"place,omitzero"`

	// Online marks a study that tunes a program while it runs: there is no command.
	Online bool `json:"online,omitempty"`
	// Asked marks an external study: there is no command. See [Study.SetAsked].
	Asked  bool    `json:"asked,omitempty"`
	Replay *Replay `json:"replay,omitempty"`
	// Configs are the configurations of a resolved replay, in table order.
	Configs []assay.Config `json:"configs,omitempty"`

	file   string           // the study file, or ""
	places map[string]place // where the pieces were written, by path
}

// An Objective is the metric to minimize, or to maximize. Metric "" stands for
// elapsed.
type Objective struct {
	Metric   string `json:"metric"`
	Maximize bool   `json:"maximize,omitempty"`
}

// A Hook is a command that is run before the runs of a configuration or after
// them: a list of templates, or if Shell one line for sh -c. The zero value
// means none.
type Hook struct {
	Argv  []string `json:"argv,omitempty"`
	Shell bool     `json:"shell,omitempty"`
}

// A Metric is a measurement of the user's own. Source is in the text form of
// the --metric flag; files in it are templates.
type Metric struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Unit   string `json:"unit,omitempty"`
	// Poll is how often it is found while a run goes on; 0 means only after it.
	Poll  time.Duration `json:"poll_ns,omitempty"`
	Grows bool          `json:"grows,omitempty"` // it never falls during a run
}

// A Method is a search algorithm. Name "" stands for auto.
type Method struct {
	Name    string         `json:"name,omitempty"`
	Seed    uint64         `json:"seed"`
	Options map[string]any `json:"options,omitempty"` // texts, float64s, bools and lists of those
}

// Progress returns the metric by which runs are followed, if there is one.
func (s *Study) Progress() (m Metric, ok bool) {
	i := slices.IndexFunc(s.Metrics, func(m Metric) bool { return m.Poll == progressPoll })
	if i < 0 {
		return m, false
	}
	return s.Metrics[i], true
}

// A Stop is an early-termination rule. Rule "" stands for auto, and Interval 0
// for the loop's own choice.
type Stop struct {
	Rule     string         `json:"rule,omitempty"`
	Interval time.Duration  `json:"interval_ns,omitempty"`
	Options  map[string]any `json:"options,omitempty"`
	// Gain, in per cent of the best value, is the least that going on is to bring: the study ends
	// when as much again is expected to bring less. 0 never ends it.
	Gain float64 `json:"gain_percent,omitempty"`
}

// A Repeat defines how often a configuration is run and how its values are reduced to one. Runs 0 means 1, Estimator
// "" the loop's choice.
type Repeat struct {
	Runs      int    `json:"runs,omitempty"`
	Auto      bool   `json:"auto,omitempty"` // the loop chooses Runs
	Estimator string `json:"estimator,omitempty"`
}

// A Budget defines when a study ends. Zero values set no limit.
type Budget struct {
	Time   time.Duration `json:"time_ns,omitempty"`
	Trials int           `json:"trials,omitempty"`
	Target *float64      `json:"target,omitempty"` // value of the metric that is good enough
	// CPUHours is the most hours of processors that the jobs of a batch system may take together.
	CPUHours float64 `json:"cpu_hours,omitempty"`
}

// A Replay is a recorded table in place of a command. It has the fields of table.Spec, so that the types convert
// to each other.
type Replay struct {
	File       string              `json:"file"`            // path, .csv or .csv.gz
	Where      map[string]string   `json:"where,omitempty"` // column: value of the rows that count
	Parameters []string            `json:"parameters"`      // columns
	Metrics    map[string][]string `json:"metrics"`         // metric: columns, one a repetition
	UnitScale  map[string]float64  `json:"unit_scale,omitempty"`
	OKColumn   string              `json:"ok_column,omitempty"`
	OKEquals   string              `json:"ok_equals,omitempty"`
	Digest     string              `json:"digest,omitempty"` // SHA-256 of the file, once it has been read
}

// Decode reads the JSON form of a study, as json.Marshal writes it.
func Decode(spec []byte) (*Study, error) {
	var s Study
	dec := json.NewDecoder(bytes.NewReader(spec))
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(spec, &head); err != nil {
		return nil, fmt.Errorf("a stored study cannot be read: %w", err)
	}
	if head.Version != Version {
		return nil, fmt.Errorf("a stored study has version %d, this program reads version %d", head.Version, Version)
	}
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return nil, fmt.Errorf("a stored study cannot be read: %w", err)
	}
	readOnline(&s)
	return &s, nil
}

// File returns the path of the study file, or "" without a file.
func (s *Study) File() string { return s.file }

// Place returns where a piece of the study was written, "FILE:LINE:COLUMN", or
// "" if it was not written in a file. The path names it as in the file:
// "search.name", "stop.options.window" is "stop.window", "where[0]",
// "parameters.threads".
func (s *Study) Place(path string) string {
	p, ok := s.places[path]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
}

// At returns the beginning of a message about a piece of the study: its [Study.Place]
// and a colon, or "".
func (s *Study) At(path string) string {
	if p := s.Place(path); p != "" {
		return p + ": "
	}
	return ""
}

// Resolve fills in the data that a study of a recorded table takes from it: the parameters, in the order of the
// replay's columns, the configurations, and the digest of the file. It then checks the study as [Study.Check] does.
func (s *Study) Resolve(params []assay.Param, configs []assay.Config, digest string) error {
	if s.Replay == nil {
		panic("spec: Resolve of a study without a table")
	}
	var resolved []Param
	for _, p := range params {
		r := newParam(p)
		if i := slices.IndexFunc(s.Params, func(q Param) bool { return q.Name == p.Name }); i >= 0 {
			r.Default = s.Params[i].Default
			r.Unit = s.Params[i].Unit
			r.When = s.Params[i].When
		}
		resolved = append(resolved, r)
	}
	s.Params, s.Configs = resolved, slices.Clone(configs)
	s.Replay.Digest = digest
	_, err := s.Check()
	return err
}

// resolved reports whether the parameters are known.
func (s *Study) resolved() bool { return s.Replay == nil || len(s.Configs) > 0 }
