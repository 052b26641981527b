package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestGPConformance(t *testing.T) {
	assaytest.TestLearner(t, func() assay.Learner { return GP{} }, assaytest.LearnerOptions{Censored: true})
	assaytest.TestLearner(t, func() assay.Learner {
		return GP{MaxExamples: 20, Evaluations: 5, Seed: 2}
	}, assaytest.LearnerOptions{Censored: true})
}

func TestGPOptionsPanic(t *testing.T) {
	for _, g := range []GP{{MaxExamples: -1}, {Evaluations: -1}} {
		fitPanics(t, g)
	}
}

func TestGPNeedsAnExactOutcome(t *testing.T) {
	needsExact(t, GP{})
}

// The kernel of Rasmussen and Williams, eq. 4.17, at r = 1.
func TestMatern(t *testing.T) {
	k, _ := matern(1)
	if want := (1 + math.Sqrt(5) + 5.0/3) * math.Exp(-math.Sqrt(5)); !(math.Abs(k-want) <= 1e-15) {
		t.Errorf("got %v, want %v", k, want)
	}
	for _, r2 := range []float64{1e5, 1e300, math.Inf(1)} {
		if k, dk := matern(r2); !(k >= 0 && k < 1e-12 && dk >= 0 && dk < 1e-12) {
			t.Errorf("r² = %v: got %v and %v, want 0", r2, k, dk)
		}
	}
}

// sine returns n noisy values of a function of the first of d features.
func sine(n, d int, noise float64, seed uint64) assay.Data {
	rng := rand.New(rand.NewPCG(seed, 0))
	var data assay.Data
	for range n {
		x := make([]float64, d)
		for j := range x {
			x[j] = rng.Float64()
		}
		data.X = append(data.X, x)
		data.Y = append(data.Y, 100+10*math.Sin(6*x[0])+noise*rng.NormFloat64())
	}
	return data
}

// The analytic gradient is the gradient of the value.
func TestMarginalGradient(t *testing.T) {
	d := sine(12, 3, 1, 1)
	m := newMarginal(newScaler(d.X), d)
	for _, theta := range [][]float64{m.start(nil), {0.2, -0.5, 1, 0.3, -2}, {-1, 0, 2, -1, -5}} {
		grad, scratch := make([]float64, 5), make([]float64, 5)
		m.loss(theta, grad)
		for i := range theta {
			const h = 1e-5
			at := func(e float64) float64 {
				p := append([]float64(nil), theta...)
				p[i] += e
				return m.loss(p, scratch)
			}
			want := (at(h) - at(-h)) / (2 * h)
			if !(math.Abs(grad[i]-want) <= 1e-5*max(1, math.Abs(want))) {
				t.Errorf("parameter %d at %v: got %v, want %v", i, theta, grad[i], want)
			}
		}
	}
}

// Tied features get one length, as in the likeliest process in which they have one.
func TestGPTies(t *testing.T) {
	d := sine(20, 3, 1, 3)
	fit := func(ties [][]int) (*gpPosterior, float64) {
		p, err := GP{Ties: ties, Evaluations: 200}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		g := p.(*gpPosterior)
		return g, newMarginal(newScaler(d.X), d).loss(g.theta, make([]float64, 5))
	}
	free, least := fit(nil)
	tied, loss := fit([][]int{{0, 2}})
	if free.theta[0] == free.theta[2] || tied.theta[0] != tied.theta[2] || tied.theta[0] == tied.theta[1] {
		t.Errorf("lengths %v, tied %v", free.theta, tied.theta)
	}
	for _, e := range []float64{-0.05, 0.05} {
		p := append([]float64(nil), tied.theta...)
		p[0], p[2] = p[0]+e, p[2]+e
		if l := newMarginal(newScaler(d.X), d).loss(p, make([]float64, 5)); l < loss || loss < least {
			t.Errorf("with lengths by %v elsewhere the loss is %v, not more than %v, free %v", e, l, loss, least)
		}
	}
}

