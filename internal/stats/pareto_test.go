package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func drawPareto(t *rapid.T) Pareto {
	return Pareto{
		Alpha: rapid.Float64Range(0.2, 6).Draw(t, "alpha"),
		Beta:  rapid.Float64Range(0.01, 100).Draw(t, "beta"),
	}
}

func TestParetoIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPareto(t)
		q := rapid.Float64Range(0, 0.999).Draw(t, "q")
		x := p.Quantile(q)
		if got := p.CDF(x); !(math.Abs(got-q) <= 1e-12) {
			t.Fatalf("CDF(Quantile(%v)) = %v", q, got)
		}
		if got := p.CDF(x) + p.Survival(x); !(math.Abs(got-1) <= 1e-12) {
			t.Fatalf("CDF + Survival = %v at %v", got, x)
		}
		// The density is the derivative of the distribution function.
		h := x * 1e-5
		if slope := (p.CDF(x+2*h) - p.CDF(x)) / (2 * h); !closeTo(slope, p.PDF(x+h), 1e-5) {
			t.Fatalf("slope %v, density %v at %v", slope, p.PDF(x+h), x)
		}
		if p.CDF(p.Beta*0.99) != 0 || p.Survival(p.Beta*0.99) != 1 || p.PDF(p.Beta*0.99) != 0 {
			t.Fatal("there is something below the least value")
		}
	})
	if got := (Pareto{1, 1}).Quantile(1); got != inf {
		t.Errorf("Quantile(1) = %v, want +Inf", got)
	}
}

// The distribution of drawn values is the one that is written down
// (Kolmogorov-Smirnov at 1 %).
func TestParetoDraw(t *testing.T) {
	p := Pareto{1.7, 3}
	rng := newRand(13)
	const n = 4000
	x := make([]float64, n)
	for i := range x {
		x[i] = p.Draw(rng)
	}
	if d, limit := ksDistance(x, p.CDF), 1.63/math.Sqrt(n); d > limit {
		t.Errorf("distance %.4f from the law, want <= %.4f", d, limit)
	}
	if Min(x) < p.Beta {
		t.Errorf("drew %v, below %v", Min(x), p.Beta)
	}
}

// ksDistance returns the greatest distance of the sample's distribution
// function from cdf.
func ksDistance(x []float64, cdf func(float64) float64) float64 {
	s := descending(x)
	var most float64
	for i, v := range s {
		n := float64(len(s))
		q := 1 - cdf(v)
		most = max(most, math.Abs(q-float64(i)/n), math.Abs(q-float64(i+1)/n))
	}
	return most
}

func TestParetoPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"minimum of none": func() { Pareto{1, 1}.MinOf(0) },
		"lambda 0":        func() { Pareto{1, 1}.Replicates(0, 0.1) },
		"epsilon 1":       func() { Pareto{1, 1}.Replicates(1, 1) },
		"quantile 2":      func() { Pareto{1, 1}.Quantile(2) },
		"rho 1":           func() { TwoJob{1}.Time(1) },
		"no mean":         func() { TwoJob{0.2}.Pareto(1, 1) },
		"no points":       func() { Replicates(4, 0) },
		"level 1":         func() { MedianInterval(nil, 1) },
		"lengths":         func() { Correlation([]float64{1}, nil) },
		"pairs":           func() { ComparePaired([]float64{1}, nil, CompareOptions{}) },
		"NaN ranked":      func() { MannWhitney([]float64{nan}, []float64{1}) },
		"resamples":       func() { Bootstrap(nil, Mean, BootstrapOptions{Resamples: -1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
}
