package search

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"pgregory.net/rapid"
)

// The order of candidates is strict and transitive: neither of two equals is better, and the improvement goes
// before the mean.
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

// nearest predicts how far the first feature is from its value, and counts its requests.
type nearest struct {
	to    float64
	calls int
	empty int // calls about nothing
}

func (n *nearest) Predict(x []float64) assay.Prediction {
	return assay.Prediction{Mean: math.Abs(x[0] - n.to), Std: 1}
}

func (n *nearest) PredictBatch(rows [][]float64, out []assay.Prediction) {
	n.calls++
	if len(rows) == 0 {
		n.empty++
	}
	for i, x := range rows {
		out[i] = n.Predict(x)
	}
}

// A climb goes to the best neighbour until none is better, and no further than maxClimb steps. Then
// nothing more is predicted.
func TestClimb(t *testing.T) {
	space := intSpace(t, 1, 100)
	unit := func(x float64) float64 { return space.Encode(assay.Config{x})[0] }
	for _, c := range []struct {
		name     string
		top, end float64
		calls    int // of the surrogate: one a step, and one that finds nothing better
	}{
		{"on the top", 50, 50, 1},
		{"up", 57, 57, 8},
		{"down", 46, 46, 5},
		{"to the last step", 50 + maxClimb, 50 + maxClimb, maxClimb},
		{"too far", 90, 50 + maxClimb, maxClimb},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBayes(space, BayesOptions{Learner: model.Forest{Trees: 1}})
			surrogate := &nearest{to: unit(c.top)}
			b.surrogate, b.trials = surrogate, []example{{features: space.Encode(assay.Config{0})}}
			s := &sweep{b: b, seen: visited{}}
			from := s.score(s.admit(nil, assay.Config{50}), math.Inf(-1))
			surrogate.calls = 0
			s.climb(from)
			if !s.best.config.Equal(assay.Config{c.end}) {
				t.Errorf("ended at %v, want %v", s.best.config, c.end)
			}
			if surrogate.calls != c.calls || surrogate.empty > 0 {
				t.Errorf("the surrogate was asked %d times, want %d; %d times about nothing", surrogate.calls, c.calls,
					surrogate.empty)
			}
		})
	}
}

// Climbers step together: one that has reached its top does not keep the others from theirs, and they pass through
// visited configurations.
func TestClimbTogether(t *testing.T) {
	space := intSpace(t, 1, 100)
	b := NewBayes(space, BayesOptions{Learner: model.Forest{Trees: 1}})
	surrogate := &nearest{to: space.Encode(assay.Config{40})[0]}
	b.surrogate, b.trials = surrogate, []example{{features: space.Encode(assay.Config{0})}}
	s := &sweep{b: b, seen: visited{}}
	var cs []assay.Config
	for _, x := range []float64{35, 40, 44} {
		cs = s.admit(cs, assay.Config{x})
	}
	b.visited.add(assay.Config{40})
	s.climb(s.score(cs, math.Inf(-1)))
	if x := s.best.config[0]; x != 39 && x != 41 {
		t.Errorf("the best is %v, want a neighbour of 40", x)
	}
}

// The initial design has ten trials; a third of the space where that has fewer than 30 configurations, but two at
// least.
func TestBayesInitialOfSmallSpaces(t *testing.T) {
	for n, want := range map[float64]int{1: 2, 3: 2, 9: 3, 28: 9, 29: 9, 30: 10, 1000: 10} {
		b := NewBayes(intSpace(t, 1, n-1), BayesOptions{Learner: model.Forest{Trees: 1}})
		if b.opts.Initial != want {
			t.Errorf("%v configurations: a design of %d, want %d", n, b.opts.Initial, want)
		}
	}
	space, err := assay.NewSpace([]assay.Param{{Name: "a", Kind: assay.Real, Lo: 0, Hi: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[int]int{0: 10, 3: 3} {
		if b := NewBayes(space, BayesOptions{Learner: model.Forest{Trees: 1}, Initial: given}); b.opts.Initial != want {
			t.Errorf("a space that is not counted, and %d: a design of %d, want %d", given, b.opts.Initial, want)
		}
	}
}
