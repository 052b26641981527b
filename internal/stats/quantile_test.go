package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var inf, nan = math.Inf(1), math.NaN()

// newRand returns the source of a statistical test: seeds are fixed, so that a
// test that passes always passes.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		p    float64
		want float64
	}{
		{nil, 0.5, nan},
		{[]float64{1, nan}, 0.5, nan},
		{[]float64{7}, 0.3, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{4, 1, 3, 2}, 0.25, 1.75}, // R: quantile(1:4, .25)
		{[]float64{4, 1, 3, 2}, 0, 1},
		{[]float64{4, 1, 3, 2}, 1, 4},
		{[]float64{1, inf, inf}, 0.5, inf},
		{[]float64{1, inf}, 0.5, inf},
		{[]float64{1, 2, inf}, 0.5, 2},
	} {
		if got := Quantile(c.x, c.p); !closeTo(got, c.want, 1e-15) {
			t.Errorf("Quantile(%v, %v) = %v, want %v", c.x, c.p, got, c.want)
		}
	}
	for name, got := range map[string]float64{"Min": Min(nil), "Max": Max(nil), "Mean": Mean(nil)} {
		if !math.IsNaN(got) {
			t.Errorf("%s of nothing is %v, want NaN", name, got)
		}
	}
}

func TestQuantileProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 40).Draw(t, "x")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		before := slices.Clone(x)
		q := Quantile(x, p)
		if !slices.Equal(x, before) {
			t.Fatal("the argument was reordered")
		}
		if tol := 1e-9; q < Min(x)-tol || q > Max(x)+tol {
			t.Fatalf("quantile %v out of [%v, %v]", q, Min(x), Max(x))
		}
		below := 0
		for _, v := range x {
			if v < q-1e-9 {
				below++
			}
		}
		if n := float64(len(x) - 1); float64(below) > n*p+1 {
			t.Fatalf("%d of %d values are below the %v-quantile", below, len(x), p)
		}
	})
}

// Le Boudec 2010, Table A.1: the interval of the median at 95 % is between the
// order statistics j and k.
func TestMedianIntervalTable(t *testing.T) {
	for _, c := range []struct {
		n, j, k int
		level   float64
	}{
		{6, 1, 6, 0.969},
		{7, 1, 7, 0.984},
		{8, 1, 8, 0.992},
		{9, 2, 8, 0.961},
		{10, 2, 9, 0.979},
		{12, 3, 10, 0.961},
		{15, 4, 12, 0.965},
		{20, 6, 15, 0.959},
		{30, 10, 21, 0.957},
	} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = float64((i*7919)%c.n + 1) // a permutation of 1..n: 7919 is prime
		}
		e := MedianInterval(x, 0)
		if e.Low != float64(c.j) || e.High != float64(c.k) || !(math.Abs(e.Level-c.level) <= 6e-4) || len(e.Warnings) > 0 {
			t.Errorf("n=%d: got [%v, %v] at %.4f %v, want [%d, %d] at %.3f",
				c.n, e.Low, e.High, e.Level, e.Warnings, c.j, c.k, c.level)
		}
	}
}

func TestMedianIntervalTooSmall(t *testing.T) {
	for _, c := range []struct {
		n     int
		level float64
		want  string
	}{
		{5, 0.95, "need >= 6 runs for a 95 % interval of the median, have 5"},
		{7, 0.99, "need >= 8 runs for a 99 % interval of the median, have 7"},
		{4, 0.9, "need >= 5 runs for a 90 % interval of the median, have 4"},
		{0, 0.95, "no median of 0 values"},
	} {
		e := MedianInterval(make([]float64, c.n), c.level)
		if !math.IsInf(e.Low, -1) || !math.IsInf(e.High, 1) {
			t.Errorf("n=%d: interval [%v, %v], want none", c.n, e.Low, e.High)
		}
		if len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0].Error(), c.want) {
			t.Errorf("n=%d: warnings %v, want %q", c.n, e.Warnings, c.want)
		}
	}
	if e := MedianInterval([]float64{1, 2, 3, 4, 5}, 0.9); e.Low != 1 || e.High != 5 || e.Level != 0.9375 {
		t.Errorf("5 runs at 90 %%: %+v", e)
	}
}

// The interval covers the true median as often as its level, whatever the
// distribution: here a Pareto law without a mean.
func TestMedianIntervalCovers(t *testing.T) {
	law := Pareto{Alpha: 0.8, Beta: 1}
	rng := newRand(1)
	const reps = 4000
	covered := 0
	var level float64
	for range reps {
		x := make([]float64, 11)
		for i := range x {
			x[i] = law.Draw(rng)
		}
		e := MedianInterval(x, 0.95)
		level = e.Level
		if e.Contains(law.Quantile(0.5)) {
			covered++
		}
	}
	// Three standard errors of a binomial share.
	if got, tol := float64(covered)/reps, 3*math.Sqrt(level*(1-level)/reps); !(math.Abs(got-level) <= tol) {
		t.Errorf("coverage %.4f, want %.4f ± %.4f", got, level, tol)
	}
}

// A large sample neither underflows nor loses the level.
func TestMedianIntervalLarge(t *testing.T) {
	x := make([]float64, 5000)
	for i := range x {
		x[i] = float64(i)
	}
	e := MedianInterval(x, 0.95)
	half := 1.96 * math.Sqrt(5000) / 2 // normal approximation
	if e.Level < 0.95 || e.Level > 0.952 || !(math.Abs(e.High-e.Low-2*half) <= 3) {
		t.Errorf("got [%v, %v] at %v, want 2499.5 ± %v", e.Low, e.High, e.Level, half)
	}
}
