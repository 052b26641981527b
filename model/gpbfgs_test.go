package model

import (
	"math"
	"testing"
)

func TestBFGS(t *testing.T) {
	rosenbrock := func(x, g []float64) float64 {
		a, b := 1-x[0], x[1]-x[0]*x[0]
		g[0], g[1] = -2*a-400*x[0]*b, 200*b
		return a*a + 100*b*b
	}
	bowl := func(x, g []float64) (v float64) {
		for i, w := range []float64{1, 30, 1e3} {
			g[i] = 2 * w * (x[i] - float64(i))
			v += w*(x[i]-float64(i))*(x[i]-float64(i)) + 1
		}
		return v
	}
	// log is not defined for x <= 0; the minimum of x - log x is at 1.
	barrier := func(x, g []float64) float64 {
		if x[0] <= 0 {
			return math.NaN()
		}
		g[0] = 1 - 1/x[0]
		return x[0] - math.Log(x[0])
	}
	for _, c := range []struct {
		name        string
		f           func(x, g []float64) float64
		start, want []float64
	}{
		{"rosenbrock", rosenbrock, []float64{-1.2, 1}, []float64{1, 1}},
		{"bowl", bowl, []float64{9, -9, 9}, []float64{0, 1, 2}},
		{"barrier", barrier, []float64{30}, []float64{1}},
		{"minimum", bowl, []float64{0, 1, 2}, []float64{0, 1, 2}},
	} {
		evaluations := 0
		got, value := minimizeBFGS(func(x, g []float64) float64 { evaluations++; return c.f(x, g) }, c.start, 100)
		g := make([]float64, len(got))
		if value != c.f(got, g) {
			t.Errorf("%s: value %v is not that of %v", c.name, value, got)
		}
		for i := range got {
			if !(math.Abs(got[i]-c.want[i]) <= 0.01) {
				t.Errorf("%s: got %v after %d evaluations, want %v", c.name, got, evaluations, c.want)
			}
		}
		for _, most := range []int{1, 2, 7} {
			evaluations = 0
			_, v := minimizeBFGS(func(x, g []float64) float64 { evaluations++; return c.f(x, g) }, c.start, most)
			if evaluations > most || v > c.f(c.start, g) {
				t.Errorf("%s: %d evaluations of %d, value %v from %v", c.name, evaluations, most, v, c.f(c.start, g))
			}
		}
	}
	infinite := func([]float64, []float64) float64 { return math.Inf(1) }
	if x, v := minimizeBFGS(infinite, []float64{3}, 9); x[0] != 3 || !math.IsInf(v, 1) {
		t.Errorf("got %v and %v, want the start", x, v)
	}
}
