package costmodel

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// spaceOf makes a space of parameters.
func spaceOf(t testing.TB, params ...assay.Param) *assay.Space {
	t.Helper()
	s, err := assay.NewSpace(params)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The name of an attribute determines which way more capacity is: less of a delay, more of a resource, less
// data. A word for a resource wins over one for data. A list of names overrules the guess.
func TestCapability(t *testing.T) {
	for _, tt := range []struct {
		name string
		less []string
		want float64
	}{
		{"cpu", nil, 1},
		{"Memory_Size", nil, 1},
		{"net_bandwidth", nil, 1},
		{"rtt", nil, -1},
		{"disk_latency", nil, -1}, // a delay, though a disk is a resource
		{"in_bytes", nil, -1},
		{"input_lines", nil, -1},
		{"colour", nil, 0},
		{"cpu", []string{"cpu"}, -1},
		{"rtt", []string{}, 0}, // a list without it: nothing is guessed of delays and data
		{"in_bytes", []string{"rtt"}, 0},
		{"cpu", []string{"rtt"}, 1},
	} {
		if got := capability(tt.name, tt.less); got != tt.want {
			t.Errorf("%s with %v: got %v, want %v", tt.name, tt.less, got, tt.want)
		}
	}
}

// A level stands for its number with its unit; if one stands for none, all of them stand for their places.
func TestLevelsAreNumbers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		levels []string
		want   []float64
	}{
		{"amounts", []string{"64K", "1M"}, []float64{65536, 1 << 20}},
		{"times", []string{"0ms", "20ms"}, []float64{0, 0.02}},
		{"one is a word", []string{"1", "2", "many"}, []float64{1, 2, 3}},
	} {
		s := spaceOf(t, assay.Param{Name: "x", Kind: assay.Ordinal, Levels: tt.levels})
		a := attributesOf(s, nil)[0]
		if !slices.Equal(a.numbers, tt.want) || a.lo != tt.want[0] || a.hi != tt.want[len(tt.want)-1] {
			t.Errorf("%s: %v in [%v, %v], want %v", tt.name, a.numbers, a.lo, a.hi, tt.want)
		}
	}
	s := spaceOf(t, assay.Param{Name: "c", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}},
		assay.Param{Name: "s", Kind: assay.Switch, Levels: []string{"off", "on"}})
	attrs := attributesOf(s, nil)
	if c := attrs[0]; c.numeric || c.lo != 0 || c.hi != 1 || c.number(2) != 2 {
		t.Errorf("category: %+v", c)
	}
	if sw := attrs[1]; sw.number(0) == sw.number(1) {
		t.Errorf("both values of a switch are %v", sw.number(0))
	}
}

// The ends are the least and the greatest capacity, whichever way the levels are written.
// Reference: section 3.1
func TestEndsAreOfCapacity(t *testing.T) {
	for _, tt := range []struct {
		param       assay.Param
		worst, best float64
	}{
		{assay.Param{Name: "cpu", Kind: assay.Real, Lo: 1, Hi: 4}, 1, 4},
		{assay.Param{Name: "rtt", Kind: assay.Real, Lo: 0, Hi: 3}, 3, 0},
		{assay.Param{Name: "x", Kind: assay.Integer, Lo: 2, Hi: 5}, 2, 5},
		{assay.Param{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"800", "400", "200"}}, 2, 0},
		{assay.Param{Name: "rtt", Kind: assay.Ordinal, Levels: []string{"20ms", "2ms"}}, 0, 1},
		{assay.Param{Name: "cores", Kind: assay.Real, Lo: 1, Hi: 2, Step: 0.4}, 1, 1.8},
	} {
		worst, best := attributesOf(spaceOf(t, tt.param), nil)[0].ends()
		if !(math.Abs(worst-tt.worst) <= 1e-12) || !(math.Abs(best-tt.best) <= 1e-12) {
			t.Errorf("%s: ends %v and %v, want %v and %v", tt.param.Name, worst, best, tt.worst, tt.best)
		}
	}
}

// The sequence of a continuum is bisected without repeats, and never leaves the range; it has 4,096 values
// if there are more than can be told apart.
func TestSequenceOfAContinuum(t *testing.T) {
	for _, p := range []assay.Param{
		{Name: "x", Kind: assay.Real, Lo: -1, Hi: 3},
		{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 1 << 20},
	} {
		xs := attributesOf(spaceOf(t, p), nil)[0].sequence()
		seen := map[float64]bool{}
		for _, x := range xs {
			if x < p.Lo || x > p.Hi || seen[x] {
				t.Fatalf("%v: %v is outside of the range, or comes twice", p.Kind, x)
			}
			seen[x] = true
		}
		if len(xs) != maxSteps || xs[0] != p.Lo || xs[1] != p.Hi {
			t.Errorf("%v: %d values from %v and %v", p.Kind, len(xs), xs[0], xs[1])
		}
	}
	s := spaceOf(t, assay.Param{Name: "c", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}})
	if got := attributesOf(s, nil)[0].sequence(); !slices.Equal(got, []float64{0, 1, 2}) {
		t.Errorf("of a category %v, want its levels in their order", got)
	}
}

