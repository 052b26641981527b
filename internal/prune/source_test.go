package prune

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

// sourceOf makes a source of values on a line.
func sourceOf(t *testing.T, space *assay.Space, values ...float64) *source {
	t.Helper()
	s, err := newSource(space, testGoal, outcomes(space, values...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A surrogate is the mean of the trials where there are some, and the mean of the five nearest elsewhere,
// on the scale of the logarithm where all outcomes are positive.
// Reference: section 3.3
func TestSurrogateIsExactOrNearest(t *testing.T) {
	space := line(100)
	study := outcomes(space, 1, 2, 4, 8, 16, 32)
	again := study.Trials[2]
	again.Value = 16
	study.Trials = append(study.Trials, again)
	s, err := newSource(space, testGoal, study)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.predict(assay.Config{2}), math.Log(8); !(math.Abs(got-want) <= 1e-12) { // of 4 and 16
		t.Errorf("where two trials were: %v, want their mean %v", got, want)
	}
	// Far to the right the five nearest are the trials at 5, 4, 3 and the two at 2.
	want := (math.Log(32) + math.Log(16) + math.Log(8) + math.Log(4) + math.Log(16)) / 5
	if got := s.predict(assay.Config{90}); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("elsewhere: %v, want the mean %v of the five nearest", got, want)
	}
}

// A failed trial counts as the worst one, and a run that was stopped counts for nothing.
func TestExamplesOfASource(t *testing.T) {
	space := line(10)
	study := outcomes(space, 1, 9, 3, 4)
	study.Trials[2].State = assay.Censored
	study.Trials[3].State, study.Trials[3].Value = assay.Failed, math.Inf(1)
	s, err := newSource(space, testGoal, study)
	if err != nil {
		t.Fatal(err)
	}
	d := s.examples()
	if want := []float64{0, math.Log(9), math.Log(9)}; !slices.Equal(d.Y, want) {
		t.Errorf("outcomes %v, want %v", d.Y, want)
	}
	if s.best.Value != 1 || s.worst != 9 {
		t.Errorf("from %v to %v, want 1 to 9", s.best.Value, s.worst)
	}
}

// A scale keeps the order of outcomes, and treats a maximized positive metric as the mirror image of a
// minimized one.
func TestScaleKeepsOrder(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   scale
	}{
		{[]float64{1, 2}, logarithm},
		{[]float64{-2, -1}, mirror},
		{[]float64{-1, 1}, identity},
		{[]float64{0, 1}, identity},
	} {
		if got := newScale(tt.values); got != tt.want {
			t.Errorf("%v: scale %v, want %v", tt.values, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(1e-6, 1e6).Draw(t, "a")
		b := rapid.Float64Range(1e-6, 1e6).Draw(t, "b")
		up, down := logarithm.forward(a) < logarithm.forward(b), mirror.forward(-a) < mirror.forward(-b)
		if (a < b) != up || (-a < -b) != down {
			t.Fatalf("the order of %v and %v is lost", a, b)
		}
		if mirror.forward(-a) != -logarithm.forward(a) {
			t.Fatalf("-%v is no mirror image", a)
		}
	})
}

// A configuration is translated by the texts of its levels and by its numbers, in whatever order the
// parameters stand; a value that the running study does not have makes it none.
func TestTranslation(t *testing.T) {
	to := []assay.Param{
		{Name: "n", Kind: assay.Integer, Lo: 0, Hi: 10, Step: 5},
		{Name: "c", Kind: assay.Categorical, Levels: []string{"p", "q"}},
	}
	from := []assay.Param{
		{Name: "c", Kind: assay.Categorical, Levels: []string{"q", "z", "p"}},
		{Name: "n", Kind: assay.Integer, Lo: 0, Hi: 20, Step: 5},
	}
	tr, err := newTranslation(to, from)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		c    assay.Config
		want assay.Config
	}{
		{"by text and number", assay.Config{0, 5}, assay.Config{5, 1}},
		{"a level that is not there", assay.Config{1, 5}, nil},
		{"beyond the range", assay.Config{2, 15}, nil},
	} {
		got, ok := tr.config(tt.c)
		if ok != (tt.want != nil) || ok && !got.Equal(tt.want) {
			t.Errorf("%s: %v, %v; want %v", tt.name, got, ok, tt.want)
		}
	}
	same, err := newTranslation(to, to)
	if err != nil || !same.same {
		t.Fatalf("the same parameters are others: %v", err)
	}
	if _, ok := same.config(assay.Config{15, 0}); ok {
		t.Error("15 is within 0 to 10")
	}
}

// A running study's failed trials count as its worst, and the correlation is taken at all points that
// ended; a run that was stopped is no point.
// Reference: section 3.4
func TestCorrelationCountsFailures(t *testing.T) {
	space := line(10)
	k := NewKnowledge(space, testGoal, []Study{outcomes(space, 1, 2, 4, 8, 16)})
	trial := func(x float64, state assay.State, v float64) assay.Trial {
		return assay.Trial{Proposal: assay.Proposal{Config: assay.Config{x}}, State: state, Value: v}
	}
	b := newBase(k, NoSurrogate)
	b.learn(trial(0, assay.Done, 3), trial(1, assay.Done, 6), trial(3, assay.Censored, 1),
		trial(2, assay.Done, 12), trial(4, assay.Failed, math.Inf(1)), trial(77, assay.Done, 1))
	y := b.outcomes()
	want := []float64{math.Log(3), math.Log(6), math.Log(12), math.Log(12)}
	if !slices.Equal(y, want) {
		t.Errorf("outcomes %v, want %v", y, want)
	}
	if r, n := b.correlation(0); n != 4 || !(r > 0.85 && r < 1) {
		t.Errorf("correlation %v of %d points, want less than 1 of 4", r, n)
	}
	if !b.found || b.best.Value != 3 {
		t.Errorf("best %v", b.best.Value)
	}
	none := newBase(k, NoSurrogate)
	none.learn(trial(0, assay.Failed, math.Inf(1)), trial(1, assay.Done, math.NaN()), trial(2, assay.Failed, math.Inf(1)))
	if y := none.outcomes(); y != nil || none.found {
		t.Errorf("failures alone have outcomes %v", y)
	}
	if at, r := none.mostSimilar(); at != -1 || !math.IsNaN(r) {
		t.Errorf("failures alone are like study %d, by %v", at, r)
	}
}

// The most similar study is the one of the greatest correlation, the first of equals.
func TestMostSimilar(t *testing.T) {
	space := line(5)
	up, down := outcomes(space, 1, 2, 4, 8, 16), outcomes(space, 16, 8, 4, 2, 1)
	bent := outcomes(space, 1, 2, 4, 2, 1)
	for _, tt := range []struct {
		studies []Study
		want    int
	}{
		{[]Study{down, bent, up}, 2}, {[]Study{up, up, bent}, 0}, {[]Study{down, bent}, 1}, {nil, -1},
	} {
		b := newBase(NewKnowledge(space, testGoal, tt.studies), NoSurrogate)
		b.learn(outcomes(space, 3, 6, 12, 24, 48).Trials...)
		if at, _ := b.mostSimilar(); at != tt.want {
			t.Errorf("of %d studies: %d, want %d", len(tt.studies), at, tt.want)
		}
	}
}

// A correlation counts if it is positive beyond chance at the one-sided level of 0.05: by tables, from
// 0.729 on for 6 pairs and from 0.549 on for 10.
func TestSurelyIsBeyondChance(t *testing.T) {
	for _, tt := range []struct {
		r    float64
		n    int
		want bool
	}{
		{0.75, 6, true},
		{0.72, 6, false},
		{0.56, 10, true},
		{0.54, 10, false},
		{1, 4, true},
		{1, 3, false},
		{-0.9, 50, false},
	} {
		if got := surely(tt.r, tt.n); got != tt.want {
			t.Errorf("%v of %d points: %v, want %v", tt.r, tt.n, got, tt.want)
		}
	}
}

// The values left of a space are those in no cut; a predicate that was given away does not change.
func TestLimitKeeps(t *testing.T) {
	space := grid()
	l := newLimit(space)
	if l.keep() != nil {
		t.Error("nothing is cut, but something is left out")
	}
	l.by[0][3], l.by[2][1] = 0, 1
	keep := l.keep()
	l.by[0][4] = 0
	for c := range space.All() {
		if want := c[0] != 3 && c[2] != 1; keep(c) != want {
			t.Fatalf("%v is kept: %v, want %v", c, keep(c), want)
		}
	}
	if !l.cutBy(0) || !l.cutBy(1) || l.cutBy(2) {
		t.Error("cutBy does not say who cut")
	}
}

// The knowledge of some studies follows their names, in the order of the names.
func TestAmong(t *testing.T) {
	space := line(5)
	a, b := outcomes(space, 1, 2, 4), outcomes(space, 4, 2, 1)
	a.Name, b.Name = "a", "b"
	k := NewKnowledge(space, testGoal, []Study{a, b})
	if got := k.Among("b", "none", "a").Studies(); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("got %v", got)
	}
}
