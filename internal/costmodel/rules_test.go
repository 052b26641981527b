package costmodel

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// The lower one of two levels that are as near to the next point of the bisection is taken: 0, 3, then near 1.5.
func TestSequenceOfEquallyNear(t *testing.T) {
	s := spaceOf(t, assay.Param{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"1", "2", "3", "4"}})
	if got, want := attributesOf(s, nil)[0].sequence(), []float64{0, 3, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("got levels %v, want %v", got, want)
	}
}

// The parts of a run add up: a stall is all time but computing, and all of them are the whole.
func TestPartsOfARun(t *testing.T) {
	r := Run{Seconds: 99, DataFlow: 16, Compute: 1, Network: 2, Disk: 4, Other: 8}
	for p, want := range map[Part]float64{
		Compute: 1, Network: 2, Disk: 4, Other: 8, Stall: 14, Whole: 15, DataFlow: 16,
	} {
		if got := r.Of(p); got != want {
			t.Errorf("%v is %v, want %v", p, got, want)
		}
	}
}

// A factorial design of a continuum is 4,096 assignments of it, of a space that can be counted each one once.
func TestFactorialOfAContinuum(t *testing.T) {
	for _, tt := range []struct {
		param assay.Param
		want  int
	}{
		{assay.Param{Name: "x", Kind: assay.Real, Lo: 0, Hi: 1}, 4096},
		{assay.Param{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 5000}, 5000},
	} {
		l := NewActiveLearner(spaceOf(t, tt.param), Options{Published: &Published{Design: LMaxIMax}})
		next := l.plan.(*published).design
		n, seen := 0, map[float64]bool{}
		for c, ok := next(); ok && n <= 5000; c, ok = next() {
			n++
			seen[c[0]] = true
		}
		if n != tt.want || len(seen) < tt.want-9 {
			t.Errorf("%v: %d assignments, %d of them different, want %d", tt.param.Kind, n, len(seen), tt.want)
		}
	}
}

// A single attribute has no pairs. Its levels are covered all the same, the ends first.
func TestCoveringOfOne(t *testing.T) {
	s := spaceOf(t, assay.Param{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 8})
	next := NewActiveLearner(s, Options{Published: &Published{Design: LMaxI2}}).plan.(*published).design
	var got []float64
	for c, ok := next(); ok && len(got) < 20; c, ok = next() {
		got = append(got, c[0])
	}
	ends := slices.Clone(got[:min(2, len(got))])
	slices.Sort(ends)
	slices.Sort(got)
	if !slices.Equal(ends, []float64{0, 8}) || !slices.Equal(got, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("covered %v, first %v", got, ends)
	}
}

// On a machine that computes at half the speed and reads at twice the speed, 10 s of computing and 6 s of reading
// become 20 s and 3 s: the whole grows to 27/20. The interval moves with it. Its half-width of log 2 grows by twice
// the deviation of machines, 0.15 and 0.35 for each factor e, if the prediction has a deviation.
func TestPredictionOnAnotherMachine(t *testing.T) {
	slow := slowdown{compute: 2, disk: 0.5}
	p := Prediction{Seconds: 20, Split: SplitFull, Compute: 10, Network: 4, Disk: 6, Low: 10, High: 40, Deviation: 0.3}
	more := math.Hypot(0.15, 0.35*math.Log(1.35))
	half := math.Hypot(math.Log(2), 2*more)
	for _, tt := range []struct {
		name                       string
		low, deviation             float64
		wantLow, wantHigh, wantDev float64
	}{
		{"sure", 10, 0.3, 27 * math.Exp(-half), 27 * math.Exp(half), math.Hypot(0.3, more)},
		{"nobody knows how sure", 10, math.NaN(), 13.5, 54, math.NaN()},
		{"no lower end", 0, 0.3, 0, 54, 0.3},
	} {
		q := p
		q.Low, q.Deviation = tt.low, tt.deviation
		q = q.on(slow)
		if q.Compute != 20 || q.Network != 4 || q.Disk != 3 || q.Seconds != 27 {
			t.Errorf("%s: %+v", tt.name, q)
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b || math.IsNaN(a) && math.IsNaN(b) }
		if !near(q.Low, tt.wantLow) || !near(q.High, tt.wantHigh) || !near(q.Deviation, tt.wantDev) {
			t.Errorf("%s: from %v to %v, deviation %v; want %v, %v, %v", tt.name, q.Low, q.High, q.Deviation,
				tt.wantLow, tt.wantHigh, tt.wantDev)
		}
	}
	if q := p.on(slowdown{compute: 1, disk: 1, same: true}); q != p {
		t.Errorf("on the same machine %+v", q)
	}
}

