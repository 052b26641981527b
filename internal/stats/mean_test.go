package stats

import (
	"math"
	"testing"
)

func TestMeanInterval(t *testing.T) {
	// 1..5: s = √2.5, t(4, 0.975) = 2.776445105197793.
	e := MeanInterval([]float64{1, 2, 3, 4, 5}, 0.95)
	half := 2.776445105197793 * math.Sqrt(2.5) / math.Sqrt(5)
	if e.Value != 3 || !closeTo(e.Low, 3-half, 1e-9) || !closeTo(e.High, 3+half, 1e-9) {
		t.Errorf("got %v [%v, %v], want 3 ± %v", e.Value, e.Low, e.High, half)
	}
	for _, x := range [][]float64{nil, {1}, {1, inf}} {
		if e := MeanInterval(x, 0); len(e.Warnings) != 1 || !math.IsInf(e.High, 1) {
			t.Errorf("MeanInterval(%v) = %+v, want no interval and a warning", x, e)
		}
	}
}

func TestMeanIntervalCovers(t *testing.T) {
	rng := newRand(2)
	const reps = 4000
	covered := 0
	for range reps {
		x := make([]float64, 4)
		for i := range x {
			x[i] = 10 + 3*rng.NormFloat64()
		}
		if MeanInterval(x, 0.95).Contains(10) {
			covered++
		}
	}
	if got := float64(covered) / reps; !(math.Abs(got-0.95) <= 3*math.Sqrt(0.95*0.05/reps)) {
		t.Errorf("coverage %.4f of normal data, want 0.95", got)
	}
}

func TestMeans(t *testing.T) {
	if got := Mean([]float64{1e16, 1, -1e16, 1}); got != 0.5 {
		t.Errorf("Mean lost the small terms: %v, want 0.5", got)
	}
	if got := Mean([]float64{1, inf}); got != inf {
		t.Errorf("Mean with +Inf = %v", got)
	}
	if got := Variance([]float64{2, 4, 4, 4, 5, 5, 7, 9}); !closeTo(got, 32.0/7, 1e-15) {
		t.Errorf("Variance = %v, want 32/7", got)
	}
	if !math.IsNaN(StdDev([]float64{1})) {
		t.Error("the deviation of one value is not NaN")
	}
}
