package study_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

var timeAndEnergy = assay.Goal{Metric: "elapsed", Grows: true, Others: []assay.Objective{{Metric: "energy"}}}

// curved takes x seconds and an energy that falls up to x = 20 and rises again, so that those up to 20 are the front.
// Its runs of one configuration may differ.
type curved struct {
	fake
	runs   map[float64]int
	energy func(x float64, run int) (float64, bool)
}

func (c *curved) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	if c.runs == nil {
		c.runs = map[float64]int{}
	}
	x := job.Config[0]
	c.runs[x]++
	e, ok := math.Abs(x-20)+1, true
	if c.energy != nil {
		e, ok = c.energy(x, c.runs[x])
	}
	end := time.Duration(x) * time.Second
	see := func(m assay.Measurement) assay.Measurement {
		m.Metrics["energy"] = e * float64(m.Elapsed) / float64(end)
		return m
	}
	var seen func(assay.Measurement)
	if observe != nil {
		seen = func(m assay.Measurement) { observe(see(m)) }
	}
	m, err := c.fake.Run(ctx, job, seen)
	if m.Metrics != nil {
		m = see(m)
	}
	if !ok {
		m.ExitCode = 3
	}
	return m, err
}

func frontStudy(t testing.TB, st assay.Store, trials int) (*study.Study, *curved) {
	s := newStudy(t, st, trials)
	r := &curved{}
	s.Goal, s.Runner = timeAndEnergy, r
	s.Searcher = search.Values(search.NewFront(s.Space, search.FrontOptions{Seed: 1}), s.Goal)
	return s, r
}

func configsOf(front []study.FrontTrial) (xs []float64) {
	for _, m := range front {
		xs = append(xs, m.Config[0])
	}
	return xs
}

func TestFrontOfAStudy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, _ := frontStudy(t, store.NewMem(), 40)
		r := mustRun(t, s)
		var want []float64
		for x := range 20 {
			want = append(want, float64(x+1))
		}
		if got := configsOf(r.Front); !slices.Equal(got, want) {
			t.Errorf("front %v, want %v", got, want)
		}
		if !r.Found || r.Best.Config[0] != 10 && r.Best.Config[0] != 11 {
			t.Errorf("balanced is %v", r.Best.Config)
		}
		if len(r.Races)+len(r.Checks) > 0 {
			t.Errorf("%d races, %d checks", len(r.Races), len(r.Checks))
		}
	})
}

// A run that a finished one beats in both is stopped; the front is the same.
func TestDominatedRunsAreStopped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, _ := frontStudy(t, store.NewMem(), 40)
		s.Stopper = stop.Dominated{Goal: s.Goal}
		r := mustRun(t, s)
		stopped := 0
		for _, tr := range r.Trials {
			if tr.Stopped() {
				if stopped++; tr.Config[0] <= 20 {
					t.Errorf("%v was stopped: %s", tr.Config, tr.Reason)
				}
			}
		}
		if len(r.Front) != 20 || stopped == 0 {
			t.Errorf("%d in the front, %d stopped", len(r.Front), stopped)
		}
	})
}

// Runs at the end remove from the front the points that were there by luck, and the ones that fail.
func TestFrontIsRunAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		build := func() (*study.Study, *curved) {
			s, r := frontStudy(t, st, 40)
			s.Race, s.Check = true, 100
			r.energy = func(x float64, run int) (float64, bool) {
				switch e := math.Abs(x-4) + 1; {
				case x == 3 && run == 1:
					return 0.5, true // the first run was lucky: it beats 4
				case x == 2 && run > 1:
					return e, false
				default:
					return e, true
				}
			}
			return s, r
		}
		s, _ := build()
		r := mustRun(t, s)
		if got, want := configsOf(r.Front), []float64{1, 3, 4}; !slices.Equal(got, want) {
			t.Fatalf("front %v, want %v", got, want)
		}
		for _, m := range r.Front {
			if m.Runs != 3 {
				t.Errorf("%v has %d runs", m.Config, m.Runs)
			}
		}
		if v := r.Front[1].Values[1]; v != 2 {
			t.Errorf("the median of the energy at 3 is %v", v)
		}
		if len(r.Refuted) != 1 || r.Refuted[0].Trial.Config[0] != 2 {
			t.Errorf("refuted: %+v", r.Refuted)
		}
		// The next session runs nothing again, and gets the same result.
		again, runner := build()
		if q := mustRun(t, again); !slices.Equal(configsOf(q.Front), configsOf(r.Front)) || len(runner.ran) > 0 {
			t.Errorf("the study, ended, ran %v and has %v", runner.ran, configsOf(q.Front))
		}
		// So does who only reads the record.
		read, err := study.Recall(t.Context(), &study.Study{Name: "s", Store: st, Space: s.Space, Goal: s.Goal, Race: true})
		if err != nil || !slices.Equal(configsOf(read.Front), configsOf(r.Front)) || read.Best.ID != r.Best.ID {
			t.Errorf("on record: %v, %v", configsOf(read.Front), err)
		}
	})
}

