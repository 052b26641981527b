package study_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// A floor is a Runner of several workers, which take turns by the number of the trial and of the run.
type floor struct {
	mu      sync.Mutex
	workers []station
	class   string
	placed  []string
	made    []string // "trial worker"
	takes   func(x float64, w station) float64
}

type station struct{ name, class string }

func (f *floor) Place(class string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.class = class
	f.placed = append(f.placed, class)
}

func (f *floor) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	f.mu.Lock()
	var there []station
	for _, w := range f.workers {
		if f.class == "" || w.class == f.class {
			there = append(there, w)
		}
	}
	w := there[(int(job.ID.Trial)*5+job.ID.Repeat*3)%len(there)]
	f.made = append(f.made, fmt.Sprintf("%d %s", job.ID.Trial, w.name))
	f.mu.Unlock()
	takes := time.Duration(f.takes(job.Config[0], w) * float64(time.Second))
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return assay.Measurement{}, context.Cause(ctx)
	}
	return assay.Measurement{Elapsed: takes, Worker: w.name, MachineClass: w.class}, nil
}

func onFloor(t *testing.T, st assay.Store, f *floor, trials int) *study.Study {
	t.Helper()
	s := newStudy(t, st, trials)
	s.Runner, s.Race, s.Check = f, true, 2
	return s
}

// One of three workers of a class is slower by more than configurations differ. The answer does not depend on
// which of them made a run; with the same runs that name no worker it does.
func TestWorkerIsAFactor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var behind, anonymous float64 // how far answers are from the best that ran
		for seed := range uint64(8) {
			for _, named := range []bool{true, false} {
				f := &floor{workers: []station{{"a", "k"}, {"b", "k"}, {"c", "k"}}}
				f.takes = func(x float64, w station) float64 {
					v := 20 + x/2
					if w.name == "b" {
						v *= 1.4
					}
					return v
				}
				s := onFloor(t, store.NewMem(), f, 25)
				s.Check, s.Race, s.Searcher = 0, false, search.NewRandom(s.Space, seed)
				if !named {
					s.Runner = nameless{f}
				}
				r := mustRun(t, s)
				least := math.Inf(1)
				for _, tr := range r.Trials {
					least = min(least, tr.Config[0])
					if got := tr.Measurement.Elapsed.Seconds(); got != tr.Value {
						t.Errorf("what is on record of trial %d is %v, it took %v", tr.ID, tr.Value, got)
					}
				}
				if named {
					behind += r.Best.Config[0] - least
				} else {
					anonymous += r.Best.Config[0] - least
				}
			}
		}
		if behind > anonymous/2 || anonymous <= 0 {
			t.Errorf("answers are %v above the best that ran, and %v where runs name no worker", behind, anonymous)
		}
	})
}

type nameless struct{ *floor }

func (n nameless) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	m, err := n.floor.Run(ctx, job, see)
	m.Worker, m.MachineClass = "", ""
	return m, err
}

// mixed is a floor of two classes that do not agree on which configuration is best.
func mixed() *floor {
	return &floor{
		workers: []station{{"a", "big"}, {"b", "big"}, {"c", "small"}, {"d", "small"}},
		takes: func(x float64, w station) float64 {
			if w.class == "small" {
				return 60 + math.Abs(x-5)
			}
			return 20 + math.Abs(x-8)
		},
	}
}

