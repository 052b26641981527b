package stop_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/stop"
)

// A trial that has no value of its own, or belongs to another space, is no evidence: the chance stays the same.
func TestPosteriorEvidence(t *testing.T) {
	rule := func() *stop.Posterior {
		return stop.NewPosterior(integers(t, 20, 20), stop.PosteriorOptions{After: 25})
	}
	h := finishedSlope(25, 3)
	best, _ := assay.Best(h)
	at := runningAt(99, assay.Config{best.Config[0], 7}, best.Value/2)
	plain := rule().Chance(h, at)
	if !(plain > 0.01 && plain < 0.99) {
		t.Fatalf("the chance is %v", plain)
	}
	of := func(c assay.Config, state assay.State, value float64) assay.Trial {
		tr := trial(50, state, value)
		tr.Config = c
		return tr
	}
	for name, tr := range map[string]assay.Trial{
		"of one parameter":       of(assay.Config{3}, assay.Done, 2*best.Value),
		"that never ended":       of(assay.Config{3, 7}, assay.Done, math.Inf(1)),
		"of nothing, infeasible": of(assay.Config{3, 7}, assay.Infeasible, 0),
		"negative, infeasible":   of(assay.Config{3, 7}, assay.Infeasible, -1),
	} {
		if got := rule().Chance(append(slices.Clone(h), tr), at); got != plain {
			t.Errorf("a trial %s changes the chance from %v to %v", name, plain, got)
		}
		// It is not counted either.
		if got := rule().Chance(append(slices.Clone(h[:24]), tr), at); !math.IsNaN(got) {
			t.Errorf("24 trials and one %s are evidence of 25: the chance is %v", name, got)
		}
	}
	if got := rule().Chance(h[:24], at); !math.IsNaN(got) {
		t.Errorf("24 trials are evidence of 25: the chance is %v", got)
	}
}

// A trial that broke a limit teaches as much as one that ended there with the worst finished value, or
// with its own value if that is worse still.
func TestPosteriorViolatorIsTheWorst(t *testing.T) {
	h := finishedSlope(25, 3)
	best, _ := assay.Best(h)
	worst := 0.0
	for _, tr := range h {
		worst = max(worst, tr.Value)
	}
	at := runningAt(99, assay.Config{best.Config[0], 7}, best.Value/2)
	with := func(state assay.State, value float64) float64 {
		tr := trial(50, state, value)
		tr.Config = assay.Config{best.Config[0], 8}
		return stop.NewPosterior(integers(t, 20, 20), stop.PosteriorOptions{}).Chance(append(slices.Clone(h), tr), at)
	}
	for _, tt := range []struct{ value, as float64 }{{best.Value / 3, worst}, {worst, worst}, {2 * worst, 2 * worst}} {
		if got, want := with(assay.Infeasible, tt.value), with(assay.Done, tt.as); got != want {
			t.Errorf("a violator of %v: the chance is %v, beside one that ended at %v %v", tt.value, got, tt.as, want)
		}
	}
}

// In a space that cannot be counted there is always something left to try.
func TestPosteriorStopsInAContinuum(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "a", Kind: assay.Real, Lo: 0, Hi: 20}, {Name: "b", Kind: assay.Real, Lo: 0, Hi: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	rule := stop.NewPosterior(space, stop.PosteriorOptions{})
	if d := rule.Decide(finishedSlope(40, 1), runningAt(99, assay.Config{18, 3}, 1)); !d.Stop {
		t.Errorf("a slow run goes on: %+v", d)
	}
}

// With a margin a run may go past the best value, where nothing is to be predicted any more.
func TestPosteriorAtTheBest(t *testing.T) {
	h := finishedSlope(40, 1)
	best, _ := assay.Best(h)
	rule := stop.NewPosterior(integers(t, 20, 20), stop.PosteriorOptions{Margin: 0.1})
	for _, tt := range []struct {
		at              float64
		stop, predicted bool
	}{{0.99, false, true}, {1, false, false}, {1.05, false, false}, {1.11, true, false}} {
		d := rule.Decide(h, runningAt(99, assay.Config{18, 3}, tt.at*best.Value))
		if d.Stop != tt.stop || math.IsNaN(d.Predicted) == tt.predicted {
			t.Errorf("at %v of the best: %+v", tt.at, d)
		}
	}
}

// The reason of a stop names a value and how sure the rule is of it, if it was asked to be sure. A model that predicts
// 1000 for everything is wrong by the factors 0.01, 0.02, ..., 0.12; their tenth is at 1.1 of the steps between the 12
// in order.
func TestPredictiveSaysHowSure(t *testing.T) {
	var h []assay.Trial
	for i := range 12 {
		tr := trial(int64(i+1), assay.Done, float64(10*(i+1)))
		tr.Config = assay.Config{float64(i), 0}
		h = append(h, tr)
	}
	running := runningAt(99, assay.Config{20, 3}, 1)
	for _, tt := range []struct{ confidence, sureOf float64 }{
		{0, 1000}, {0.9, 20 * math.Pow(1.5, 0.1)}, {0.75, 30 * math.Pow(4.0/3, 0.75)},
	} {
		opts := stop.PredictiveOptions{Learner: constant{mean: 1000}, Confidence: tt.confidence}
		d := stop.NewPredictive(integers(t, 20, 20), opts).Decide(h, running)
		want := "predicted 1000 after 1, best is 10 (trial 1)"
		if tt.confidence > 0 {
			want += fmt.Sprintf(", of which %.4g is %.0f %% sure", tt.sureOf, 100*tt.confidence)
		}
		if !d.Stop || d.Reason != want {
			t.Errorf("confidence %v: %+v, want %q", tt.confidence, d, want)
		}
	}
}

