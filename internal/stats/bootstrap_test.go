package stats

import (
	"math"
	"testing"
)

// The spatial test data of Efron & Tibshirani 1993, Table 14.1.
var spatial = []float64{
	48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6,
	0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41,
}

func TestBootstrapEdges(t *testing.T) {
	if e := Bootstrap(nil, Median, BootstrapOptions{}); !math.IsNaN(e.Value) || len(e.Warnings) == 0 {
		t.Errorf("of nothing: %+v", e)
	}
	one := Bootstrap([]float64{3}, Median, BootstrapOptions{})
	if one.Value != 3 || !math.IsInf(one.High, 1) || len(one.Warnings) == 0 {
		t.Errorf("of one: %+v", one)
	}
	equal := []float64{2, 2, 2, 2, 2, 2, 2}
	if e := Bootstrap(equal, Median, BootstrapOptions{}); e.Low != 2 || e.High != 2 {
		t.Errorf("of equal values: %+v, want [2, 2]", e)
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
	a := Bootstrap(spatial, Median, BootstrapOptions{Seed: 7})
	b := Bootstrap(spatial, Median, BootstrapOptions{Seed: 7})
	if a.Low != b.Low || a.High != b.High {
		t.Errorf("same seed, different intervals: %+v, %+v", a, b)
	}
}

// The interval holds the mean about as often as its level, though for skewed data it
// misses more often on one side.
func TestBootstrapCovers(t *testing.T) {
	rng := newRand(3)
	const reps, n = 600, 20
	missed := 0
	for r := range reps {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.ExpFloat64()
		}
		e := Bootstrap(x, Mean, BootstrapOptions{Resamples: 1000, Seed: uint64(r)})
		count(&missed, e.High < 1 || e.Low > 1)
	}
	if missed > reps*13/100 {
		t.Errorf("%d of %d intervals of an exponential mean miss", missed, reps)
	}
}
