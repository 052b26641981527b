package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"pgregory.net/rapid"
)

var interpolants = []Interpolant{Multilinear, Cubic, Spline, NaturalSpline}

func TestInterpolateConformance(t *testing.T) {
	for _, by := range interpolants {
		t.Run(by.String(), func(t *testing.T) {
			assaytest.TestLearner(t, func() assay.Learner { return Interpolate{By: by} }, assaytest.LearnerOptions{})
		})
	}
	t.Run("few", func(t *testing.T) {
		assaytest.TestLearner(t, func() assay.Learner {
			return Interpolate{By: Cubic, MaxExamples: 20, Seed: 3}
		}, assaytest.LearnerOptions{})
	})
}

// lattice returns f on the full grid of the axes, in random order.
func lattice(axes [][]float64, f func([]float64) float64, rng *rand.Rand) assay.Data {
	X := [][]float64{{}}
	for _, a := range axes {
		var next [][]float64
		for _, x := range X {
			for _, v := range a {
				next = append(next, append(append([]float64(nil), x...), v))
			}
		}
		X = next
	}
	rng.Shuffle(len(X), func(i, j int) { X[i], X[j] = X[j], X[i] })
	d := assay.Data{X: X}
	for _, x := range X {
		d.Y = append(d.Y, f(x))
	}
	return d
}

func isGrid(p assay.Predictor) bool {
	_, ok := p.(*interpolated).surface.(*grid)
	return ok
}

// On a full grid with uneven distances each interpolant reproduces products of polynomials of its
// degree, 1, 2 or 3, in each feature.
func TestInterpolateReproduces(t *testing.T) {
	axes := [][]float64{{-2, -1.5, 0, 1, 4}, {0, 10, 11, 30}, {3, 3.5, 5, 6, 6.25}}
	degree := map[Interpolant]int{Multilinear: 1, Cubic: 2, Spline: 3, NaturalSpline: 1}
	for _, by := range interpolants {
		rng := rand.New(rand.NewPCG(4, 4))
		poly := func(v, scale float64) (sum float64) {
			for k := range degree[by] + 1 {
				sum += math.Pow(v/scale, float64(k)) * float64(1+(k*7+3)%5)
			}
			return sum
		}
		f := func(x []float64) float64 { return poly(x[0], 4)*poly(x[1], 30) - 2*poly(x[2], 6)*poly(x[0], 4) }
		p := mustFit(t, Interpolate{By: by}, lattice(axes, f, rng))
		if !isGrid(p) {
			t.Fatalf("%v: the grid was not found", by)
		}
		for range 200 {
			x := []float64{-2 + 6*rng.Float64(), 30 * rng.Float64(), 3 + 3.25*rng.Float64()}
			if got, want := p.Predict(x).Mean, f(x); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
				t.Fatalf("%v at %v: got %v, want %v", by, x, got, want)
			}
		}
	}
}

// Halfway between equally distant values, cubic convolution is
// (-y_0 + 9y_1 + 9y_2 - y_3)/16.
// Reference: Keys 1981, eq. 15, with s = 1/2
func TestInterpolateKeys(t *testing.T) {
	d := assay.Data{X: [][]float64{{0}, {1}, {2}, {3}, {4}, {5}}, Y: []float64{3, 1, 4, 1, 5, 9}}
	p := mustFit(t, Interpolate{By: Cubic}, d)
	for i := 1; i < 4; i++ {
		want := (-d.Y[i-1] + 9*d.Y[i] + 9*d.Y[i+1] - d.Y[i+2]) / 16
		if got := p.Predict([]float64{float64(i) + 0.5}).Mean; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("at %v.5: got %v, want %v", i, got, want)
		}
	}
}

// The natural spline through 0, 1, 0 at -1, 0, 1 is 1 - 3/2·x² + |x|³/2.
func TestInterpolateNaturalSpline(t *testing.T) {
	p := mustFit(t, Interpolate{By: NaturalSpline}, assay.Data{X: [][]float64{{-1}, {0}, {1}}, Y: []float64{0, 1, 0}})
	for _, x := range []float64{-0.9, -0.5, 0.1, 0.7} {
		want := 1 - 1.5*x*x + math.Abs(x*x*x)/2
		if got := p.Predict([]float64{x}).Mean; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("at %v: got %v, want %v", x, got, want)
		}
	}
}

// Scattered points reproduce linear functions, and a point beyond their box has the value of the box.
func TestInterpolateScattered(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	f := func(x []float64) float64 { return 3 + 2*x[0] - 5*x[1] + x[2]/100 }
	var d assay.Data
	for range 40 {
		x := []float64{rng.Float64(), 10 * rng.Float64(), 1000 * rng.Float64()}
		d.X, d.Y = append(d.X, x), append(d.Y, f(x))
	}
	lo, hi := extent(d.X)
	for _, by := range interpolants {
		p := mustFit(t, Interpolate{By: by}, d)
		if isGrid(p) {
			t.Fatalf("%v: random points are a grid", by)
		}
		for range 50 {
			x := []float64{2*rng.Float64() - 0.5, 12 * rng.Float64(), 1500 * rng.Float64()}
			in := make([]float64, 3)
			for j := range in {
				in[j] = min(max(x[j], lo[j]), hi[j])
			}
			if got, want := p.Predict(x).Mean, f(in); !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) {
				t.Errorf("%v at %v: got %v, want %v", by, x, got, want)
			}
		}
	}
}