// With two points the posterior is worked out by hand: K = [[a, b], [b, a]].
func TestGPPosteriorOfTwoPoints(t *testing.T) {
	X, Y := [][]float64{{0}, {1}}, []float64{-1, 1}
	m := newMarginal(newScaler(X), assay.Data{X: X, Y: Y})
	theta := []float64{math.Log(0.7), math.Log(2), math.Log(0.1)}
	p, err := m.posterior(theta)
	if err != nil {
		t.Fatal(err)
	}
	k := func(r float64) float64 { c, _ := matern(r * r / 0.49); return 2 * c }
	a, b := 2+0.1+gpLeastNoise, k(1)
	for _, x := range []float64{-0.3, 0, 0.25, 1, 9} {
		k0, k1 := k(x), k(1-x)
		det := a*a - b*b
		mean := (k0*(-a-b) + k1*(b+a)) / det
		variance := 2 - (k0*(a*k0-b*k1)+k1*(a*k1-b*k0))/det
		got := p.Predict([]float64{x})
		if !(math.Abs(got.Mean-mean) <= 1e-12) || !(math.Abs(got.Std-math.Sqrt(variance)) <= 1e-9) {
			t.Errorf("x = %v: got %+v, want %v and %v", x, got, mean, math.Sqrt(variance))
		}
	}
}

// The process learns the function from a few points among features that do not
// matter, its deviation is small at the data and large far from them, and the
// length scale of the feature that matters is the least.
func TestGPLearnsASine(t *testing.T) {
	d := sine(60, 5, 0.1, 3)
	p, err := GP{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	test := sine(200, 5, 0, 4)
	var e2, s2 float64
	inside := 0
	for i, x := range test.X {
		q := p.Predict(x)
		e := q.Mean - test.Y[i]
		e2 += e * e / 200
		s2 += (10 * math.Sin(6*x[0])) * (10 * math.Sin(6*x[0])) / 200
		if math.Abs(e) < 2*q.Std+0.2 {
			inside++
		}
	}
	if e2 > 0.01*s2 {
		t.Errorf("mean squared error %v of a variance of %v", e2, s2)
	}
	if inside < 180 {
		t.Errorf("%d of 200 within two deviations", inside)
	}
	near, far := p.Predict(d.X[0]).Std, p.Predict([]float64{9, 9, 9, 9, 9}).Std
	if !(near < 0.3*far) {
		t.Errorf("deviation %v at the data, %v far away", near, far)
	}
	w := p.(*gpPosterior).w
	for j := 1; j < 5; j++ {
		if !(w[0] > 4*w[j]) {
			t.Errorf("1/ℓ² of the feature that matters is %v, of feature %d %v", w[0], j, w[j])
		}
	}
}

func TestGPSubset(t *testing.T) {
	d := sine(80, 2, 0.1, 5)
	p, err := GP{MaxExamples: 30}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.(*gpPosterior).alpha); n != 30 {
		t.Errorf("%d examples used, want 30", n)
	}
}

// Equal rows with equal outcomes make the covariance singular but for the noise.
func TestGPDuplicates(t *testing.T) {
	var d assay.Data
	for i := range 60 {
		d.X = append(d.X, []float64{float64(i % 2)})
		d.Y = append(d.Y, float64(i%2))
	}
	p, err := GP{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Predict([]float64{1}); !(math.Abs(got.Mean-1) <= 0.01) || !(got.Std < 0.1) {
		t.Errorf("got %+v, want 1", got)
	}
}

func BenchmarkGPFit(b *testing.B) {
	d := mixedData(100, 1)
	d.Censored = nil
	for b.Loop() {
		if _, err := (GP{}).Fit(d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGPPredict(b *testing.B) {
	d := mixedData(100, 1)
	d.Censored = nil
	p, err := GP{}.Fit(d)
	if err != nil {
		b.Fatal(err)
	}
	X := mixedData(2000, 2).X
	out := make([]assay.Prediction, len(X))
	for b.Loop() {
		assay.PredictAll(p, X, out)
	}
}
