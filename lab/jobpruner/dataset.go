package jobpruner

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
)

// A subject is one environment of a data set: a surface that is searched while the
// other environments are the earlier studies. It is not changed once it is filled.
type subject struct {
	name     string
	space    *assay.Space // the recorded configurations
	goal     assay.Goal
	trials   []assay.Trial                // one of each configuration, as an earlier study has it
	measured map[string]assay.Measurement // by Key: the mean of the runs, or an exit code
	value    map[string]assay.Trial       // of trials, by Key
	optimum  float64                      // least value within the limits
	worst    float64                      // greatest value within the limits
	nearest  float64                      // greatest rank correlation with another subject
	nearestR float64                      // greatest normalised cross-correlation with another subject
}

// A DataSet is all environments of a recorded table. It is safe for concurrent use.
type DataSet struct {
	Name     string
	subjects []*subject
}

// A Source describes how a table is read.
type Source struct {
	Name   string
	Spec   table.Spec    // as a study has it
	Params []assay.Param // given by the study; missing parts are read from the table
	Goal   assay.Goal
	// Environment are the columns that identify the environments; if empty, the columns of Spec.Where.
	// Their conditions in Spec.Where do not count.
	Environment []string
}

// Open reads all environments of a table at once. Every error is a flaw of the source
// or of the table.
func Open(src Source) (*DataSet, error) {
	spec := src.Spec
	environment := src.Environment
	if len(environment) == 0 {
		environment = slices.Sorted(maps.Keys(spec.Where))
	}
	if len(environment) == 0 {
		return nil, errors.New("no column identifies environments")
	}
	spec.Where = maps.Clone(spec.Where)
	for _, c := range environment {
		delete(spec.Where, c)
		if slices.Contains(spec.Parameters, c) {
			return nil, fmt.Errorf("column %s is a parameter, not an environment", c)
		}
	}
	n := len(spec.Parameters)
	spec.Parameters = slices.Concat(spec.Parameters, environment)
	t, err := table.Open(spec, src.Params...)
	if err != nil {
		return nil, err
	}
	d := &DataSet{Name: src.Name}
	return d, d.fill(t, n, src.Goal)
}

// fill makes the subjects of a table whose first n parameters are the study's; the others identify the
// environments.
func (d *DataSet) fill(t *table.Table, n int, goal assay.Goal) error {
	params, columns := t.Params[:n], t.Params[n:]
	index := map[string]*subject{}
	configs := map[string][]assay.Config{}
	for _, c := range t.Configs {
		var parts []string
		for i, p := range columns {
			parts = append(parts, p.Text(c[n+i]))
		}
		name := strings.Join(parts, "/")
		s := index[name]
		if s == nil {
			s = &subject{
				name: name, goal: goal, optimum: math.Inf(1), worst: math.Inf(-1),
				measured: map[string]assay.Measurement{}, value: map[string]assay.Trial{},
			}
			index[name] = s
			d.subjects = append(d.subjects, s)
		}
		own := c[:n].Clone()
		configs[name] = append(configs[name], own)
		s.add(own, t, c)
	}
	for _, s := range d.subjects {
		if math.IsInf(s.optimum, 0) || s.optimum == 0 {
			return fmt.Errorf("environment %s has no run within the limits, or the optimum 0", s.name)
		}
		var err error
		if s.space, err = assay.NewList(params, configs[s.name]); err != nil {
			return err
		}
	}
	if len(d.subjects) < 2 {
		return errors.New("one environment is no knowledge base")
	}
	d.correlate()
	return nil
}

// add records the mean of the runs of a configuration, c in the subject and row in
// the table. The state is that which the loop of package study would give it.
func (s *subject) add(c assay.Config, t *table.Table, row assay.Config) {
	trial := assay.Trial{
		Proposal: assay.Proposal{ID: int64(len(s.trials) + 1), Config: c},
		State:    assay.Failed, Value: math.Inf(1), Attempts: 1,
	}
	m, ok := t.Mean(row)
	if !ok {
		m = assay.Measurement{ExitCode: 1}
	}
	v, missing := s.goal.Value(m)
	broken, unknown := s.goal.Broken(m)
	switch {
	case !ok || missing != nil || unknown != nil: // stays failed
	case broken != "":
		trial.State, trial.Value, trial.Measurement = assay.Infeasible, v, m
	default:
		trial.State, trial.Value, trial.Measurement = assay.Done, v, m
		s.optimum, s.worst = min(s.optimum, v), max(s.worst, v)
	}
	s.trials = append(s.trials, trial)
	s.value[c.Key()], s.measured[c.Key()] = trial, m
}

// study returns the subject as an earlier study.
func (s *subject) study() prune.Study {
	return prune.Study{Name: s.name, Params: s.space.Params, Goal: s.goal, Trials: s.trials}
}

// correlate sets how similar each subject's nearest one is, over the
// configurations that both have.
func (d *DataSet) correlate() {
	for _, s := range d.subjects {
		s.nearest, s.nearestR = math.Inf(-1), math.Inf(-1)
		for _, other := range d.subjects {
			if other == s {
				continue
			}
			x, y := s.beside(other)
			if r := stats.Spearman(x, y); r > s.nearest {
				s.nearest = r
			}
			if r := stats.CrossCorrelation(x, y); r > s.nearestR {
				s.nearestR = r
			}
		}
	}
}

// beside returns the outcomes of both at the configurations that ran to their end in both.
func (s *subject) beside(other *subject) (x, y []float64) {
	for _, t := range s.trials {
		if u := other.value[t.Config.Key()]; t.State == assay.Done && u.State == assay.Done {
			x, y = append(x, t.Value), append(y, u.Value)
		}
	}
	return x, y
}

// knowledge returns the knowledge of all other subjects about s.
func (d *DataSet) knowledge(s *subject) *prune.Knowledge {
	var studies []prune.Study
	for _, other := range d.subjects {
		if other != s {
			studies = append(studies, other.study())
		}
	}
	return prune.NewKnowledge(s.space, s.goal, studies)
}
