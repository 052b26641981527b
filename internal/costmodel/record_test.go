package costmodel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
)

// A learner that is told a run of another configuration than it asked, or of none that it
// asked, returns an error and learns nothing.
func TestTellOfAnotherConfig(t *testing.T) {
	b := prefetcher(t)
	for name, make := range map[string]func() assay.Searcher{
		"alone":  func() assay.Searcher { return NewActiveLearner(b.space, Options{}) },
		"around": func() assay.Searcher { l := NewActiveLearner(b.space, Options{}); return l.Around(search.Cache(l)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := make()
			ps, err := s.Ask(2)
			if err != nil || len(ps) != 2 {
				t.Fatal(ps, err)
			}
			trial := func(id int64, c assay.Config) assay.Trial {
				m, _ := b.run(c)
				return assay.Trial{Proposal: assay.Proposal{ID: id, Config: c}, State: assay.Done, Measurement: m}
			}
			err = s.Tell(trial(1, ps[0].Config), trial(2, ps[0].Config))
			for _, p := range ps {
				if err == nil || !strings.Contains(err.Error(), b.space.Text(p.Config)) {
					t.Errorf("the error does not name %s: %v", b.space.Text(p.Config), err)
				}
			}
			short := assay.Trial{Proposal: assay.Proposal{ID: 2, Config: assay.Config{1}}, State: assay.Done}
			if err := s.Tell(short); err == nil || !strings.Contains(err.Error(), "[1]") {
				t.Errorf("a configuration of another space: %v", err)
			}
			if err := s.Tell(trial(7, ps[0].Config)); err == nil || !strings.Contains(err.Error(), "trial 7 was not asked") {
				t.Errorf("a trial that was not asked: %v", err)
			}
			if err := s.Tell(trial(2, ps[1].Config), trial(1, ps[0].Config)); err != nil {
				t.Errorf("after errors: %v", err)
			}
		})
	}
}

// recorded drives a searcher and returns its trials.
func recorded(t *testing.T, b bench, s assay.Searcher, most int) []assay.Trial {
	t.Helper()
	var trials []assay.Trial
	run := b.run
	b.run = func(c assay.Config) (assay.Measurement, bool) {
		m, ok := run(c)
		tr := assay.Trial{Proposal: assay.Proposal{ID: int64(len(trials) + 1), Config: c}, State: assay.Done, Measurement: m}
		if !ok {
			tr.State = assay.Failed
		}
		trials = append(trials, tr)
		return m, ok
	}
	drive(t, b, s, most)
	return trials
}

func pairs(runs []Run) []string {
	var out []string
	for _, r := range runs {
		out = append(out, fmt.Sprint(r.Config, r.Seconds))
	}
	slices.Sort(out)
	return out
}

// A recalled model is a function of the pairs on record: neither their order nor wrappers
// matter, and each run is in the model as it was measured.
func TestRecall(t *testing.T) {
	testbed.Long(t)
	mean := func(x []float64) float64 { return (x[0] + x[1] + x[2]) / 3 }
	wrappers := map[string]func(assay.Searcher) assay.Searcher{
		"cache":     search.Cache,
		"replicate": func(s assay.Searcher) assay.Searcher { return search.Replicate(search.Cache(s), 3, mean) },
		"adaptive": func(s assay.Searcher) assay.Searcher {
			return search.Adaptive(search.Cache(s), search.AdaptiveOptions{Min: 2, Max: 4})
		},
	}
	for name, opts := range alternatives() {
		if !testbed.IsSystem() && name != "auto" && opts.Published == nil {
			continue
		}
		for wrapper, wrap := range wrappers {
			t.Run(name+" "+wrapper, func(t *testing.T) {
				b := prefetcher(t)
				own := NewActiveLearner(b.space, opts)
				trials := recorded(t, b.noisy(3, 0.02), own.Around(wrap(own)), 42)
				want, err := own.Model()
				if err != nil {
					t.Fatal(err)
				}
				rand.New(rand.NewPCG(1, 1)).Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
				l, err := Recall(b.space, opts, nil, trials)
				if err != nil {
					t.Fatal(err)
				}
				got, err := l.Model()
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(pairs(got.Runs()), pairs(want.Runs())) {
					t.Errorf("recalled %v, the learner has %v", pairs(got.Runs()), pairs(want.Runs()))
				}
				if opts.Published == nil && len(got.Runs()) != len(trials) {
					t.Errorf("%d of %d runs serve", len(got.Runs()), len(trials))
				}
				if n := len(l.Progress()); n == 0 || l.Progress()[n-1].Spent < 0.999*own.spent {
					t.Errorf("%d steps", n)
				}
				if e, f := got.Error(), want.Error(); !(math.Abs(e-f) <= 0.05*(e+f)) {
					t.Errorf("error %v, of the learner %v", e, f)
				}
			})
		}
	}
}