// The runs at the end fit a time budget, and their time is kept back.
func TestFrontKeepsTimeBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, _ := frontStudy(t, store.NewMem(), 0)
		s.Race, s.Check = true, 5
		s.Budget = study.Budget{Time: 10 * time.Minute}
		r := mustRun(t, s)
		if len(r.Races) == 0 || r.Spent > 10*time.Minute {
			t.Errorf("%d races, %v spent", len(r.Races), r.Spent)
		}
	})
}

// The front has one of the points that differ by less than any use: 4 bytes of 2.5 million are no reason for half as
// much time again. Each point that is left out has another beside it, however many points lie close together.
func TestFrontTolerance(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		sizes := map[float64]float64{1: 3e6, 2: 2491000, 3: 2490996, 4: 2.4e6, 5: 2.3999e6}
		s, r := frontStudy(t, store.NewMem(), 40)
		r.energy = func(x float64, _ int) (float64, bool) { return cmp.Or(sizes[x], 5e6), true }
		if got, want := configsOf(mustRun(t, s).Front), []float64{1, 2, 4}; !slices.Equal(got, want) {
			t.Errorf("front %v, want %v", got, want)
		}
		r.energy = func(x float64, _ int) (float64, bool) { return 1e6 - 300*x, true }
		s, _ = frontStudy(t, store.NewMem(), 40)
		s.Runner = r
		if got := configsOf(mustRun(t, s).Front); len(got) < 10 || len(got) > 20 {
			t.Errorf("front %v: each of 40 sizes is 0.03 %% below the one before", got)
		}
	})
}

// A session that is cut off at any trial is gone on with as if it had not been.
func TestFrontResumes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		whole, _ := frontStudy(t, store.NewMem(), 16)
		want := mustRun(t, whole)
		for cut := 1; cut < 16; cut += 2 {
			st := store.NewMem()
			s, _ := frontStudy(t, st, 16)
			ctx, cancel := context.WithCancel(t.Context())
			s.Notify = func(p study.Progress) {
				if len(p.Trials) == cut {
					cancel()
				}
			}
			if _, err := s.Run(ctx); !errors.Is(err, study.ErrInterrupted) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			s, _ = frontStudy(t, st, 16)
			got := mustRun(t, s)
			for i, tr := range got.Trials {
				if !tr.Config.Equal(want.Trials[i].Config) {
					t.Fatalf("cut at %d: trial %d is %v, want %v", cut, tr.ID, tr.Config, want.Trials[i].Config)
				}
			}
			if got.Replayed < cut {
				t.Errorf("%d replayed of %d", got.Replayed, cut)
			}
		}
	})
}

func TestBalanced(t *testing.T) {
	front := [][]float64{{0, 10}, {3, 3}, {10, 0}}
	for _, c := range []struct {
		weights []float64
		want    int
	}{{nil, 1}, {[]float64{10, 1}, 0}, {[]float64{1, 10}, 2}, {[]float64{1, 1}, 1}} {
		if got := study.Balanced(front, c.weights); got != c.want {
			t.Errorf("weights %v: %d, want %d", c.weights, got, c.want)
		}
	}
	if study.Balanced(nil, nil) != -1 || study.Balanced([][]float64{{1, 1}}, nil) != 0 {
		t.Error("of none or one")
	}
}