// A trial that was stopped teaches its predicted end, so that one of another prediction is another
// history: a rule that has seen the one decides about the other as a new rule does.
func TestPredictiveMemoKnowsPredictions(t *testing.T) {
	space := integers(t, 20, 20)
	opts := stop.PredictiveOptions{Stopped: stop.ImputeStopped, Learner: model.Boost{}, Standard: true}
	history := func(predicted float64) []assay.Trial {
		tr := trial(50, assay.Censored, 5)
		tr.Config, tr.Decision = assay.Config{10, 10}, &assay.Decision{Stop: true, Predicted: predicted}
		return append(finishedSlope(12, 4), tr)
	}
	near := runningAt(99, assay.Config{10, 11}, 1)
	rule := stop.NewPredictive(space, opts)
	first := rule.Predict(history(50), near)
	second := rule.Predict(history(5000), near)
	if want := stop.NewPredictive(space, opts).Predict(history(5000), near); second != want || first == want {
		t.Errorf("predicted %v, then %v; a new rule predicts %v", first, second, want)
	}
}

// The margin is found anew each time the finished trials have become a fifth more, at 12 and 15 of them, by a fit for
// each of 12 probes. In between a decision costs one fit.
func TestPredictiveMarginIsKept(t *testing.T) {
	var fits []assay.Data
	rule := stop.NewPredictive(integers(t, 20, 20), stop.PredictiveOptions{Learner: witness{&fits, 10}, Confidence: 0.9})
	h := finishedSlope(15, 4)
	running := runningAt(99, assay.Config{20, 3}, 1)
	for _, tt := range []struct{ n, fits int }{{12, 13}, {12, 1}, {13, 1}, {14, 1}, {15, 13}, {15, 1}} {
		fits = nil
		rule.Decide(h[:tt.n], running)
		if len(fits) != tt.fits {
			t.Errorf("with %d finished trials: %d fits, want %d", tt.n, len(fits), tt.fits)
		}
	}
	// A trial that has ended otherwise is no finished trial.
	fits = nil
	tr := trial(50, assay.Infeasible, 5)
	tr.Config = assay.Config{10, 10}
	if rule.Decide(append(slices.Clone(h), tr), running); len(fits) != 1 {
		t.Errorf("after a trial that broke a limit: %d fits, want 1", len(fits))
	}
}

// The margin is estimated from 12 of the exact examples, in the middle of as many equal parts of them in the
// order of their values. A fit leaves out a tenth of the exact ones, at least one and at most four: every third of the
// 12 if there are 40. A run of which 0.7 of the value has passed stands for each, except in standard regression.
func TestPredictiveProbes(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want [][]int // of each fit: places of the examples left out, in the order of values
	}{
		{5, [][]int{{0}, {1}, {2}, {3}, {4}}},
		{22, [][]int{{0, 11}, {2, 13}, {4, 15}, {6, 17}, {8, 19}, {10, 21}}},
		{33, [][]int{{1, 12, 23}, {4, 15, 26}, {6, 17, 28}, {9, 20, 31}}},
		{40, [][]int{{1, 11, 21, 31}, {5, 15, 25, 35}, {8, 18, 28, 38}}},
		{58, [][]int{{2, 16, 31, 45}, {7, 21, 36, 50}, {12, 26, 41, 55}}},
	} {
		var h []assay.Trial
		for i := range tt.n { // 7 has no divisor in common with the numbers of trials
			tr := trial(int64(i+1), assay.Done, float64(100+i*7%tt.n))
			tr.Config = assay.Config{float64(i), 0}
			h = append(h, tr)
		}
		for _, standard := range []bool{false, true} {
			var fits []assay.Data
			opts := stop.PredictiveOptions{Learner: witness{&fits, 10}, Confidence: 0.9, After: tt.n, Standard: standard}
			stop.NewPredictive(integers(t, 99, 20), opts).Decide(h, runningAt(99, assay.Config{20, 3}, 1))
			if len(fits) != len(tt.want)+1 {
				t.Fatalf("%d trials: %d fits, want %d and the one that predicts", tt.n, len(fits), len(tt.want))
			}
			for k, out := range tt.want {
				left := map[float64]bool{}
				var live []float64
				for i, y := range fits[k].Y {
					if len(fits[k].Censored) > 0 && fits[k].Censored[i] {
						live = append(live, y)
					} else {
						left[y] = true
					}
				}
				var want []float64
				for _, i := range out {
					if left[float64(100+i)] {
						t.Errorf("%d trials: fit %d knows the value %d", tt.n, k, 100+i)
					}
					want = append(want, 0.7*float64(100+i))
				}
				if standard {
					want = nil
				}
				if len(left) != tt.n-len(out) || !slices.Equal(live, want) {
					t.Errorf("%d trials: fit %d is of %d values and of runs that last %v, want %d and %v",
						tt.n, k, len(left), live, tt.n-len(out), want)
				}
			}
		}
	}
}
