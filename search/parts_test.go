package search

import (
	"testing"

	"github.com/assay-run/assay"
)

// A stopped run counts as the best of its rung if it was below it, or at its end; other runs count as measured.
func TestPresumed(t *testing.T) {
	stopped := func(value float64, last bool) assay.Trial {
		return assay.Trial{State: assay.Censored, Value: value, Decision: &assay.Decision{Stop: true, Last: last}}
	}
	for _, c := range []struct {
		impute bool
		runs   rung
		trial  assay.Trial
		want   float64
	}{
		{true, rung{{value: 5}, {value: 6}}, stopped(3, false), 5},
		{true, rung{{value: 5}}, stopped(7, false), 7},
		{true, rung{{value: 5}}, stopped(7, true), 5},
		{true, nil, stopped(3, true), 3},
		{true, rung{{value: 5}}, assay.Trial{State: assay.Done, Value: 3}, 3},
		{false, rung{{value: 5}}, stopped(3, false), 3},
	} {
		l := &levels{o: FidelityOptions{ImputeStopped: c.impute}, rungs: []rung{c.runs}}
		if got := l.presumed(0, c.trial); got != c.want {
			t.Errorf("%+v beside %v: %v, want %v", c.trial, c.runs, got, c.want)
		}
	}
}

// A configuration has reached the full level if it was run there, or is on its way there.
func TestReached(t *testing.T) {
	at := func(x float64, rung int) ascent {
		return ascent{proposal: assay.Proposal{Config: assay.Config{x}}, rung: rung}
	}
	l := &levels{
		o:     FidelityOptions{Levels: []float64{1, 2}},
		rungs: []rung{{{ascent: at(1, 0)}}, {{ascent: at(2, 1)}}},
		of:    map[int64]ascent{1: at(3, 0), 2: at(4, 1)},
	}
	for x, want := range map[float64]bool{1: false, 2: true, 3: false, 4: true, 5: false} {
		if got := l.reached(at(x, 0)); got != want {
			t.Errorf("configuration %v: %v, want %v", x, got, want)
		}
	}
}

// A trial that failed, broke a limit or lacks the objective is an example of the worst value. A stopped trial is one of
// more than its value.
func TestFrontExamples(t *testing.T) {
	f := &Front{bayes: &Bayes{trials: []example{
		{state: assay.Done},
		{state: assay.Done},
		{state: assay.Done},
		{state: assay.Failed},
		{state: assay.Infeasible},
		{state: assay.Censored},
	}}, values: [][]float64{{0, 1}, {0, 3}, {0}, {0, 2}, {0, 2}, {0, 2}}}
	d := f.examples(1, []float64{1, 3}, scale{})
	for i, want := range []float64{1, 3, 3, 3, 3, 2} {
		if d.Y[i] != (scale{}).forward(want) || d.Censored[i] != (i == 5) {
			t.Errorf("trial %d: %v, censored %v, want %v", i+1, d.Y[i], d.Censored[i], want)
		}
	}
}
