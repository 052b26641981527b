package stats

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

func TestMannWhitneyKnown(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		u, p float64
	}{
		// The least P is 2/C(n, k); the table of Mann & Whitney 1947 gives
		// P(U <= 2) = 4/252 for 5 and 5.
		{"apart", []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 0, 2.0 / 252},
		{"U = 2", []float64{1, 2, 3, 4, 7}, []float64{5, 6, 8, 9, 10}, 2, 8.0 / 252},
		{"three", []float64{1, 2, 3}, []float64{4, 5, 6}, 0, 0.1},
		{"equal", []float64{1, 1}, []float64{1, 1}, 2, 1},
		{"infinite", []float64{1, 2, 3, 4}, []float64{inf, inf, inf, inf}, 0, 2.0 / 70},
		// One hare and five slow ones against the tortoises: scipy.stats.mannwhitneyu, method exact.
		{"hare", []float64{1, 7, 8, 9, 10, 11}, []float64{2, 3, 4, 5, 6, 12}, 25, 0.3095238095238095},
	} {
		got := MannWhitney(c.a, c.b)
		if got.Statistic != c.u || !closeTo(got.P, c.p, 1e-12) || !got.Exact {
			t.Errorf("%s: %+v, want U = %v, P = %v", c.name, got, c.u, c.p)
		}
	}
	if got := MannWhitney(nil, []float64{1}); got.P != 1 || !math.IsNaN(got.Statistic) {
		t.Errorf("an empty sample: %+v", got)
	}
}

// An oracle that is too simple to be wrong: every split of the values.
func allSplits(a, b []float64) float64 {
	all := append(append([]float64{}, a...), b...)
	stat := func(mask uint) float64 {
		var u float64
		for i, x := range all {
			for j, y := range all {
				if mask>>i&1 == 1 && mask>>j&1 == 0 {
					switch {
					case x > y:
						u++
					case x == y:
						u += 0.5
					}
				}
			}
		}
		return math.Abs(u - float64(len(a)*len(b))/2)
	}
	observed := stat(1<<len(a) - 1)
	var extreme, n float64
	for mask := range uint(1) << len(all) {
		if bits.OnesCount(mask) == len(a) {
			n++
			if stat(mask) >= observed {
				extreme++
			}
		}
	}
	return extreme / n
}

func TestMannWhitneyAgreesWithAllSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Map(rapid.IntRange(0, 8), func(i int) float64 { return float64(i) })
		a := rapid.SliceOfN(value, 1, 5).Draw(t, "a")
		b := rapid.SliceOfN(value, 1, 5).Draw(t, "b")
		got, want := MannWhitney(a, b).P, allSplits(a, b)
		if !closeTo(got, want, 1e-12) {
			t.Fatalf("P = %v, want %v", got, want)
		}
		if swapped := MannWhitney(b, a).P; !closeTo(swapped, got, 1e-12) {
			t.Fatalf("P = %v, but %v with the samples exchanged", got, swapped)
		}
	})
}

// Without ties the two ways to count agree.
func TestSplitPAgreesWithCounts(t *testing.T) {
	rng := newRand(12)
	for range 50 {
		na, nb := 1+rng.IntN(10), 1+rng.IntN(10)
		x := make([]float64, na+nb)
		for i := range x {
			x[i] = rng.Float64()
		}
		want := MannWhitney(x[:na], x[na:]).P
		if got := splitP(Ranks(x), na); !closeTo(got, want, 1e-12) {
			t.Fatalf("splitP = %v, want %v for %d + %d", got, want, na, nb)
		}
	}
}

func TestMannWhitneyNormalMeetsExact(t *testing.T) {
	rng := newRand(4)
	for range 20 {
		a, b := make([]float64, 25), make([]float64, 25)
		for i := range a {
			a[i], b[i] = rng.NormFloat64(), rng.NormFloat64()+0.5
		}
		exact := MannWhitney(a, b)
		n := 25.0
		approx := normalP(exact.Statistic-n*n/2, n*n*(2*n+1)/12)
		if !(math.Abs(exact.P-approx) <= 0.005) {
			t.Errorf("exact P = %.4f, approximation %.4f", exact.P, approx)
		}
	}
	// Above the limit: scipy.stats.mannwhitneyu(range(30), [x + 7.5 for x in range(30)]).
	a, b := make([]float64, 30), make([]float64, 30)
	for i := range a {
		a[i], b[i] = float64(i), float64(i)+7.5
	}
	if got := MannWhitney(a, b); got.Exact || !(math.Abs(got.P-0.003670893392450653) <= 1e-9) {
		t.Errorf("30 and 30: %+v, want P = %v", got, 0.003670893392450653)
	}
}

func TestWilcoxonSignedRank(t *testing.T) {
	for _, c := range []struct {
		name string
		d    []float64
		w, p float64
	}{
		{"all up", []float64{1, 2, 3, 4, 5, 6}, 21, 2.0 / 64},
		{"none", []float64{0, 0}, nan, 1},
		{"zero dropped", []float64{0, 1, 2, 3, 4, 5, 6}, 21, 2.0 / 64},
		// Hollander & Wolfe, Table 3.1 (Hamilton depression scale): T+ = 5, P = 0.0195 one-sided.
		{"depression", []float64{-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010}, 5, 2 * 10.0 / 512},
	} {
		got := WilcoxonSignedRank(c.d)
		if got.Statistic != c.w && !math.IsNaN(c.w) || !closeTo(got.P, c.p, 1e-12) {
			t.Errorf("%s: %+v, want W = %v, P = %v", c.name, got, c.w, c.p)
		}
	}
}

func TestWilcoxonAgreesWithAllSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Map(rapid.IntRange(-6, 6), func(i int) float64 { return float64(i) }), 1, 9).Draw(t, "d")
		var size []float64
		for _, v := range d {
			if v != 0 {
				size = append(size, math.Abs(v))
			}
		}
		if len(size) == 0 {
			return
		}
		r := Ranks(size)
		var mean float64
		for _, x := range r {
			mean += x / 2
		}
		observed := math.Abs(WilcoxonSignedRank(d).Statistic - mean)
		extreme := 0.0
		for mask := range 1 << len(r) {
			var w float64
			for i, x := range r {
				if mask>>i&1 == 1 {
					w += x
				}
			}
			if !(math.Abs(w-mean) < observed) {
				extreme++
			}
		}
		if want := extreme / math.Exp2(float64(len(r))); !closeTo(WilcoxonSignedRank(d).P, want, 1e-12) {
			t.Fatalf("P = %v, want %v", WilcoxonSignedRank(d).P, want)
		}
	})
}

func TestRanks(t *testing.T) {
	got := Ranks([]float64{3, 1, 3, 2, inf})
	for i, want := range []float64{3.5, 1, 3.5, 2, 5} {
		if got[i] != want {
			t.Fatalf("Ranks = %v", got)
		}
	}
}
