package stats

import (
	"math"
	"testing"
)

// The spatial test data of Efron & Tibshirani 1993, Table 14.1, whose variance
// (divided by n) is the example of chapter 14.
var spatial = []float64{48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41}

func plugInVariance(x []float64) float64 { return sumSquares(x, Mean(x)) / float64(len(x)) }

// Reference: Efron & Tibshirani 1993, §14.2-14.3: θ = 171.5, a = 0.061, 90 %
// intervals (100.8, 233.9) by percentiles and (115.8, 259.6) by BCa, from
// 2000 resamples, hence the tolerance.
func TestBootstrapSpatial(t *testing.T) {
	if a := acceleration(spatial, plugInVariance); math.Abs(a-0.061) > 5e-4 {
		t.Errorf("acceleration %.4f, want 0.061", a)
	}
	opts := BootstrapOptions{Level: 0.9, Resamples: 20000, Seed: 1}
	for _, c := range []struct {
		name      string
		got       Estimate
		low, high float64
	}{
		{"percentile", Bootstrap(spatial, plugInVariance, opts), 100.8, 233.9},
		{"BCa", BootstrapBCa(spatial, plugInVariance, opts), 115.8, 259.6},
	} {
		if math.Abs(c.got.Value-171.5) > 0.05 || math.Abs(c.got.Low-c.low) > 4 || math.Abs(c.got.High-c.high) > 4 {
			t.Errorf("%s: %.1f [%.1f, %.1f], want 171.5 [%v, %v]", c.name, c.got.Value, c.got.Low, c.got.High, c.low, c.high)
		}
	}
}

func TestBootstrapEdges(t *testing.T) {
	if e := Bootstrap(nil, Median, BootstrapOptions{}); !math.IsNaN(e.Value) || len(e.Warnings) == 0 {
		t.Errorf("of nothing: %+v", e)
	}
	if e := Bootstrap([]float64{3}, Median, BootstrapOptions{}); e.Value != 3 || !math.IsInf(e.High, 1) || len(e.Warnings) == 0 {
		t.Errorf("of one: %+v", e)
	}
	equal := []float64{2, 2, 2, 2, 2, 2, 2}
	if e := BootstrapBCa(equal, Median, BootstrapOptions{}); e.Low != 2 || e.High != 2 || len(e.Warnings) != 1 {
		t.Errorf("of equal values: %+v, want [2, 2] and a warning", e)
	}
	if e := Bootstrap([]float64{1, 2, 3}, Mean, BootstrapOptions{}); len(e.Warnings) != 1 {
		t.Errorf("of three: %+v, want a warning", e)
	}
	nothing := func([]float64) float64 { return nan }
	if e := Bootstrap(spatial, nothing, BootstrapOptions{Resamples: 10}); !math.IsInf(e.Low, -1) || len(e.Warnings) != 1 {
		t.Errorf("of a statistic that is NaN: %+v", e)
	}
}

func TestBootstrapIsRepeatable(t *testing.T) {
	a := BootstrapBCa(spatial, Median, BootstrapOptions{Seed: 7})
	b := BootstrapBCa(spatial, Median, BootstrapOptions{Seed: 7})
	if a.Low != b.Low || a.High != b.High {
		t.Errorf("same seed, different intervals: %+v, %+v", a, b)
	}
}

// A percentile interval of skewed data misses the truth far more often on one
// side than on the other; BCa balances the sides.
func TestBootstrapCovers(t *testing.T) {
	rng := newRand(3)
	const reps, n = 600, 20
	var percentile, bca [2]int // misses below and above
	miss := func(sides *[2]int, e Estimate) {
		count(&sides[0], e.High < 1)
		count(&sides[1], e.Low > 1)
	}
	for r := range reps {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.ExpFloat64()
		}
		opts := BootstrapOptions{Resamples: 1000, Seed: uint64(r)}
		miss(&percentile, Bootstrap(x, Mean, opts))
		miss(&bca, BootstrapBCa(x, Mean, opts))
	}
	t.Logf("of %d intervals of an exponential mean, too low and too high: percentile %v, BCa %v", reps, percentile, bca)
	for name, sides := range map[string][2]int{"percentile": percentile, "BCa": bca} {
		if missed := sides[0] + sides[1]; missed > reps*13/100 {
			t.Errorf("%s: %d of %d intervals miss", name, missed, reps)
		}
	}
	if p, b := percentile[0]-percentile[1], bca[0]-bca[1]; b >= p {
		t.Errorf("BCa is no more balanced: %v against %v", bca, percentile)
	}
}