// The recommendation of a study on machines of any class has run on the target class, on which five of the
// leading configurations are run again.
func TestAnyClassEndsOnItsTarget(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, target := range []string{"", "small"} {
			for _, check := range []int{0, 2} {
				st, f := store.NewMem(), mixed()
				s := onFloor(t, st, f, 12)
				s.Anywhere, s.MachineClass, s.Check = true, target, check
				r := mustRun(t, s)
				class := target
				if class == "" {
					class = r.Trials[0].Measurement.MachineClass
				}
				if len(f.placed) != 1 || f.placed[0] != class {
					t.Errorf("target %q: the runs are placed on %q", target, f.placed)
				}
				ran, again := map[string]bool{}, map[string]bool{}
				for _, tr := range r.Trials {
					ran[tr.Config.Key()] = ran[tr.Config.Key()] || tr.Measurement.MachineClass == class
				}
				for _, tr := range r.Races {
					if tr.Measurement.MachineClass != class {
						t.Errorf("target %q: trial %d runs again on %s", target, tr.ID, tr.Measurement.MachineClass)
					}
					if !ran[tr.Config.Key()] {
						again[tr.Config.Key()] = true
					}
				}
				if want := min(5, 12-len(onClass(r.Trials, class))); len(again) != want {
					t.Errorf("target %q: %d configurations that had not run there do, want %d", target, len(again), want)
				}
				if !r.Found || !ran[r.Best.Config.Key()] && !again[r.Best.Config.Key()] {
					t.Errorf("target %q: the best, %v, never ran there", target, r.Best)
				}
				came, err := study.Recall(t.Context(), s)
				if err != nil || came.Best.ID != r.Best.ID || came.Best.Value != r.Best.Value {
					t.Errorf("target %q: the record says %d of %v (%v), the session %d of %v", target, came.Best.ID,
						came.Best.Value, err, r.Best.ID, r.Best.Value)
				}
			}
		}
	})
}

func onClass(trials []assay.Trial, class string) (some []assay.Trial) {
	for _, tr := range trials {
		if tr.Measurement.MachineClass == class {
			some = append(some, tr)
		}
	}
	return some
}

// A configuration that ran on another class only is no answer, whatever ended the study.
func TestWhatDidNotRunOnTheTargetIsNoAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := mixed()
		f.workers = f.workers[2:] // small ones alone
		s := onFloor(t, store.NewMem(), f, 6)
		s.Anywhere, s.MachineClass = true, "big"
		drain := make(chan struct{})
		s.Drain = drain
		ended := 0
		s.Notify = func(p study.Progress) {
			if ended = len(p.Trials); ended == 4 {
				select {
				case <-drain:
				default:
					close(drain)
				}
			}
		}
		r, err := s.Run(t.Context())
		if !errors.Is(err, study.ErrInterrupted) || r.Found || ended < 4 {
			t.Errorf("%v: after %d runs elsewhere the answer is %v, found %v", err, ended, r.Best, r.Found)
		}
	})
}

// Wherever a session ends, the next one makes the runs that it would have made, and answers the same.
func TestAnyClassIsResumed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		session := func(st assay.Store, f *floor, die int) (study.Result, error) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f.class = ""
			s := onFloor(t, st, f, 10)
			s.Anywhere = true
			runs := 0
			s.Command = func(c assay.Config) (assay.Job, error) {
				if runs++; runs == die {
					cancel()
				}
				return assay.Job{Config: c}, nil
			}
			return s.Run(ctx)
		}
		whole := mixed()
		want, err := session(store.NewMem(), whole, 0)
		if err != nil || len(want.Races) < 4 {
			t.Fatalf("%v, %d races", err, len(want.Races))
		}
		for die := 1; die <= len(whole.made); die++ {
			st, f := store.NewMem(), mixed()
			if _, err := session(st, f, die); !errors.Is(err, study.ErrInterrupted) {
				t.Fatalf("killed in run %d: %v", die, err)
			}
			got, err := session(st, f, 0)
			if err != nil || got.Best.ID != want.Best.ID || got.Best.Value != want.Best.Value ||
				fmt.Sprint(values(got.Races)) != fmt.Sprint(values(want.Races)) {
				t.Errorf("killed in run %d: %v, best %d of %v, races %v; want %d of %v, races %v", die, err, got.Best.ID,
					got.Best.Value, values(got.Races), want.Best.ID, want.Best.Value, values(want.Races))
			}
		}
	})
}
