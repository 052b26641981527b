package prune

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// done makes trials of a line that ended: value at x.
func done(at map[int]float64) (ts []assay.Trial) {
	for x := range 100 {
		if v, ok := at[x]; ok {
			ts = append(ts, assay.Trial{Proposal: assay.Proposal{Config: assay.Config{float64(x)}}, State: assay.Done, Value: v})
		}
	}
	return ts
}

// Two surrogates are compared at all points of a small space: with linear
// interpolation, a running study of three trials is the broken line through them.
// Reference: by hand. now = 0 1 2 1 0, then = 0 2 4 3 2, both exact at the trials.
// Deviations from the means 0.8 and 2.2: the sum of products is 4.2, the sums of squares
// are 2.8 and 8.8.
func TestRankByComparesSurrogates(t *testing.T) {
	space := line(5)
	k := NewKnowledge(space, testGoal, []Study{{
		Name: "earlier", Params: space.Params, Goal: testGoal, Trials: done(map[int]float64{0: 0, 2: 4, 4: 2}),
	}})
	got := RankBy(k, Linear, done(map[int]float64{0: 0, 2: 2, 4: 0}))
	if want := 4.2 / math.Sqrt(2.8*8.8); len(got) != 1 || got[0].Points != 5 ||
		!(math.Abs(got[0].Correlation-want) <= 1e-12) {
		t.Errorf("%+v, want the correlation %v of 5 points", got, want)
	}
	// It is another one at the trials alone, the correlation of (0, 2, 0) and (0, 4, 2).
	if got := Rank(k, done(map[int]float64{0: 0, 2: 2, 4: 0})); got[0].Points != 3 ||
		!(math.Abs(got[0].Correlation-math.Sqrt(3)/2) <= 1e-12) {
		t.Errorf("%+v, want the correlation %v of 3 points", got, math.Sqrt(3)/2)
	}
}

// Each surrogate is exact where there are trials, and is its own between them.
func TestSurrogates(t *testing.T) {
	space := line(9)
	trials := done(map[int]float64{0: 0, 2: 8, 4: 0, 6: 1, 8: 0})
	common := newComparison(space)
	between := map[string]bool{}
	for _, name := range SurrogateNames() {
		s, err := ParseSurrogate(name)
		if err != nil || s.String() != name {
			t.Fatalf("%s: %v, %v", name, s, err)
		}
		y := s.at(space, trials, common.points, common.codes)
		for _, trial := range trials {
			if x := int(trial.Config[0]); y[x] != trial.Value {
				t.Errorf("%s: %v at %d, want the outcome %v", name, y[x], x, trial.Value)
			}
		}
		if name == "linear" && !(math.Abs(y[1]-4) <= 1e-12) || name == "knn" && !(math.Abs(y[1]-1.8) <= 1e-12) {
			t.Errorf("%s: %v at 1", name, y[1])
		}
		between[assay.Config{y[1], y[3], y[5]}.Key()] = true
	}
	if len(between) != 4 {
		t.Errorf("%d different surrogates, want 4", len(between))
	}
	if _, err := ParseSurrogate("forest"); err == nil {
		t.Error("forest is a surrogate")
	}
	if s, err := ParseSurrogate(""); err != nil || s != NoSurrogate {
		t.Errorf("no name is %v, %v", s, err)
	}
}

// A failure has the worst outcome, a stopped run none; without an outcome there is
// no surrogate and no correlation.
func TestSurrogateStates(t *testing.T) {
	space := line(3)
	common := newComparison(space)
	trials := done(map[int]float64{0: 1, 1: 5, 2: 9})
	trials[2].State, trials[2].Value = assay.Failed, math.Inf(1)
	if y := Linear.at(space, trials, common.points, common.codes); !slices.Equal(y, []float64{1, 5, 5}) {
		t.Errorf("a failure: %v", y)
	}
	trials[2].State, trials[2].Value = assay.Censored, 7
	if y := Linear.at(space, trials, common.points, common.codes); !slices.Equal(y, []float64{1, 5, 5}) {
		t.Errorf("a stopped run: %v, want the bounding box's end", y)
	}
	for i := range trials {
		trials[i].State = assay.Failed
	}
	k := NewKnowledge(space, testGoal, []Study{outcomes(space, 1, 2, 3)})
	if got := RankBy(k, Nearest, trials); !math.IsNaN(got[0].Correlation) {
		t.Errorf("failures alone correlate: %+v", got)
	}
}

// In a large space the points are drawn, the same ones each time, and relations hold.
func TestCommonPoints(t *testing.T) {
	space := must(assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Real, Hi: 1}, {Name: "y", Kind: assay.Integer, Hi: 1e6},
	}))
	a, b := newComparison(space), newComparison(space)
	same := slices.EqualFunc(a.points, b.points, slices.Equal[assay.Config])
	if len(a.points) != commonPoints || !same {
		t.Errorf("%d points, the same again: %v", len(a.points), same)
	}
}
