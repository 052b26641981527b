package stats

import (
	"math"
	"testing"
)

// References: Hollander & Wolfe 1999, Example 6.1 (mucociliary clearance): H = 0.771;
// P values by scipy.stats.kruskal and levene(center="median").
func TestGroupTests(t *testing.T) {
	mucus := [][]float64{{2.9, 3.0, 2.5, 2.6, 3.2}, {3.8, 2.7, 4.0, 2.4}, {2.8, 3.4, 3.7, 2.2, 2.0}}
	ties := [][]float64{{1, 2, 2, 3}, nil, {2, 3, 4, 4, 5}}
	for _, c := range []struct {
		name         string
		got          Test
		statistic, p float64
	}{
		{"Kruskal-Wallis", KruskalWallis(mucus...), 0.7714285714285722, 0.6799647735788936},
		{"Kruskal-Wallis with ties", KruskalWallis(ties...), 3.5526315789473686, 0.059451093311553724},
		{"Brown-Forsythe", BrownForsythe(mucus...), 4.476854343847557, 0.03780330908861111},
		{"Brown-Forsythe with ties", BrownForsythe(ties...), 0.36842105263157904, 0.5630278036985401},
		{"one group", KruskalWallis([]float64{1, 2, 3}), nan, 1},
		{"equal values", KruskalWallis([]float64{1, 1}, []float64{1}), nan, 1},
		{"no spread", BrownForsythe([]float64{1, 1}, []float64{2, 2}), nan, 1},
	} {
		if !closeTo(c.got.Statistic, c.statistic, 1e-9) || !closeTo(c.got.P, c.p, 1e-9) {
			t.Errorf("%s: %+v, want %v with P = %v", c.name, c.got, c.statistic, c.p)
		}
	}
}

// rejections returns how often the tests of draws reject at 5 %.
func rejections(reps int, test func() Test) float64 {
	n := 0
	for range reps {
		count(&n, test().P <= 0.05)
	}
	return float64(n) / float64(reps)
}

// A test rejects as often as its level under its null hypothesis; against
// a real difference, nearly always.
func TestTestSizesAndPower(t *testing.T) {
	rng := newRand(9)
	normal := func(n int, mean, sd float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = mean + sd*rng.NormFloat64()
		}
		return x
	}
	skewed := func(n int) []float64 {
		x := normal(n, 0, 1)
		for i := range x {
			x[i] = math.Exp(x[i])
		}
		return x
	}
	const reps = 1500
	tol := 3 * math.Sqrt(0.05*0.95/reps)
	for _, c := range []struct {
		name      string
		low, high float64 // share of rejections
		test      func() Test
	}{
		{"Shapiro-Francia, normal 10", 0.05 - tol, 0.05 + tol, func() Test { return ShapiroFrancia(normal(10, 5, 3)) }},
		{"Shapiro-Francia, normal 100", 0.05 - tol, 0.05 + tol, func() Test { return ShapiroFrancia(normal(100, 5, 3)) }},
		{"Shapiro-Francia, log-normal 30", 0.97, 1, func() Test { return ShapiroFrancia(skewed(30)) }},
		{"Kruskal-Wallis, same", 0.05 - tol, 0.05 + tol, func() Test {
			return KruskalWallis(skewed(10), skewed(10), skewed(10))
		}},
		{"Kruskal-Wallis, moved", 0.9, 1, func() Test {
			return KruskalWallis(normal(10, 0, 1), normal(10, 0, 1), normal(10, 2, 1))
		}},
		{"Brown-Forsythe, same", 0, 0.05 + tol, func() Test { return BrownForsythe(normal(15, 0, 1), normal(15, 9, 1)) }},
		{"Brown-Forsythe, wider", 0.9, 1, func() Test { return BrownForsythe(normal(20, 0, 1), normal(20, 0, 4)) }},
	} {
		if got := rejections(reps, c.test); got < c.low || got > c.high {
			t.Errorf("%s: rejects in %.3f, want %.3f to %.3f", c.name, got, c.low, c.high)
		}
	}
}