// The part that takes the most time limits a program, also if it is neither the processor nor I/O.
func TestLimitIsTheGreatestPart(t *testing.T) {
	s := spaceOf(t, assay.Param{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"1", "2", "4"}})
	for want, r := range map[Part]Run{
		Compute: {Compute: 4, Network: 3, Disk: 1, Other: 2},
		Network: {Compute: 3, Network: 4, Disk: 2, Other: 1},
		Disk:    {Compute: 1, Network: 2, Disk: 4, Other: 3},
		Other:   {Compute: 1, Network: 3, Disk: 2, Other: 4},
	} {
		var runs []Run
		for level := range 3 {
			r.Config, r.Seconds, r.DataFlow, r.Split = assay.Config{float64(level)}, 10, 1, SplitFull
			runs = append(runs, r)
		}
		m, err := Fit(s, runs, nil, Best)
		if err != nil {
			t.Fatal(err)
		}
		if e := m.Explain(assay.Config{1}); e.Limit != want || !(math.Abs(e.Share-0.4) <= 0.02) {
			t.Errorf("%v is limited by %v with %v, want 0.4 of %v", r, e.Limit, e.Share, want)
		}
	}
}

// The expected change of the logarithm of the time is a fall by half the logarithm of the range of a capacity, 1 at
// most, and a quarter of that for memory; a rise for a delay; half of 1 if the range begins at 0; nothing for
// an attribute with no direction, or with one value.
func TestTrend(t *testing.T) {
	s := spaceOf(
		t,
		assay.Param{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"1", "2", "4"}},
		assay.Param{Name: "bandwidth", Kind: assay.Ordinal, Levels: []string{"1", "100"}},
		assay.Param{Name: "memory", Kind: assay.Ordinal, Levels: []string{"1", "4"}},
		assay.Param{Name: "rtt", Kind: assay.Ordinal, Levels: []string{"0ms", "10ms"}},
		assay.Param{Name: "seed", Kind: assay.Ordinal, Levels: []string{"1", "9"}},
		assay.Param{Name: "cores", Kind: assay.Ordinal, Levels: []string{"3"}},
		assay.Param{Name: "policy", Kind: assay.Categorical, Levels: []string{"a", "b"}},
	)
	f := &function{form: form{attributes: []int{0, 1, 2, 3, 4, 5, 6}}, attrs: attributesOf(s, nil)}
	want := []float64{-math.Log(4) / 2, -1, -math.Log(4) / 8, 0.5, 0, 0, 0}
	got := f.trend()
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A range as long as the floating-point numbers has its ends at -1/2 and 1/2 as any other has.
func TestPlaceInTheLongestRange(t *testing.T) {
	const most = math.MaxFloat64
	for _, r := range [][2]float64{{-most, most}, {-1, 3}, {-most, 0}} {
		p := &surface{lo: []float64{r[0]}, hi: []float64{r[1]}, warp: []Transform{Identity}}
		for share, want := range map[float64]float64{0: -0.5, 0.25: -0.25, 0.5: 0, 1: 0.5} {
			x := r[0]*(1-share) + r[1]*share
			if got := p.place(0, x); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%v of the range %v is at %v, want %v", share, r, got, want)
			}
		}
	}
}

