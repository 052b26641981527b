package model

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

func TestLinearRecoversPlane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 5).Draw(t, "d")
		n := d + 2 + rapid.IntRange(0, 20).Draw(t, "n")
		data := table(n, d, rapid.Uint64().Draw(t, "seed"))
		b := rapid.SliceOfN(rapid.Float64Range(-10, 10), d, d).Draw(t, "b")
		plane := func(x []float64) float64 {
			y := 3.0
			for j := range x {
				y += b[j] * x[j]
			}
			return y
		}
		for i, x := range data.X {
			data.Y[i] = plane(x)
		}
		p, err := Linear{}.Fit(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range data.X { // whatever the rank
			if got, want := p.Predict(x), plane(x); !near(got.Mean, want, 1e-9) || got.Std > 1e-7 {
				t.Fatalf("at %v: got %+v, want mean %v and no error", x, got, want)
			}
		}
	})
}

// Neither the mean nor the std depends on the units of features, nor, ridge
// included, on the origin of the outcomes.
func TestLinearUnits(t *testing.T) {
	d := table(30, 4, 7)
	e := assay.Data{Y: make([]float64, 30)}
	unit := []float64{1e9, 1e-6, 3, -20}
	turn := func(x []float64) []float64 {
		z := make([]float64, 4)
		for j := range z {
			z[j] = 5 + unit[j]*x[j]
		}
		return z
	}
	for i, x := range d.X {
		e.X, e.Y[i] = append(e.X, turn(x)), 1000+d.Y[i]
	}
	for _, l := range []Linear{{}, {Ridge: 0.3}} {
		p, q := mustFit(t, l, d), mustFit(t, l, e)
		for _, x := range table(20, 4, 8).X {
			a, b := p.Predict(x), q.Predict(turn(x))
			if !near(b.Mean-1000, a.Mean, 1e-6) || !near(b.Std, a.Std, 1e-6) {
				t.Errorf("%+v at %v: got %+v in other units, want %+v", l, x, b, a)
			}
		}
	}
}

// One feature has closed forms: s = sqrt(RSS/(n-2)), and the prediction interval
// of a new outcome has variance s²(1 + 1/n + (x-x̄)²/Sxx). The data are Anscombe's
// first set: y = 3.00 + 0.500x, s = 1.237 (Anscombe 1973).
func TestLinearAnscombe(t *testing.T) {
	xs := []float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}
	d := assay.Data{Y: []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}}
	for _, x := range xs {
		d.X = append(d.X, []float64{x})
	}
	p := mustFit(t, Linear{}, d)
	const s, sxx, mean = 1.2366033, 110, 9
	for _, x := range []float64{0, 9, 20} {
		got := p.Predict([]float64{x})
		if want := 3.0000909 + 0.5000909*x; !near(got.Mean, want, 1e-6) {
			t.Errorf("mean at %v: got %v, want %v", x, got.Mean, want)
		}
		if want := s * math.Sqrt(1+1/11.0+(x-mean)*(x-mean)/sxx); !near(got.Std, want, 1e-6) {
			t.Errorf("std at %v: got %v, want %v", x, got.Std, want)
		}
	}
}

func TestLinearUnderdetermined(t *testing.T) {
	// The scaled features of two examples are ±1; the shortest b shares the slope.
	d := assay.Data{X: [][]float64{{0, 0, 5}, {2, 4, 5}}, Y: []float64{1, 3}}
	p := mustFit(t, Linear{}, d)
	if got := p.Predict([]float64{2, 0, 9}); !near(got.Mean, 2, 1e-12) || !math.IsNaN(got.Std) {
		t.Errorf("got %+v, want mean 2 and std NaN: half of the rise is each feature's", got)
	}
	// A copy of a feature changes no prediction.
	a := table(20, 3, 3)
	b := assay.Data{Y: a.Y}
	for _, x := range a.X {
		b.X = append(b.X, append([]float64{x[0]}, x...))
	}
	pa, pb := mustFit(t, Linear{}, a), mustFit(t, Linear{}, b)
	for i, x := range a.X {
		if q, r := pa.Predict(x), pb.Predict(b.X[i]); !near(r.Mean, q.Mean, 1e-9) || !near(r.Std, q.Std, 1e-9) {
			t.Errorf("with a feature twice: got %+v, want %+v", r, q)
		}
	}
}

// With one scaled feature f, ridge divides the slope by 1 + Ridge.
func TestLinearRidgeShrinks(t *testing.T) {
	d := assay.Data{X: [][]float64{{-1}, {1}, {-1}, {1}}, Y: []float64{-3, 5, -1, 3}}
	for _, r := range []float64{0, 0.5, 1, 9} {
		p := mustFit(t, Linear{Ridge: r}, d)
		if got, want := p.Predict([]float64{1}).Mean, 1+3/(1+r); !near(got, want, 1e-12) {
			t.Errorf("ridge %v: got %v, want %v", r, got, want)
		}
	}
}

func TestLinearExtremes(t *testing.T) {
	const big = math.MaxFloat64
	d := assay.Data{X: [][]float64{{-big, 1}, {big, 5e-324}, {0, 0}, {big / 2, 1}}, Y: []float64{-big, big, 0, big / 3}}
	p := mustFit(t, Linear{}, d)
	for _, x := range d.X {
		if q := p.Predict(x); math.IsNaN(q.Mean) || math.IsInf(q.Mean, 0) || math.IsInf(q.Std, 0) {
			t.Errorf("at %v: got %+v", x, q)
		}
	}
}

func TestLinearNegativeRidge(t *testing.T) {
	fitPanics(t, Linear{Ridge: -1})
}

func BenchmarkLinear(b *testing.B) {
	d := table(500, 25, 1)
	p := mustFit(b, Linear{}, d)
	b.Run("fit", func(b *testing.B) {
		for b.Loop() {
			mustFit(b, Linear{}, d)
		}
	})
	b.Run("predict", func(b *testing.B) {
		for b.Loop() {
			p.Predict(d.X[0])
		}
	})
}
