package study_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// scripted is a Runner whose n-th run, from 1, ends with the result of its function.
type scripted struct {
	n   int
	run func(n int) (assay.Measurement, error)
}

func (f *scripted) Run(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
	f.n++
	return f.run(f.n)
}

// exits is a run that ends with a code and prints a text.
func exits(code int, format string, args ...any) (assay.Measurement, error) {
	return assay.Measurement{ExitCode: code, Stderr: fmt.Appendf(nil, format, args...)}, nil
}

// The study ends when its first trials all fail for one reason, and only then.
func TestHopeless(t *testing.T) {
	good := assay.Measurement{Metrics: map[string]float64{"score": 1}}
	for name, tt := range map[string]struct {
		run  func(n int) (assay.Measurement, error)
		runs int
		by   string
	}{
		"one reason": {func(int) (assay.Measurement, error) { return exits(3, "no table") }, 5, "failures"},
		"with other numbers": {
			func(n int) (assay.Measurement, error) { return exits(3, "pid %d at 0x%x: no table", n*7, n) }, 5, "failures",
		},
		"a metric that never appears": {
			func(int) (assay.Measurement, error) { return assay.Measurement{Stdout: []byte("tps 3")}, nil }, 5, "failures",
		},
		"a hook": {
			func(int) (assay.Measurement, error) {
				return assay.Measurement{Failure: assay.NewFailure("prepare", "prepare exited with code 1", nil, nil)}, nil
			}, 5, "failures",
		},
		"other codes": {func(n int) (assay.Measurement, error) { return exits(n, "no table") }, 9, "trials"},
		"other words": {func(n int) (assay.Measurement, error) { return exits(3, "no %c", 'a'+n) }, 9, "trials"},
		"other places": {
			func(n int) (assay.Measurement, error) {
				step := []string{"prepare", "cleanup"}[n%2]
				return assay.Measurement{Failure: assay.NewFailure(step, "a step failed", nil, nil)}, nil
			}, 9, "trials",
		},
		"the fifth is good": {
			func(n int) (assay.Measurement, error) {
				if n == 5 {
					return good, nil
				}
				return exits(3, "no table")
			}, 9, "trials",
		},
		"the first is good": {
			func(n int) (assay.Measurement, error) {
				if n == 1 {
					return good, nil
				}
				return exits(3, "no table")
			}, 9, "trials",
		},
	} {
		inBubble(t, func(t *testing.T) {
			s := newStudy(t, store.NewMem(), 9)
			s.Goal, s.Hopeless = assay.Goal{Metric: "score"}, 5
			f := &scripted{run: tt.run}
			s.Runner = f
			r, err := s.Run(t.Context())
			if err != nil || f.n != tt.runs || r.EndedBy != tt.by || len(r.Trials) != tt.runs {
				t.Errorf("%s: %d runs, %d trials, ended by %s, %v; want %d, %s", name, f.n, len(r.Trials), r.EndedBy, err,
					tt.runs, tt.by)
			}
		})
	}
}

// A session that goes on after such an end tries again: five more, or all if the reason was
// removed. No number of failures ends the study once a trial has run to its end.
func TestHopelessIsOfOneSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem := store.NewMem()
		bad := func(int) (assay.Measurement, error) { return exits(3, "no table") }
		good := func(int) (assay.Measurement, error) {
			return assay.Measurement{Metrics: map[string]float64{"score": 1}}, nil
		}
		for i, tt := range []struct {
			run    func(n int) (assay.Measurement, error)
			trials int
			by     string
		}{{bad, 5, "failures"}, {bad, 10, "failures"}, {good, 12, "trials"}, {bad, 20, "trials"}} {
			s := newStudy(t, mem, tt.trials)
			if tt.by == "failures" {
				s.Budget.Trials = 100
			}
			s.Goal, s.Hopeless = assay.Goal{Metric: "score"}, 5
			s.Runner = &scripted{run: tt.run}
			r, err := s.Run(t.Context())
			if err != nil || len(r.Trials) != tt.trials || r.EndedBy != tt.by {
				t.Errorf("session %d: %d trials, ended by %s, %v; want %d, %s", i, len(r.Trials), r.EndedBy, err, tt.trials, tt.by)
			}
		}
		running := 0
		for row, err := range mem.Trials(t.Context(), "s", 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if !row.Trial.State.Final() {
				running++
			}
		}
		if running > 0 {
			t.Errorf("%d trials are running on record", running)
		}
	})
}

// The limit of a hook is a failure of the trial, unless the limit is the rest of the budget:
// then the trial is run again.
func TestLimitOfAHook(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		limit := func(int) (assay.Measurement, error) {
			return assay.Measurement{Failure: assay.NewFailure("prepare", "prepare: time limit of 1s reached", nil, nil)},
				assay.ErrLimit
		}
		s := newStudy(t, store.NewMem(), 1)
		s.Runner = &scripted{run: limit}
		if tr := mustRun(t, s).Trials[0]; tr.State != assay.Failed || tr.Reason != "prepare: time limit of 1s reached" {
			t.Errorf("%v: %s", tr.State, tr.Reason)
		}
		s = newStudy(t, store.NewMem(), 1)
		s.Budget = study.Budget{Trials: 1, Time: 1e9}
		f := &scripted{}
		f.run = func(n int) (assay.Measurement, error) {
			if n == 1 {
				return limit(n)
			}
			return assay.Measurement{Metrics: map[string]float64{"score": 1}}, nil
		}
		s.Runner = f
		if r, _ := s.Run(t.Context()); len(r.Trials) > 0 && r.Trials[0].State == assay.Failed {
			t.Errorf("a hook that the budget cut off made a failed trial: %s", r.Trials[0].Reason)
		}
	})
}
