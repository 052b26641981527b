package costmodel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestSurface(t *testing.T) {
	assaytest.TestLearner(t, func() assay.Learner { return Surface{} }, assaytest.LearnerOptions{Tolerance: 1e-6})
}

// The scale of outcomes is their standard deviation, also near the largest number, and 1 where they do not differ.
func TestStandard(t *testing.T) {
	for _, c := range []struct{ y, want []float64 }{
		{nil, []float64{0, 1}},
		{[]float64{5, 5}, []float64{5, 1}},
		{[]float64{1, 2, 3}, []float64{2, math.Sqrt(2.0 / 3)}},
		{[]float64{-1e308, 1e308}, []float64{0, 1e308}},
		{[]float64{-1e-100, 1e-100}, []float64{0, 1e-100}},
		{[]float64{1e6, 1e6 * (1 + 1e-15)}, []float64{1e6, 1}}, // apart by rounding
		{[]float64{1, 1 + 1e-9}, []float64{1, 5e-10}},
	} {
		mean, sd := standard(c.y)
		if !(math.Abs(mean-c.want[0]) <= 1e-9 && math.Abs(sd/c.want[1]-1) <= 1e-6) { // nor NaN
			t.Errorf("%v: %v and %v, want %v", c.y, mean, sd, c.want)
		}
	}
}

// A logarithm needs a range above 0 that has a length, and whose reciprocals are finite.
func TestSurfaceAllows(t *testing.T) {
	p := &surface{lo: []float64{1, 0, -1, 2, 1e-320}, hi: []float64{2, 2, 2, 2, 1}}
	for j, want := range []bool{true, false, false, false, false} {
		if got := p.allows(j, Logarithm); got != want || !p.allows(j, Identity) {
			t.Errorf("from %v to %v: a logarithm is allowed: %v", p.lo[j], p.hi[j], got)
		}
	}
}

// A small space is judged by all of its assignments, a larger one by a part.
func TestSomeOf(t *testing.T) {
	for n, want := range map[int]int{1: 1, maxTargets: maxTargets, maxTargets + 1: maxTargets / 2} {
		space := spaceOf(t, assay.Param{Name: "n", Kind: assay.Integer, Lo: 1, Hi: float64(n)})
		if got := len(someOf(space, rand.New(rand.NewPCG(1, 0)))); got != want {
			t.Errorf("%d assignments: %d are looked at, want %d", n, got, want)
		}
	}
}

// Eight runs of T = 100·size/cpu^0.8 with 1 % of noise are enough for 5 % in a range of 16
// by 16, and most of the errors are within two deviations.
func TestSurfaceFindsPowerLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	value := func(cpu, size float64) float64 { return math.Log(100*size) - 0.8*math.Log(cpu) }
	l := Surface{Lo: []float64{1, 1}, Hi: []float64{16, 16}, Scale: 1}
	var d assay.Data
	for _, x := range [][]float64{{1, 1}, {16, 1}, {1, 16}, {16, 16}, {4, 4}, {2, 9}, {9, 2}, {8, 8}} {
		d.X = append(d.X, x)
		d.Y = append(d.Y, value(x[0], x[1])+0.01*rng.NormFloat64())
	}
	p, err := l.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	inside := 0
	for cpu := 1.0; cpu <= 16; cpu++ {
		for size := 1.0; size <= 16; size++ {
			q := p.Predict([]float64{cpu, size})
			e := math.Abs(q.Mean - value(cpu, size))
			sum += e / 256
			if e <= 2*q.Std {
				inside++
			}
		}
	}
	if sum > 0.05 || inside < 230 {
		t.Errorf("mean error %.3f, %d of 256 within two deviations", sum, inside)
	}
}

// The closed form of leaving a group out is the prediction of a fit without its examples.
func TestSurfaceLeaveOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	var d assay.Data
	groups := [][]int{{0}, {1, 7, 9}, {2}, {3}, {4, 5}, {6}, {8}, {10}, {11}}
	for range 12 {
		x := []float64{rng.Float64(), rng.Float64() * 3}
		d.X, d.Y = append(d.X, x), append(d.Y, math.Sin(3*x[0])+x[1])
	}
	d.X[5] = d.X[4] // two runs of one assignment
	p, err := Surface{}.fit(d)
	if err != nil {
		t.Fatal(err)
	}
	all := p.leaveOut(groups)
	for _, group := range groups {
		q := &surface{n: p.n - len(group), d: p.d, mean: p.mean, scale: p.scale, lo: p.lo, hi: p.hi, warp: p.warp, h: p.h}
		for k := range p.n {
			if !slices.Contains(group, k) {
				q.z = append(q.z, p.z[k*p.d:(k+1)*p.d]...)
				q.y = append(q.y, p.y[k])
			}
		}
		if !q.factorize() {
			t.Fatal("singular")
		}
		for _, i := range group {
			got, want := all[i], q.Predict(d.X[i])
			if !(math.Abs(got.Mean-want.Mean) <= 1e-6) || !(math.Abs(got.Std-want.Std) <= 1e-6) {
				t.Errorf("example %d: got %+v, want %+v", i, got, want)
			}
		}
	}
}

// Some of many examples choose the kernel, and all are fitted to.
func TestSurfaceOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	var d assay.Data
	for range 400 {
		x := []float64{rng.Float64(), 1 + rng.Float64()*7}
		d.X, d.Y = append(d.X, x), append(d.Y, math.Sin(6*x[0])+1/x[1])
	}
	p, err := Surface{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range d.X {
		if q := p.Predict(x); !(math.Abs(q.Mean-d.Y[i]) <= 0.02) {
			t.Errorf("example %d: got %+v, want %v", i, q, d.Y[i])
		}
	}
}

func BenchmarkSurface(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 0))
	var d assay.Data
	for range 40 {
		x := []float64{1 + rng.Float64(), rng.Float64() * 3, 2 + rng.Float64(), rng.Float64()}
		d.X, d.Y = append(d.X, x), append(d.Y, math.Sin(3*x[0])+x[1]*x[2]+x[3])
	}
	for b.Loop() {
		if _, err := (Surface{}).Fit(d); err != nil {
			b.Fatal(err)
		}
	}
}
