package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Hollander & Wolfe 1999, Examples 4.1, 4.3 and 4.4: permeability of the
// amnion at term and at 12 to 26 weeks. The estimate of the shift is -0.305
// and its 96 % interval is (-0.76, 0.15) for Y - X.
func TestCompareShiftPermeability(t *testing.T) {
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	s, r := slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	pairs := len(x) * len(y)
	k := splitRank(len(x), len(y), 0.025)
	mid := kthDifference(s, r, pairs/2)/2 + kthDifference(s, r, pairs/2+1)/2
	low, high := kthDifference(s, r, k), kthDifference(s, r, pairs+1-k)
	if !(math.Abs(mid+0.305) <= 1e-12) || !(math.Abs(low+0.76) <= 1e-12) || !(math.Abs(high-0.15) <= 1e-12) {
		t.Errorf("got %v [%v, %v], want -0.305 [-0.76, 0.15]", mid, low, high)
	}
	if p := MannWhitney(x, y).P; !(math.Abs(p-0.2544) <= 5e-5) { // R: wilcox.test(x, y)
		t.Errorf("P = %v, want 0.2544", p)
	}
}

func TestKthDifferenceAgreesWithAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(-100, 100)
		x := rapid.SliceOfN(value, 1, 12).Draw(t, "x")
		y := rapid.SliceOfN(value, 1, 12).Draw(t, "y")
		slices.Sort(x)
		slices.Sort(y)
		var all []float64
		for _, a := range x {
			for _, b := range y {
				all = append(all, b-a)
			}
		}
		slices.Sort(all)
		for k := range all {
			if got := kthDifference(x, y, k+1); got != all[k] {
				t.Fatalf("difference %d is %v, want %v", k+1, got, all[k])
			}
		}
	})
}

// The counts by recursion are those that splitP counts.
func TestSplitCounts(t *testing.T) {
	if got, want := splitCounts(3, 2), []float64{1, 1, 2, 2, 2, 1, 1}; !slices.Equal(got, want) {
		t.Fatalf("splitCounts(3, 2) = %v, want %v", got, want)
	}
	count := splitCounts(25, 25)
	var all float64
	for _, c := range count {
		all += c
	}
	if all != 126410606437752 { // C(50, 25)
		t.Errorf("%v splits of 25 + 25, want C(50, 25)", all)
	}
}

// The interval excludes 0 exactly when the rank test rejects, without ties.
func TestCompareShiftInvertsMannWhitney(t *testing.T) {
	rng := newRand(8)
	for range 300 {
		a, b := make([]float64, 4+rng.IntN(10)), make([]float64, 4+rng.IntN(10))
		for i := range a {
			a[i] = 1 + rng.Float64()
		}
		for i := range b {
			b[i] = 1.3 + rng.Float64()
		}
		c := CompareShift(a, b, CompareOptions{})
		if (c.Low > 0 || c.High < 0) != (c.P <= 0.05) || (c.Verdict != Undecided) != (c.P <= 0.05) {
			t.Fatalf("%+v for %v and %v", c, a, b)
		}
	}
}

func TestCompareShiftEdges(t *testing.T) {
	if c := CompareShift(nil, []float64{1}, CompareOptions{}); !math.IsNaN(c.Change) || len(c.Warnings) == 0 {
		t.Errorf("nothing: %+v", c)
	}
	a := []float64{1, 2, 3, 4, 5}
	if c := CompareShift(a, []float64{inf, inf, inf, inf, inf}, CompareOptions{}); c.Verdict != More ||
		!warned(c.Warnings, "not finite") {
		t.Errorf("failed runs: %+v", c)
	}
	if c := CompareShift(a[:3], []float64{7, 8, 9}, CompareOptions{}); c.Verdict != Undecided ||
		!warned(c.Warnings, "3 and 3 runs cannot") || c.Low != -1 {
		t.Errorf("3 and 3 runs: %+v", c)
	}
	double := []float64{2, 4, 6, 8, 10}
	if c := CompareShift(a, double, CompareOptions{}); !closeTo(c.Change, 1, 1e-12) {
		t.Errorf("twice: %+v, want a change of 1", c)
	}
	above := []float64{-1, 0, 1, 2, 3}
	if c := CompareShift(above, []float64{0, 1, 2, 3, 4}, CompareOptions{}); !closeTo(c.Change, 1, 1e-12) {
		t.Errorf("1 more than 1: %+v, want a change of 1", c)
	}
}

func TestComparePaired(t *testing.T) {
	// The machine slows down by 4 % a run; b takes 5 % less all along.
	var a, b []float64
	rng := newRand(7)
	for i := range 12 {
		drift := 10 * math.Pow(1.04, float64(i))
		a = append(a, drift*math.Exp(0.005*rng.NormFloat64()))
		b = append(b, drift*0.95*math.Exp(0.005*rng.NormFloat64()))
	}
	paired, apart := ComparePaired(a, b, CompareOptions{}), CompareShift(a, b, CompareOptions{})
	if paired.Verdict != Less || !(math.Abs(paired.Change+0.05) <= 0.005) ||
		paired.Low > -0.05 || paired.High < -0.05 || paired.High-paired.Low > 0.02 {
		t.Errorf("paired: %+v, want -0.05", paired)
	}
	if apart.Verdict != Undecided {
		t.Errorf("unpaired comparison under drift: %v, want ~", apart.Verdict)
	}
	few := ComparePaired(a[:5], b[:5], CompareOptions{})
	if few.Verdict != Undecided || !warned(few.Warnings, "need >= 6 pairs") || few.Low != -1 || !math.IsInf(few.High, 1) {
		t.Errorf("five pairs: %+v", few)
	}
	negative := ComparePaired([]float64{-10, -20, -30, -40, -50, -60},
		[]float64{-11, -22, -31, -42, -53, -61}, CompareOptions{})
	if negative.Verdict != Less || !closeTo(negative.Change, -1.5/35, 1e-9) {
		t.Errorf("differences: %+v, want -1.5/35", negative)
	}
	lost := ComparePaired([]float64{inf, 1}, []float64{inf, 1}, CompareOptions{})
	if lost.Verdict != Undecided || !warned(lost.Warnings, "both values are infinite") {
		t.Errorf("two infinite values: %+v", lost)
	}
}