// In other units, predictions and their deviations are the same in these units, where errors are relative (of
// positive outcomes) and where they are not.
func TestPairwiseInOtherUnits(t *testing.T) {
	for _, shift := range []float64{0, -30} { // -30 makes some outcomes negative
		fit := func(unit float64) assay.Predictor {
			var d assay.Data
			for i := range 12 {
				x := float64(i%4 + 1)
				d.X = append(d.X, []float64{x, float64(i % 3)})
				d.Y = append(d.Y, unit*(shift+20+7*x+3*float64(i%3)+math.Sin(float64(5*i))))
			}
			p, err := Pairwise{}.Fit(d)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		one, thousand := fit(1), fit(1000)
		for x := 1.0; x <= 4; x += 0.5 {
			a, b := one.Predict([]float64{x, 1}), thousand.Predict([]float64{x, 1})
			if !(math.Abs(b.Mean-1000*a.Mean) <= 1e-6*math.Abs(b.Mean)) || !(math.Abs(b.Std-1000*a.Std) <= 1e-6*b.Std) {
				t.Errorf("shift %v: %+v in units of 1, %+v of 1/1000", shift, a, b)
			}
			// The outcomes differ from a plane by 1 at most.
			if !(a.Std > 0.1 && a.Std < 3) || !(math.Abs(a.Mean-(shift+23+7*x)) <= 3) {
				t.Errorf("shift %v: at %v %+v", shift, x, a)
			}
		}
	}
}

// The error of logarithms is their root mean square, and a millionth more so that it is never 0; a prediction that is
// not positive counts as 1e-9 s.
func TestLogError(t *testing.T) {
	m := &Model{runs: []Run{{Seconds: 10}, {Seconds: 20}, {Seconds: 1e-9}}}
	for _, tt := range []struct {
		predicted []float64
		want      float64
	}{
		{[]float64{10, 20, 1e-9}, 0},
		{[]float64{10 * math.E, 20, 1e-9}, math.Sqrt(1.0 / 3)},
		{[]float64{10 * math.E, 20 / math.E / math.E, -5}, math.Sqrt(5.0 / 3)},
	} {
		if got := m.logError(tt.predicted); !(math.Abs(got-tt.want-1e-6) <= 1e-12) { // nor NaN
			t.Errorf("%v: %v, want %v", tt.predicted, got, tt.want+1e-6)
		}
	}
}

// The deviations of a function of the total are made wider by the root mean square of the residuals in units of
// them, shrunk towards 1 with the weight of five runs.
func TestSpreadIsShrunk(t *testing.T) {
	s := spaceOf(t, assay.Param{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"1", "2", "4", "8", "16", "32"}})
	for _, n := range []int{4, 6} {
		var runs []Run
		for level := range n {
			x := 10 + 5*math.Sin(float64(3*level))
			runs = append(runs, Run{Config: assay.Config{float64(level)}, Seconds: x, DataFlow: 1, Split: SplitNone, Compute: x})
		}
		m, err := Fit(s, runs, nil, Smooth)
		if err != nil {
			t.Fatal(err)
		}
		if m.absolute {
			t.Fatal("a smooth function estimates no deviation")
		}
		// By the definition, from the prediction of the fit for each run without itself.
		means, deviations := m.without(Time)
		ratio := 0.0
		for i, r := range runs {
			e := math.Log(r.Seconds/means[i]) / deviations[i]
			ratio += e * e
		}
		if m.apart() {
			t.Fatal("the total is not predicted as a whole")
		}
		if want := math.Sqrt((ratio + 5) / float64(n+5)); !(math.Abs(m.spread-want) <= 1e-9) {
			t.Errorf("%d runs: the spread is %v, want %v", n, m.spread, want)
		}
	}
}

// A product of two features needs an example over: with the constant and both features that is a fifth one.
func TestProductNeedsAnExample(t *testing.T) {
	for n, want := range map[int]int{4: 0, 9: 1} {
		var d assay.Data
		for i := range n {
			side := int(math.Sqrt(float64(n)))
			a, b := float64(i/side+1), float64(i%side+1)
			d.X, d.Y = append(d.X, []float64{a, b}), append(d.Y, 5+a*b*b)
		}
		f, err := Pairwise{}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		if p := f.(*pairwise); len(p.used) != 2 || len(p.products) != want {
			t.Errorf("%d examples: %d features and %d products, want 2 and %d", n, len(p.used), len(p.products), want)
		}
	}
}
