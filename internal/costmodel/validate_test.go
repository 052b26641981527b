package costmodel

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assay-run/assay"
)

// runsOf profiles a run of each assignment.
func runsOf(t testing.TB, b bench, configs ...assay.Config) []Run {
	t.Helper()
	var runs []Run
	for _, c := range configs {
		m, _ := b.run(c)
		r, err := Profile(c, m, 0)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

// Leaving out is by assignment: a prediction of a run comes from a function fitted without all runs of its
// assignment. A run that the function is not fitted to has the plain prediction.
// Reference: section 3.6
func TestLeaveOutIsByAssignment(t *testing.T) {
	b := prefetcher(t)
	at := []assay.Config{{0, 0}, {2, 0}, {0, 0}, {4, 0}, {3, 3}}
	runs := runsOf(t, b, at...)
	runs[2].Compute *= 1.5
	attrs := attributesOf(b.space, nil)
	for _, k := range []Regression{Linear, Pairs, Trees} {
		fm := form{part: Compute, regression: k, attributes: []int{0}, runs: []int{0, 1, 2, 3}}
		if k == Linear {
			fm.transforms = []Transform{Reciprocal}
		}
		f, err := fit(attrs, runs, fm, nil)
		if err != nil {
			t.Fatal(err)
		}
		means, _ := leaveOut(attrs, runs, f)
		for i, without := range [][]int{{0, 2}, {1}, {0, 2}, {3}, nil} {
			g, err := fit(attrs, runs, fm, func(k int) bool { return slices.Contains(without, k) })
			if err != nil {
				t.Fatal(err)
			}
			if want, _, _ := g.at(runs[i].Config); !(math.Abs(means[i]-want) <= 1e-9) {
				t.Errorf("%v: run %d is predicted as %v without %v, want %v", k, i, means[i], without, want)
			}
		}
	}
	// No run is left to predict an assignment from if all runs have the same one.
	f, err := fit(attrs, runs[:1], form{part: Compute, regression: Linear}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if means, deviations := leaveOut(attrs, runs[:1], f); !math.IsNaN(means[0]) || !math.IsNaN(deviations[0]) {
		t.Errorf("the only run is predicted as %v ± %v", means[0], deviations[0])
	}
}

// Groups are in the order of their first runs, and hold the runs asked for, or all.
func TestGroupsOfAssignments(t *testing.T) {
	var runs []Run
	for _, x := range []float64{1, 2, 1, 3} {
		runs = append(runs, Run{Config: assay.Config{x}})
	}
	for _, tt := range []struct{ which []int }{{nil}, {[]int{3, 2, 1}}} {
		got := byAssignment(runs, tt.which)
		want := [][]int{{0, 2}, {1}, {3}}
		if tt.which != nil {
			want = [][]int{{3}, {2}, {1}}
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Errorf("of %v: %v, want %v", tt.which, got, want)
		}
	}
	if n := assignments(runs); n != 3 {
		t.Errorf("%d assignments, want 3", n)
	}
}

// The error of a part is relative to the part, or to 1 % of the whole where the part is less: a stall of
// nearly nothing is predicted well by nothing.
func TestErrorOfASmallPart(t *testing.T) {
	runs := []Run{
		{Compute: 99.9, Disk: 0.1, DataFlow: 4, Seconds: 400}, // the disk is 0.1 % of the whole
		{Compute: 50, Disk: 50, DataFlow: 8, Seconds: 800},
	}
	for _, tt := range []struct {
		part      Part
		predicted []float64
		want      float64
	}{
		{Disk, []float64{0, 50}, 5},        // 0.1 of 1, and nothing
		{Disk, []float64{0.1, 25}, 25},     // nothing, and half
		{Compute, []float64{99.9, 75}, 25}, // nothing, and half
		{DataFlow, []float64{2, 8}, 25},    // no occupancy: relative to itself
		{Time, []float64{400, 1600}, 50},
	} {
		if got := partError(runs, []int{0, 1}, tt.part, tt.predicted); !(math.Abs(got-tt.want) <= 1e-9) {
			t.Errorf("%v: %v %%, want %v", tt.part, got, tt.want)
		}
	}
}

// The interval is the one of a log-normal outcome by Student's t, with one degree of freedom less than runs,
// and twice as wide in the logarithm after 6 runs: fewRuns over the square of 5.
func TestIntervalIsLogNormal(t *testing.T) {
	m := &Model{runs: make([]Run, 6)}
	low, high := m.interval(10, 0.1)
	factor := math.Exp(2 * 0.1 * distuv.StudentsT{Sigma: 1, Nu: 5}.Quantile(0.975))
	if !(math.Abs(low-10/factor) <= 1e-12) || !(math.Abs(high-10*factor) <= 1e-12) ||
		!(math.Abs(factor-math.Exp(2*0.2570582)) <= 1e-6) {
		t.Errorf("from %v to %v, want %v to %v", low, high, 10/factor, 10*factor)
	}
	for name, m := range map[string]*Model{"one run": {runs: make([]Run, 1)}, "no deviation": {runs: make([]Run, 6)}} {
		deviation := 0.1
		if name == "no deviation" {
			deviation = math.NaN()
		}
		if low, high := m.interval(10, deviation); low != 0 || !math.IsInf(high, 1) {
			t.Errorf("%s: from %v to %v, want everything", name, low, high)
		}
	}
}

// Fit returns an error, and no function, if there is no run to fit to.
func TestFitWithoutRuns(t *testing.T) {
	b := prefetcher(t)
	runs := runsOf(t, b, assay.Config{0, 0})
	none := func(int) bool { return true }
	_, err := fit(attributesOf(b.space, nil), runs, form{part: Compute, regression: Linear}, none)
	if !errors.Is(err, assay.ErrTooFew) {
		t.Errorf("got %v", err)
	}
}

// The time limits of Explain: with stalls that are not taken apart the limit is Stall, without any parts
// it is Whole with a share of 1.
func TestExplainSaysWhatItKnows(t *testing.T) {
	b := prefetcher(t)
	var all []assay.Config
	for c := range b.space.All() {
		all = append(all, c)
	}
	for split, want := range map[Split]Part{SplitFull: Network, SplitStall: Stall, SplitNone: Whole} {
		runs := runsOf(t, b, all...)
		for i := range runs {
			runs[i].Split = split
			switch split {
			case SplitStall:
				runs[i].Network, runs[i].Disk = 0, runs[i].Network+runs[i].Disk
			case SplitNone:
				runs[i].Compute, runs[i].Network, runs[i].Disk = runs[i].Of(Whole), 0, 0
			}
		}
		m, err := Fit(b.space, runs, nil, Best)
		if err != nil {
			t.Fatal(err)
		}
		e := m.Explain(assay.Config{4, 5}) // a fast processor, far from the data
		if e.Limit != want || !(e.Share > 0.5 && e.Share <= 1) || want == Whole && e.Share != 1 {
			t.Errorf("split %d: limit %v with %.2f of the time, want %v", split, e.Limit, e.Share, want)
		}
	}
}

// An elasticity is the slope of log T over log ρ: the exponents of a power law. It is NaN for a category
// and for an attribute of one value.
func TestElasticitiesOfAPowerLaw(t *testing.T) {
	space := spaceOf(t,
		assay.Param{Name: "cpu", Kind: assay.Real, Lo: 1, Hi: 8},
		assay.Param{Name: "size", Kind: assay.Integer, Lo: 1, Hi: 9},
		assay.Param{Name: "policy", Kind: assay.Categorical, Levels: []string{"a", "b"}},
		assay.Param{Name: "nodes", Kind: assay.Integer, Lo: 2, Hi: 2},
	)
	rng := rand.New(rand.NewPCG(1, 1))
	var runs []Run
	for range 40 {
		c, _ := space.Draw(rng)
		s := 100 * math.Pow(c[0], -0.8) * c[1]
		runs = append(runs, Run{Config: c, Seconds: s, DataFlow: 1, Compute: s})
	}
	m, err := Fit(space, runs, nil, Smooth)
	if err != nil {
		t.Fatal(err)
	}
	e := m.Explain(assay.Config{3, 5, 0, 2}).Elasticities
	if !(math.Abs(e[0]+0.8) <= 0.05) || !(math.Abs(e[1]-1) <= 0.05) || !math.IsNaN(e[2]) || !math.IsNaN(e[3]) {
		t.Errorf("elasticities %v, want -0.8, 1, NaN and NaN", e)
	}
}

// The values beside one are its neighbours, or itself at an end; of a continuum they are a twentieth of
// the range away.
func TestValuesBeside(t *testing.T) {
	for _, tt := range []struct {
		param     assay.Param
		x, lo, hi float64
	}{
		{assay.Param{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 9}, 5, 4, 6},
		{assay.Param{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 9}, 1, 1, 2},
		{assay.Param{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 9, Step: 4}, 9, 5, 9},
		{assay.Param{Name: "x", Kind: assay.Real, Lo: 0, Hi: 10}, 5, 4.5, 5.5},
		{assay.Param{Name: "x", Kind: assay.Real, Lo: 0, Hi: 10}, 9.9, 9.4, 10},
		{assay.Param{Name: "x", Kind: assay.Ordinal, Levels: []string{"1", "10", "100"}}, 1, 0, 2},
	} {
		lo, hi := attributesOf(spaceOf(t, tt.param), nil)[0].beside(tt.x)
		if !(math.Abs(lo-tt.lo) <= 1e-12) || !(math.Abs(hi-tt.hi) <= 1e-12) {
			t.Errorf("beside %v of %+v: %v and %v, want %v and %v", tt.x, tt.param, lo, hi, tt.lo, tt.hi)
		}
	}
}
