package search

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/model"
)

// lightPool is a pool of quick learners.
func lightPool() []assay.Learner {
	return []assay.Learner{
		model.DropCensored(model.Forest{Trees: 4}), model.DropCensored(model.KNN{K: 2}),
		model.DropCensored(model.Linear{Ridge: 0.1}),
	}
}

func lightBliss(s *assay.Space, opts BlissOptions) *Bliss {
	b := NewBliss(s, opts)
	b.bayes.draws, b.bayes.starts = 16, 1
	return b
}

func TestBlissConformance(t *testing.T) {
	assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
		return lightBliss(s, BlissOptions{Pool: lightPool(), Initial: 3, Measured: 2})
	}, assaytest.SearcherOptions{Exhausts: true, Trials: 20})
}

// "It runs a few rounds as BO in the beginning and then starts using predictions
// to update the surrogate model", "alternating between using predictions and
// measured system behavior".
// Reference: Ding et al. 2022, section 5.1
func TestBlissAlternates(t *testing.T) {
	s := mixedSpace()
	b := lightBliss(s, BlissOptions{Pool: lightPool(), Initial: 6, Measured: 4})
	best := math.Inf(1)
	for k := range 30 {
		ps, err := b.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(0, k-6-4+1); len(b.imagined) > want || k == 29 && len(b.imagined) < want/2 {
			t.Fatalf("%d proposals, %d predictions stand in, want about %d", k+1, len(b.imagined), want)
		}
		v := mixedValue(s, ps[0].Config)
		best = min(best, v)
		if err := b.Tell(doneTrial(ps[0], v)); err != nil {
			t.Fatal(err)
		}
	}
	stand := 0
	for _, e := range b.bayes.trials {
		if b.imagined.has(e.config) {
			if stand++; e.value < best*(1-1e-9) {
				t.Errorf("a prediction of %v is better than the best measured value %v", e.value, best)
			}
		}
	}
	if stand != len(b.imagined) || len(b.bayes.trials) != 30+stand {
		t.Errorf("%d examples with %d predictions, want 30 and %d", len(b.bayes.trials), stand, len(b.imagined))
	}
}

func TestBlissBandit(t *testing.T) {
	b := lightBliss(mixedSpace(), BlissOptions{Pool: lightPool()})
	for k := range 3 {
		if got := b.choose(); got != k {
			t.Errorf("arm %d is tried first, want %d", got, k)
		}
		b.arms[k].asked++
	}
	// mean + sqrt(2 ln t / n) with t = 60: 0.5+0.640, 0.9+0.640, 0.1+0.640.
	b.arms = []arm{{20, 10}, {20, 18}, {20, 2}}
	if got := b.choose(); got != 1 {
		t.Errorf("got arm %d, want the one with the greatest reward", got)
	}
	// Little is known of the last: 0.1+1.28+... is beyond the others.
	b.arms = []arm{{28, 14}, {28, 25}, {2, 0.2}}
	if got := b.choose(); got != 2 {
		t.Errorf("got arm %d, want the one that was hardly tried", got)
	}
}

// A prediction that stands in is forgotten when its configuration is measured or
// observed.
func TestBlissForgets(t *testing.T) {
	s := mixedSpace()
	b := lightBliss(s, BlissOptions{Pool: lightPool()[:1], Initial: 4, Measured: 1})
	var told []assay.Trial
	for range 12 {
		ps, err := b.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, doneTrial(ps[0], mixedValue(s, ps[0].Config)))
		if err := b.Tell(told[len(told)-1]); err != nil {
			t.Fatal(err)
		}
		if b.imagined.has(ps[0].Config) {
			t.Fatal("a measured configuration is still imagined")
		}
	}
	for _, e := range b.bayes.trials {
		if b.imagined.has(e.config) {
			n := len(b.bayes.trials)
			if err := b.Observe(doneTrial(assay.Proposal{Config: e.config}, 7)); err != nil {
				t.Fatal(err)
			}
			if b.imagined.has(e.config) || len(b.bayes.trials) != n {
				t.Errorf("an observed configuration is still imagined")
			}
			return
		}
	}
	t.Error("nothing was imagined")
}