// The predetermined transformation is the reciprocal for rates, and the identity if the reciprocal has
// no value somewhere, or for an attribute that is no rate.
// Reference: section 4.1
func TestPredeterminedTransforms(t *testing.T) {
	for _, tt := range []struct {
		param assay.Param
		named []string
		want  Transform
	}{
		{assay.Param{Name: "cpu", Kind: assay.Real, Lo: 1, Hi: 4}, nil, Reciprocal},
		{assay.Param{Name: "disk", Kind: assay.Real, Lo: 1, Hi: 4}, nil, Reciprocal},
		{assay.Param{Name: "disk_latency", Kind: assay.Real, Lo: 1, Hi: 4}, nil, Identity},
		{assay.Param{Name: "cpu", Kind: assay.Real, Lo: 0, Hi: 4}, nil, Identity},
		{assay.Param{Name: "memory", Kind: assay.Real, Lo: 1, Hi: 4}, nil, Identity},
		{assay.Param{Name: "memory", Kind: assay.Real, Lo: 1, Hi: 4}, []string{"memory"}, Reciprocal},
		{assay.Param{Name: "cpu", Kind: assay.Real, Lo: 1, Hi: 4}, []string{}, Identity},
		{assay.Param{Name: "cpu", Kind: assay.Categorical, Levels: []string{"1", "2"}}, nil, Identity},
	} {
		if got := attributesOf(spaceOf(t, tt.param), nil)[0].published(tt.named); got != tt.want {
			t.Errorf("%s from %v, named %v: %v, want %v", tt.param.Name, tt.param.Lo, tt.named, got, tt.want)
		}
	}
	for tr, want := range map[Transform]float64{Identity: 4, Reciprocal: 0.25, Logarithm: math.Log(4)} {
		if got := tr.apply(4); got != want {
			t.Errorf("%v of 4 is %v, want %v", tr, got, want)
		}
	}
}

// A number has one feature, relative to the baseline where that is finite; a category of three levels has
// three, and one of two levels has one.
// Reference: Algorithm 6
func TestFeaturesOfAnAttribute(t *testing.T) {
	s := spaceOf(t,
		assay.Param{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"2", "4", "8"}},
		assay.Param{Name: "rtt", Kind: assay.Ordinal, Levels: []string{"0", "5"}},
		assay.Param{Name: "three", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}},
		assay.Param{Name: "two", Kind: assay.Categorical, Levels: []string{"a", "b"}},
	)
	attrs := attributesOf(s, nil)
	for _, tt := range []struct {
		attribute int
		x         float64
		t         Transform
		base      float64
		want      []float64
	}{
		{0, 2, Identity, 0, []float64{4}},      // 8/2
		{0, 2, Reciprocal, 0, []float64{0.25}}, // (1/8)/(1/2)
		{0, 0, Logarithm, 1, []float64{0.5}},   // log 2/log 4
		{1, 1, Identity, 0, []float64{5}},      // the baseline is 0: not normalized
		{1, 1, Identity, 1, []float64{1}},
		{2, 1, Identity, 0, []float64{0, 1, 0}},
		{3, 1, Identity, 0, []float64{1}},
	} {
		a := attrs[tt.attribute]
		got := a.appendFeatures(nil, tt.x, tt.t, tt.base)
		if !slices.Equal(got, tt.want) || len(got) != a.columns() {
			t.Errorf("%s at %v: %v in %d columns, want %v", a.param.Name, tt.x, got, a.columns(), tt.want)
		}
	}
}

// A program that dies below a threshold of memory dies there with certainty as far as it was seen to, and
// between the failed run and the next that worked by the ratio of the amounts.
func TestRiskBetweenFailureAndSuccess(t *testing.T) {
	s := spaceOf(t, assay.Param{Name: "memory", Kind: assay.Real, Lo: 1, Hi: 256})
	f := newFeasibility(s, attributesOf(s, nil), []assay.Config{{4}}, []assay.Config{{64}, {128}})
	for x, want := range map[float64]float64{1: 1, 4: 1, 8: 0.75, 16: 0.5, 64: 0, 256: 0} {
		if got := f.risk(assay.Config{x}); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("risk %v at %v, want %v", got, x, want)
		}
	}
	// Nothing ran to the end: the other end of the range is where it may work.
	f = newFeasibility(s, attributesOf(s, nil), []assay.Config{{16}}, nil)
	if low, high := f.risk(assay.Config{4}), f.risk(assay.Config{256}); !(low > 0.9 && high < 0.1) {
		t.Errorf("after one failure: risk %v below it, %v at the most memory", low, high)
	}
}

// Too little memory is believed before too little of something else, and that before too much of it, if
// both thresholds explain the same failures.
func TestWhatFailuresAreBlamedOn(t *testing.T) {
	s := spaceOf(t,
		assay.Param{Name: "cpu", Kind: assay.Real, Lo: 1, Hi: 8},
		assay.Param{Name: "memory", Kind: assay.Real, Lo: 1, Hi: 8},
	)
	f := newFeasibility(s, attributesOf(s, nil), []assay.Config{{2, 2}}, []assay.Config{{6, 6}})
	memory, cpu := f.risk(assay.Config{8, 1}), f.risk(assay.Config{1, 8})
	if !(memory > 0.8 && cpu < 0.2 && cpu > 0) {
		t.Errorf("risk %v with little memory, %v with a slow processor", memory, cpu)
	}
	// A threshold that a run contradicts is no explanation.
	f = newFeasibility(s, attributesOf(s, nil), []assay.Config{{2, 2}}, []assay.Config{{6, 6}, {6, 1}})
	if memory := f.risk(assay.Config{8, 1}); memory > 0.2 {
		t.Errorf("risk %v with little memory, though a run with less worked", memory)
	}
	// The same assignment failed once and worked once.
	ok := []assay.Config{{2, 2}, {1, 8}, {8, 1}, {8, 8}, {1, 1}}
	f = newFeasibility(s, attributesOf(s, nil), []assay.Config{{2, 2}}, ok)
	if got := f.risk(assay.Config{2, 2}); got != 0.5 {
		t.Errorf("risk %v where one run of two failed, want 0.5", got)
	}
}