// Test samples never train: not if the user's default is one of them, and not if they
// are run again at the end.
// Reference: section 3.6
func TestTestSamplesNeverTrain(t *testing.T) {
	b := prefetcher(t)
	for _, e := range []ErrorEstimate{RandomSet, DesignedSet} {
		opts := Options{Published: &Published{Error: e}}
		held := NewActiveLearner(b.space, opts).plan.(*published).held
		if len(held) == 0 {
			t.Fatalf("%v: no test sample", e)
		}
		var first assay.Config
		for c := range b.space.All() {
			if _, ok := held[c.Key()]; ok {
				first = c
			}
		}
		own := NewActiveLearner(b.space, opts)
		trials := recorded(t, b, own.Around(search.Cache(search.First(own, first))), 40)
		trials = append(trials, trials[0]) // run again at the end
		recalled, err := Recall(b.space, opts, []assay.Config{first}, trials)
		if err != nil {
			t.Fatal(err)
		}
		for name, l := range map[string]*ActiveLearner{"own": own, "recalled": recalled} {
			if got := assignments(l.tests); got != len(held) {
				t.Errorf("%v, %s: %d test samples, want %d", e, name, got, len(held))
			}
			for _, r := range l.runs {
				if _, ok := held[r.Config.Key()]; ok {
					t.Errorf("%v, %s: the test sample %v trains", e, name, r.Config)
				}
			}
		}
		if got, want := len(recalled.tests), len(own.tests)+1; got != want {
			t.Errorf("%v: %d runs of test samples on record, want %d", e, got, want)
		}
	}
}

// The estimated error of runs that were made again is not the error of predicting a run by its own
// repetition, and repetitions do not count as assignments for the stop rule.
func TestRepetitionsSayNothingOfTheError(t *testing.T) {
	b := prefetcher(t)
	l := NewActiveLearner(b.space, Options{})
	once := recorded(t, b, l, 6)
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Regression{Best, Smooth, Linear} {
		single, err := Fit(b.space, m.Runs(), nil, r)
		if err != nil {
			t.Fatal(err)
		}
		repeated, err := Fit(b.space, slices.Concat(m.Runs(), m.Runs(), m.Runs()), nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if e, f := repeated.Error(), single.Error(); e < f/3 {
			t.Errorf("%v: error %.2f %% of three runs each, %.2f %% of one", r, e, f)
		}
	}
	again, err := Recall(b.space, Options{Target: 1000, MinRuns: 7}, nil, slices.Concat(once, once, once))
	if err != nil {
		t.Fatal(err)
	}
	if s := again.Progress(); len(s) != 6 || s[5].Runs != 6 || again.Converged() {
		t.Errorf("6 assignments, 3 times each, end a search for 7: %+v", s)
	}
}

// A record that ends in the middle of the initialization, or has runs that no learner asked for, or of
// no member of the space, is learned from as far as it goes.
func TestRecallOfPieces(t *testing.T) {
	b := prefetcher(t)
	opts := Options{Published: &Published{}}
	own := NewActiveLearner(b.space, opts)
	trials := recorded(t, b, own.Around(search.Cache(own)), 40)
	for _, n := range []int{1, 2, 5} {
		l, err := Recall(b.space, opts, nil, trials[:n])
		if err != nil {
			t.Fatal(err)
		}
		if got := len(l.runs); l.plan.(*published).ready != (n >= 4) || got == 0 {
			t.Errorf("%d trials: %d runs", n, got)
		}
	}
	m, _ := b.run(assay.Config{2, 2})
	foreign := assay.Trial{Proposal: assay.Proposal{ID: 99, Config: assay.Config{2, 2}}, State: assay.Done, Measurement: m}
	nobody := assay.Trial{Proposal: assay.Proposal{ID: 98, Config: assay.Config{99, 2}}, State: assay.Done, Measurement: m}
	l, err := Recall(b.space, opts, nil, slices.Concat(trials, []assay.Trial{foreign, nobody}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(l.runs), len(own.runs)+1; got != want {
		t.Errorf("%d runs, want %d and one of nobody's choice", got, want-1)
	}
	if _, err := Recall(b.space, opts, nil, []assay.Trial{{State: assay.Running}}); err == nil {
		t.Error("a trial that runs is no error")
	}
	short := assay.Trial{State: assay.Done, Proposal: assay.Proposal{Config: assay.Config{1}}}
	if _, err := Recall(b.space, opts, nil, []assay.Trial{short}); err == nil {
		t.Error("a trial of another space is no error")
	}
	none, err := Recall(b.space, opts, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Model(); err == nil {
		t.Error("a model of no run")
	}
}

// Each single run is learned from when it is told, though the wrapper waits for its
// repetitions, which take turns with repetitions of another assignment.
func TestAroundLearnsFromSingleRuns(t *testing.T) {
	b := prefetcher(t)
	l := NewActiveLearner(b.space, Options{})
	s := l.Around(search.Replicate(search.Cache(l), 3, slices.Max))
	for n := range 9 {
		recorded(t, b, s, 1)
		// The fifth of each six runs ends the first assignment, and the sixth the second.
		want := 2*((n+1)/6) + (n+1)%6/5
		if got, steps := len(l.runs), len(l.Progress()); got != n+1 || steps != want {
			t.Errorf("after %d runs: %d pairs and %d steps", n+1, got, steps)
		}
	}
}