// A smooth function is approximated better by a higher order, on a grid and
// scattered.
func TestInterpolateOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	f := func(x []float64) float64 { return math.Sin(3*x[0]) * math.Exp(x[1]) }
	var axis []float64
	for i := range 9 {
		axis = append(axis, float64(i)/8)
	}
	onGrid := lattice([][]float64{axis, axis}, f, rng)
	var scattered assay.Data
	for range 81 {
		x := []float64{rng.Float64(), rng.Float64()}
		scattered.X, scattered.Y = append(scattered.X, x), append(scattered.Y, f(x))
	}
	for name, d := range map[string]assay.Data{"grid": onGrid, "scattered": scattered} {
		worst := map[Interpolant]float64{}
		for _, by := range interpolants {
			p := mustFit(t, Interpolate{By: by}, d)
			if isGrid(p) != (name == "grid") {
				t.Fatalf("%s: taken for the other", name)
			}
			for i := range 20 {
				x := []float64{0.2 + 0.03*float64(i), 0.8 - 0.03*float64(i)}
				worst[by] = max(worst[by], math.Abs(p.Predict(x).Mean-f(x)))
			}
		}
		t.Logf("%s: %v", name, worst)
		if !(worst[Cubic] < worst[Multilinear]/2) || name == "grid" && !(worst[Spline] < worst[Cubic]) {
			t.Errorf("%s: worst errors %v do not fall with the order", name, worst)
		}
	}
}

// Every interpolant is exact at its examples, and between them on a grid stays
// finite: grids with uneven axes and categories, grids with a hole, scattered.
func TestInterpolateExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		params := []assay.Param{
			{Name: "a", Kind: assay.Real, Lo: -3, Hi: 5},
			{Name: "b", Kind: assay.Integer, Lo: 1, Hi: float64(rapid.IntRange(1, 6).Draw(t, "values"))},
			{Name: "c", Kind: assay.Categorical, Levels: []string{"x", "y", "z"}},
			{Name: "d", Kind: assay.Switch, Levels: []string{"off", "on"}},
		}
		space, err := assay.NewSpace(params)
		if err != nil {
			t.Fatal(err)
		}
		var d assay.Data
		as := []float64{-3, -1, rng.Float64(), 2, 5}[:rapid.IntRange(1, 5).Draw(t, "as")]
		for _, a := range as {
			for b := range params[1].Count() {
				for c := range 6 {
					d.X = append(d.X, space.Encode(assay.Config{a, float64(b + 1), float64(c % 3), float64(c / 3)}))
					d.Y = append(d.Y, 100*rng.NormFloat64())
				}
			}
		}
		hole := rapid.Bool().Draw(t, "hole")
		if hole {
			k := rng.IntN(len(d.Y))
			d.X, d.Y = append(d.X[:k:k], d.X[k+1:]...), append(d.Y[:k:k], d.Y[k+1:]...)
		}
		by := rapid.SampledFrom(interpolants).Draw(t, "by")
		p, err := Interpolate{By: by}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		if isGrid(p) == hole {
			t.Fatalf("%v: grid is %v with %d values, hole %v", by, isGrid(p), len(d.Y), hole)
		}
		for i, x := range d.X {
			if got := p.Predict(x).Mean; !(math.Abs(got-d.Y[i]) <= 1e-6) {
				t.Fatalf("%v: got %v at example %d, want %v", by, got, i, d.Y[i])
			}
		}
		for range 10 {
			x := make([]float64, len(d.X[0]))
			for j := range x {
				x[j] = 1.4*rng.Float64() - 0.2
			}
			if q := p.Predict(x); math.IsNaN(q.Mean) || !(math.Abs(q.Mean) <= 1e5) {
				t.Fatalf("%v: %v at %v", by, q.Mean, x)
			}
		}
	})
}

// A spline through many values costs the square of their number at most.
func TestInterpolateLong(t *testing.T) {
	var d assay.Data
	for i := range 3000 {
		x := float64(i) / 100
		d.X, d.Y = append(d.X, []float64{x}), append(d.Y, math.Sin(x))
	}
	for _, by := range interpolants {
		p := mustFit(t, Interpolate{By: by}, d)
		if got := p.Predict([]float64{12.345}).Mean; !(math.Abs(got-math.Sin(12.345)) <= 1e-4) {
			t.Errorf("%v: got %v, want %v", by, got, math.Sin(12.345))
		}
	}
}
