package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/prune"
	"github.com/assay-run/assay/stats"
	"github.com/assay-run/assay/table"
)

// A jpSubject is one environment of a data set: a surface that is searched while
// the other environments are the earlier studies.
type jpSubject struct {
	name     string
	space    *assay.Space
	goal     assay.Goal
	trials   []assay.Trial // one of each configuration
	value    map[string]assay.Trial
	optimum  float64
	worst    float64
	nearest  float64 // greatest rank correlation with another subject
	nearestR float64 // greatest normalised cross-correlation with another subject
}

// A jpDataSet is all environments of a recorded table.
type jpDataSet struct {
	name     string
	subjects []*jpSubject
}

// jpRead reads the table of a study, all environments at once. environment are the
// columns that tell them apart; those of replay.where if there are none.
func jpRead(file string, environment []string) (*jpDataSet, error) {
	st, err := recordedStudy(io.Discard, file, "bench jobpruner")
	if err != nil {
		return nil, err
	}
	if len(st.Where) > 0 {
		return nil, usagef("%s: bench jobpruner takes whole tables, without where", file)
	}
	goal, err := st.Goal()
	if err != nil {
		return nil, err
	}
	spec := table.Spec(*st.Replay)
	if len(environment) == 0 {
		environment = slices.Sorted(maps.Keys(spec.Where))
	}
	if len(environment) == 0 {
		return nil, usagef("%s: which columns tell the environments apart? Give --environment COLUMN,...", file)
	}
	spec.Where = maps.Clone(spec.Where)
	for _, c := range environment {
		delete(spec.Where, c)
		if slices.Contains(spec.Parameters, c) {
			return nil, usagef("%s: column %s is a parameter, not an environment", file, c)
		}
	}
	n := len(spec.Parameters)
	spec.Parameters = append(slices.Clone(spec.Parameters), environment...)
	var given []assay.Param
	for _, p := range st.Params {
		given = append(given, p.Param())
	}
	t, err := table.Open(spec, given...)
	if err != nil {
		return nil, usageError{err}
	}
	d := &jpDataSet{name: st.Name}
	if d.name == "" {
		d.name = file
	}
	return d, d.fill(t, n, goal)
}

// fill makes the subjects of a table whose first n parameters are the study's.
func (d *jpDataSet) fill(t *table.Table, n int, goal assay.Goal) error {
	params, columns := t.Params[:n], t.Params[n:]
	index := map[string]*jpSubject{}
	configs := map[string][]assay.Config{}
	for _, c := range t.Configs {
		var parts []string
		for i, p := range columns {
			parts = append(parts, p.Text(c[n+i]))
		}
		name := strings.Join(parts, "/")
		s := index[name]
		if s == nil {
			s = &jpSubject{name: name, goal: goal, value: map[string]assay.Trial{}, optimum: math.Inf(1), worst: math.Inf(-1)}
			index[name] = s
			d.subjects = append(d.subjects, s)
		}
		own := c[:n].Clone()
		configs[name] = append(configs[name], own)
		s.add(own, t, c)
	}
	for _, s := range d.subjects {
		if math.IsInf(s.optimum, 0) || s.optimum == 0 {
			return usagef("%s: environment %s has no run within the limits, or the optimum 0", d.name, s.name)
		}
		var err error
		if s.space, err = assay.NewList(params, configs[s.name]); err != nil {
			return err
		}
	}
	if len(d.subjects) < 2 {
		return usagef("%s: one environment is no knowledge base", d.name)
	}
	d.correlate()
	return nil
}

// add records the mean of the runs of a configuration, c in the subject and row in
// the table.
func (s *jpSubject) add(c assay.Config, t *table.Table, row assay.Config) {
	trial := assay.Trial{Proposal: assay.Proposal{ID: int64(len(s.trials) + 1), Config: c}, State: assay.Failed, Value: math.Inf(1), Attempts: 1}
	if m, ok := t.Mean(row); ok {
		if v, err := s.goal.Value(m); err == nil {
			trial.State, trial.Value, trial.Measurement = assay.Done, v, m
			if broken, err := s.goal.Broken(m); err != nil || broken != "" {
				trial.State = assay.Infeasible
			} else {
				s.optimum, s.worst = min(s.optimum, v), max(s.worst, v)
			}
		}
	}
	s.trials = append(s.trials, trial)
	s.value[c.Key()] = trial
}

// study returns the subject as an earlier study.
func (s *jpSubject) study() prune.Study {
	return prune.Study{Name: s.name, Params: s.space.Params, Goal: s.goal, Trials: s.trials}
}

// correlate sets how similar each subject's nearest one is, over the
// configurations that both have.
func (d *jpDataSet) correlate() {
	for _, s := range d.subjects {
		s.nearest, s.nearestR = math.Inf(-1), math.Inf(-1)
		for _, other := range d.subjects {
			if other == s {
				continue
			}
			var x, y []float64
			for _, t := range s.trials {
				if u := other.value[t.Config.Key()]; t.State == assay.Done && u.State == assay.Done {
					x, y = append(x, t.Value), append(y, u.Value)
				}
			}
			if r := stats.Spearman(x, y); r > s.nearest {
				s.nearest = r
			}
			if r := stats.CrossCorrelation(x, y); r > s.nearestR {
				s.nearestR = r
			}
		}
	}
}

// knowledge returns what all other subjects know of s.
func (d *jpDataSet) knowledge(s *jpSubject) *prune.Knowledge {
	var studies []prune.Study
	for _, other := range d.subjects {
		if other != s {
			studies = append(studies, other.study())
		}
	}
	return prune.NewKnowledge(s.space, s.goal, studies)
}

// play lets a searcher run n trials and returns the relative error of the best one
// after each: the worst row's before there is one.
func (s *jpSubject) play(searcher assay.Searcher, n int) ([]float64, error) {
	errorOf := func(v float64) float64 { return math.Abs(v-s.optimum) / math.Abs(s.optimum) }
	best := s.worst
	var curve []float64
	for len(curve) < n {
		ps, err := searcher.Ask(1)
		if err != nil || len(ps) == 0 {
			break
		}
		t := s.value[ps[0].Config.Key()]
		t.Proposal = ps[0]
		if t.State == assay.Done {
			best = min(best, t.Value)
		}
		curve = append(curve, errorOf(best))
		if err := searcher.Tell(t); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for len(curve) < n { // the search has ended
		curve = append(curve, errorOf(best))
	}
	return curve, nil
}
