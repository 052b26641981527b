package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Hollander & Wolfe 1999, Example 3.3 and 3.4: depression scores of nine
// patients before and after; estimate -0.46, 96.1 % interval (-0.786, -0.010).
var depression = []float64{-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010}

func TestHodgesLehmannDepression(t *testing.T) {
	e := HodgesLehmann(depression, 0.95)
	if !closeTo(e.Value, -0.46, 1e-12) || !closeTo(e.Low, -0.786, 1e-12) ||
		!closeTo(e.High, -0.010, 1e-12) || !(math.Abs(e.Level-0.961) <= 5e-4) {
		t.Errorf("got %+v, want -0.46 [-0.786, -0.010] at 0.961", e)
	}
}

func TestHodgesLehmannEdges(t *testing.T) {
	if e := HodgesLehmann(nil, 0); !math.IsNaN(e.Value) || len(e.Warnings) != 1 {
		t.Errorf("of nothing: %+v", e)
	}
	if e := HodgesLehmann([]float64{1, 2, 3, 4, 5}, 0); e.Value != 3 || !math.IsInf(e.Low, -1) || len(e.Warnings) != 1 {
		t.Errorf("of five: %+v, want 3 without interval", e)
	}
	if e := HodgesLehmann([]float64{-1, 0, math.Copysign(0, -1), 1, 2, 3}, 0); e.Low != -1 || e.High != 3 {
		t.Errorf("of six: %+v, want [-1, 3]", e)
	}
	const least = math.SmallestNonzeroFloat64 // its half is 0
	if got := walshAverage([]float64{-1, least}, 3); got != least {
		t.Errorf("the average of the least number and itself is %v", got)
	}
}

func TestHodgesLehmannAgreesWithAllAverages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1e3, 1e3), rapid.Float64Range(-1e-322, 1e-322))
		d := rapid.SliceOfN(number, 1, 30).Draw(t, "d")
		var all []float64
		for i := range d {
			for j := i; j < len(d); j++ {
				all = append(all, (d[i]+d[j])/2)
			}
		}
		slices.Sort(all)
		s := slices.Sorted(slices.Values(d))
		for k := range all {
			if got := walshAverage(s, k+1); got != all[k] {
				t.Fatalf("average %d is %v, want %v", k+1, got, all[k])
			}
		}
		if got, want := HodgesLehmann(d, 0).Value, Median(all); !closeTo(got, want, 1e-12) {
			t.Fatalf("estimate %v, want %v", got, want)
		}
	})
}

// The interval excludes 0 exactly when the signed rank test rejects 0, as long
// as there are no ties.
func TestHodgesLehmannInvertsWilcoxon(t *testing.T) {
	rng := newRand(5)
	for range 400 {
		d := make([]float64, 6+rng.IntN(20))
		for i := range d {
			d[i] = rng.NormFloat64() + 0.6
		}
		e, p := HodgesLehmann(d, 0.95), WilcoxonSignedRank(d).P
		if (e.Low > 0 || e.High < 0) != (p <= 0.05) {
			t.Fatalf("[%v, %v] but P = %v for %v", e.Low, e.High, p, d)
		}
	}
}

func TestSignedRankRankNormalMeetsExact(t *testing.T) {
	k, tail := signedRankRank(100, 0.025)
	law := 100.0 * 101 / 4
	sd := math.Sqrt(100.0 * 101 * 201 / 24)
	if want := law - 1.96*sd; !(math.Abs(float64(k)-want) <= 2) || tail > 0.025 || tail < 0.0245 {
		t.Errorf("k = %d at %v, want about %.0f", k, tail, want)
	}
	big, _ := signedRankRank(101, 0.025)
	if big < k || big > k+60 {
		t.Errorf("k jumps from %d to %d where the approximation starts", k, big)
	}
}
