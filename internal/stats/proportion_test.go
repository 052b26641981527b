package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay/internal/stats"
)

// Some intervals that tables of exact limits have, and the ends that need no table.
func TestProportion(t *testing.T) {
	for _, tt := range []struct {
		k, n             int
		level, low, high float64
	}{
		{0, 20, 0.95, 0, 0.1684},
		{1, 20, 0.95, 0.0013, 0.2487},
		{20, 20, 0.95, 0.8316, 1},
		{0, 0, 0.95, 0, 1},
	} {
		e := stats.Proportion(tt.k, tt.n, tt.level)
		if !(math.Abs(e.Low-tt.low) <= 1e-3) || !(math.Abs(e.High-tt.high) <= 1e-3) || e.N != tt.n || e.Level != tt.level {
			t.Errorf("%d of %d: %+v, want %v to %v", tt.k, tt.n, e, tt.low, tt.high)
		}
		if v := float64(tt.k) / float64(tt.n); e.Value != v && !(tt.n == 0 && math.IsNaN(e.Value)) {
			t.Errorf("%d of %d: %v", tt.k, tt.n, e.Value)
		}
	}
	for _, bad := range []func(){
		func() { stats.Proportion(-1, 2, 0.9) }, func() { stats.Proportion(3, 2, 0.9) },
		func() { stats.Proportion(1, 2, 1) }, func() { stats.Proportion(1, 2, 0) },
	} {
		panics(t, bad)
	}
}

func panics(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

// By the definition each end is where the tail beyond the observed count is half of one
// less the level.
func TestProportionHasExactTails(t *testing.T) {
	tail := func(n, from, to int, p float64) (sum float64) {
		for k := from; k <= to; k++ {
			c := 1.0
			for i := range k {
				c *= float64(n-i) / float64(i+1)
			}
			sum += c * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
		}
		return sum
	}
	for n := 1; n <= 30; n += 4 {
		for k := 0; k <= n; k++ {
			e := stats.Proportion(k, n, 0.95)
			if k > 0 && !(math.Abs(tail(n, k, n, e.Low)-0.025) <= 1e-6) {
				t.Errorf("%d of %d: below %v", k, n, e.Low)
			}
			if k < n && !(math.Abs(tail(n, 0, k, e.High)-0.025) <= 1e-6) {
				t.Errorf("%d of %d: above %v", k, n, e.High)
			}
		}
	}
}

// One value: the band is wider than its step. The bound of many equal ones is the value
// less the band; and for the worst kind of values, which are nearly always 0, it holds.
func TestMeanAtLeast(t *testing.T) {
	if got := stats.MeanAtLeast([]float64{5}, 0.95); got != 0 {
		t.Errorf("of one value: %v", got)
	}
	if got := stats.MeanAtLeast(nil, 0.95); got != 0 {
		t.Errorf("of none: %v", got)
	}
	equal := make([]float64, 50)
	for i := range equal {
		equal[i] = 4
	}
	if got, want := stats.MeanAtLeast(equal, 0.95), 4*(1-math.Sqrt(math.Log(20)/100)); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("of 50 equal values: %v, want %v", got, want)
	}
	// By hand, n = 8 and confidence 0.5: the band is sqrt(ln 2 / 16).
	band := math.Sqrt(math.Ln2 / 16)
	x := []float64{8, 1, 2, 3, 4, 5, 6, 7}
	want := 0.0
	for i := range 8 {
		want += max(0, 1-float64(i)/8-band)
	}
	if got := stats.MeanAtLeast(x, 0.5); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("got %v, want %v", got, want)
	}
	if x[0] != 8 {
		t.Error("the sample was sorted in place")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"exponential": rng.ExpFloat64, // mean 1
		"rare":        func() float64 { return 10 * math.Floor(rng.Float64()+0.1) },
	} {
		above := 0
		const samples, n = 2000, 20
		for range samples {
			x := make([]float64, n)
			for i := range x {
				x[i] = draw()
			}
			if stats.MeanAtLeast(x, 0.9) > 1 {
				above++
			}
		}
		if above > samples/10 {
			t.Errorf("%s: %d of %d bounds at 90 %% are above the mean", name, above, samples)
		}
	}
	panics(t, func() { stats.MeanAtLeast([]float64{-1}, 0.9) })
	panics(t, func() { stats.MeanAtLeast([]float64{math.NaN()}, 0.9) })
	panics(t, func() { stats.MeanAtLeast([]float64{1}, 0.4) })
}
