package exchange

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// This file reads the journal of Optuna's JournalStorage: an operation a line, in JSON. Studies and trials have the
// numbers in which they were made. An operation on a trial that has ended does nothing, as Optuna has it.

const (
	opCreateStudy = 0
	opDeleteStudy = 1
	opStudyAttr   = 3 // of the system
	opCreateTrial = 4
	opParam       = 5
	opState       = 6
	opUserAttr    = 8
)

// optunaStates are the names of the numbers of states.
var optunaStates = []string{"RUNNING", optunaComplete, optunaPruned, optunaFail, "WAITING"}

// An optunaOp is an operation. Those that are not read have other members.
type optunaOp struct {
	Op           *int                       `json:"op_code"`
	StudyName    string                     `json:"study_name"`
	Directions   []int                      `json:"directions"`
	Study        int                        `json:"study_id"`
	Trial        int                        `json:"trial_id"`
	Start        string                     `json:"datetime_start"`
	End          string                     `json:"datetime_complete"`
	Param        string                     `json:"param_name"`
	Internal     float64                    `json:"param_value_internal"`
	Distribution string                     `json:"distribution"`
	State        *int                       `json:"state"`
	Value        *float64                   `json:"value"`
	Values       []float64                  `json:"values"`
	System       map[string]json.RawMessage `json:"system_attr"`
	User         map[string]json.RawMessage `json:"user_attr"`
	// Set for a trial that was added as a whole:
	Params        map[string]float64         `json:"params"`
	Distributions map[string]string          `json:"distributions"`
	Users         map[string]json.RawMessage `json:"user_attrs"`
}

// IsOptunaJournal reports whether a file is a journal of Optuna, by its first line.
func IsOptunaJournal(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	var head struct {
		Op     *int    `json:"op_code"`
		Worker *string `json:"worker_id"`
	}
	return json.Unmarshal(line, &head) == nil && head.Op != nil && head.Worker != nil
}

// ParseOptunaJournal reads a study of a journal; name may be "" if it has one study alone. The error is
// of the class usage. An incomplete last line, left by a writer that was killed, is ignored.
func ParseOptunaJournal(data []byte, file, name string) (*Study, error) {
	j := &optunaJournal{}
	for n := 1; len(data) > 0; n++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(bytes.TrimSpace(line)) == 0 || !reads(line) {
			continue
		}
		var op optunaOp
		err := json.Unmarshal(line, &op)
		if err != nil && !whole {
			break
		}
		if err == nil {
			err = j.apply(op)
		}
		if err != nil {
			return nil, assay.Errorf(assay.ClassUsage, "%s:%d:1: the journal of Optuna: %w", file, n, err)
		}
	}
	studies := slices.DeleteFunc(slices.Clone(j.studies), func(s *optunaStudy) bool { return s == nil })
	s, err := chooseOptuna(studies, file, name)
	if err != nil {
		return nil, err
	}
	return s.study(file)
}

// reads reports whether a line is read: intermediate values may be NaN, which JSON does not have.
func reads(line []byte) bool {
	return !bytes.Contains(line, []byte(`"op_code":7,`)) && !bytes.Contains(line, []byte(`"op_code": 7,`))
}

// chooseOptuna returns the study of a name.
func chooseOptuna(studies []*optunaStudy, file, name string) (*optunaStudy, error) {
	var names []string
	for _, s := range studies {
		if s.name == name || name == "" && len(studies) == 1 {
			return s, nil
		}
		names = append(names, s.name)
	}
	return nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "%s: the studies are %s", file, strings.Join(names, ", ")),
		"name one with --of")
}

// An optunaJournal is the state after the operations so far. A study that was deleted is nil.
type optunaJournal struct {
	studies []*optunaStudy
	trials  []*optunaTrial
}

func (j *optunaJournal) study(id int) *optunaStudy {
	if id < 0 || id >= len(j.studies) {
		return nil
	}
	return j.studies[id]
}

func (j *optunaJournal) apply(op optunaOp) error {
	if op.Op == nil {
		return assay.Errorf(assay.ClassUsage, "there is no op_code")
	}
	switch *op.Op {
	case opCreateStudy:
		if slices.ContainsFunc(j.studies, func(s *optunaStudy) bool { return s != nil && s.name == op.StudyName }) {
			return nil // two wanted to make it at once
		}
		s := &optunaStudy{name: op.StudyName}
		for _, d := range op.Directions {
			s.maximize = append(s.maximize, d == 2)
		}
		j.studies = append(j.studies, s)
	case opDeleteStudy:
		if j.study(op.Study) != nil {
			j.studies[op.Study] = nil
		}
	case opStudyAttr:
		if s := j.study(op.Study); s != nil && op.System["study:metric_names"] != nil {
			return json.Unmarshal(op.System["study:metric_names"], &s.metrics)
		}
	case opCreateTrial:
		if s := j.study(op.Study); s != nil {
			return j.create(s, op)
		}
	case opParam, opState, opUserAttr:
		return j.change(op)
	}
	return nil
}

// create makes a trial, which may have ended.
func (j *optunaJournal) create(s *optunaStudy, op optunaOp) error {
	t := &optunaTrial{
		number: len(s.trials), state: optunaStates[0], start: op.Start, params: map[string]string{},
		attrs: map[string]float64{},
	}
	s.trials, j.trials = append(s.trials, t), append(j.trials, t)
	for _, p := range slices.Sorted(maps.Keys(op.Params)) {
		if err := t.set(p, op.Params[p], op.Distributions[p]); err != nil {
			return err
		}
	}
	t.attributes(op.Users)
	return t.finish(op)
}

func (t *optunaTrial) attributes(attrs map[string]json.RawMessage) {
	for name, text := range attrs {
		var x *float64
		if json.Unmarshal(text, &x) == nil && x != nil {
			t.attrs[name] = *x
		}
	}
}

// finish keeps the state with the values and the time.
func (t *optunaTrial) finish(op optunaOp) error {
	if op.State == nil {
		return nil
	}
	if *op.State < 0 || *op.State >= len(optunaStates) {
		return assay.Errorf(assay.ClassUsage, "there is no state %d", *op.State)
	}
	t.state, t.end = optunaStates[*op.State], op.End
	if op.Start != "" {
		t.start = op.Start
	}
	t.values = op.Values
	if op.Value != nil {
		t.values = []float64{*op.Value}
	}
	return nil
}

func (j *optunaJournal) change(op optunaOp) error {
	if op.Trial < 0 || op.Trial >= len(j.trials) {
		return assay.Errorf(assay.ClassUsage, "there is no trial %d", op.Trial)
	}
	t := j.trials[op.Trial]
	if t.state == optunaComplete || t.state == optunaPruned || t.state == optunaFail {
		return nil
	}
	switch *op.Op {
	case opParam:
		return t.set(op.Param, op.Internal, op.Distribution)
	case opUserAttr:
		t.attributes(op.User)
		return nil
	}
	return t.finish(op)
}
