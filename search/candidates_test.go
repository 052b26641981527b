package search

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"pgregory.net/rapid"
)

// The order of candidates is strict: of equals neither is better, the improvement goes before the mean, and what is
// better than another is worse than none that the other is better than.
func TestBetter(t *testing.T) {
	number := rapid.SampledFrom([]float64{math.Inf(-1), -2, 0, 1})
	draw := rapid.Custom(func(t *rapid.T) candidate {
		return candidate{mean: number.Draw(t, "mean"), score: number.Draw(t, "score")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := draw.Draw(t, "a"), draw.Draw(t, "b"), draw.Draw(t, "c")
		if better(a, a) || better(a, b) && better(b, a) || better(a, b) && better(b, c) && !better(a, c) {
			t.Errorf("no strict order: %+v, %+v, %+v", a, b, c)
		}
		want := a.score > b.score || a.score == b.score && a.mean < b.mean
		if better(a, b) != want {
			t.Errorf("%+v and %+v: got %v", a, b, !want)
		}
	})
}

// A step of a continuous parameter is of a width of 0.02 to 0.2 of its range, so that from the middle of it hardly any
// leaves it: 2.5 of the greatest width and more are 1.2 % of a normal distribution.
func TestVary(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "a", Kind: assay.Real, Lo: 0, Hi: 10}})
	if err != nil {
		t.Fatal(err)
	}
	b := NewBayes(space, BayesOptions{Learner: model.Forest{Trees: 1}})
	const n = 2000
	var steps []float64
	for range n {
		c, ok := b.vary(assay.Config{5})
		if ok {
			steps = append(steps, math.Abs(c[0]-5)/10)
		}
	}
	slices.Sort(steps)
	if len(steps) < n*97/100 {
		t.Errorf("%d of %d steps leave the range", n-len(steps), n)
	}
	// The middle of the widths is 0.063, and of a normal step 0.67 of its width; several steps add up.
	if m := steps[len(steps)/2]; m < 0.03 || m > 0.12 {
		t.Errorf("the middle of the steps is %v of the range", m)
	}
}

// Coarse and unordered parameters change to any of their values, and each of several parameters has its turn.
func TestVaryCoarse(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "a", Kind: assay.Categorical, Levels: []string{"x", "y", "z"}}, {Name: "b", Kind: assay.Real, Lo: 0, Hi: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := NewBayes(space, BayesOptions{Learner: model.Forest{Trees: 1}})
	choices, alone := map[float64]int{}, [2]int{}
	for range 600 {
		c, ok := b.vary(assay.Config{0, 0.5})
		if !ok {
			continue
		}
		choices[c[0]]++
		for i, from := range []float64{0.5, 0} { // the other one
			if c[1-i] == from && c[i] != []float64{0, 0.5}[i] {
				alone[i]++
			}
		}
	}
	if len(choices) != 3 || choices[1] < 60 || choices[2] < 60 || alone[0] < 60 || alone[1] < 60 {
		t.Errorf("got %v and, alone, %v of 600", choices, alone)
	}
}

// A model is asked as soon as the initial design has been proposed, half of it has ended, and two trials are done.
func TestBayesReady(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "a", Kind: assay.Real, Lo: 0, Hi: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		initial, asked, ended, done int
		want                        bool
	}{
		{6, 6, 3, 2, true},
		{6, 5, 3, 2, false},
		{6, 6, 2, 2, false},
		{6, 6, 3, 1, false},
		{6, 9, 9, 1, false},
		{7, 7, 3, 3, false},
		{7, 7, 4, 2, true},
		{6, 7, 6, 6, true},
		{2, 2, 2, 2, true},
		{2, 2, 1, 1, false},
	} {
		b := NewBayes(space, BayesOptions{Learner: model.Forest{Trees: 1}, Initial: c.initial})
		b.asked, b.ended = c.asked, c.ended
		for i := range c.ended {
			state := assay.Failed
			if i < c.done {
				state = assay.Done
			}
			b.trials = append(b.trials, example{state: state})
		}
		if got := b.ready(); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
