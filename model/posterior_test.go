package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// lineCovariance returns the covariance of n outcomes at x with a Matérn kernel and noise.
func lineCovariance(x []float64, noise float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		k := Matern52((x[i] - x[j]) * (x[i] - x[j]))
		if i == j {
			k += noise
		}
		return k
	}
}

// Two outcomes by hand: K = [[1.5, k], [k, 1.5]].
func TestPosteriorOfTwo(t *testing.T) {
	x, y := []float64{0, 1}, []float64{2, -1}
	k := (1 + math.Sqrt(5) + 5.0/3) * math.Exp(-math.Sqrt(5))
	det := 1.5*1.5 - k*k
	alpha := []float64{(1.5*y[0] - k*y[1]) / det, (1.5*y[1] - k*y[0]) / det}
	p, err := NewPosterior(y, lineCovariance(x, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	evidence := -(y[0]*alpha[0]+y[1]*alpha[1])/2 - math.Log(det)/2
	near("evidence", p.LogEvidence(), evidence)
	near("evidence alone", LogEvidence(y, lineCovariance(x, 0.5)), evidence)
	near("mean", p.Mean([]float64{1, k}), alpha[0]+k*alpha[1])
	v := []float64{1, k}
	p.Whiten(v)
	near("known variance", v[0]*v[0]+v[1]*v[1], (1.5-2*k*k+1.5*k*k)/det)
}

func TestPosteriorOfNothingPositive(t *testing.T) {
	same := func(int, int) float64 { return 1 }
	if p, err := NewPosterior([]float64{1, 2}, same); err == nil {
		t.Errorf("got %v of a singular covariance", p)
	}
	if got := LogEvidence([]float64{1, 2}, same); !math.IsInf(got, -1) {
		t.Errorf("evidence %v of a singular covariance", got)
	}
}

// The closed form of leaving a group out agrees with a process without it.
func TestPosteriorLeaveOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	const n = 12
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 3 * rng.Float64()
		y[i] = math.Sin(x[i]) + 0.1*rng.NormFloat64()
	}
	all, err := NewPosterior(y, lineCovariance(x, 0.01))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range [][]int{{0}, {3, 11}, {1, 2, 7}} {
		above, variance := all.LeaveOut(group)
		var restX, restY []float64
		for i := range n {
			if !slices.Contains(group, i) {
				restX, restY = append(restX, x[i]), append(restY, y[i])
			}
		}
		rest, err := NewPosterior(restY, lineCovariance(restX, 0.01))
		if err != nil {
			t.Fatal(err)
		}
		for a, i := range group {
			k := make([]float64, len(restX))
			for j, u := range restX {
				k[j] = Matern52((x[i] - u) * (x[i] - u))
			}
			mean := rest.Mean(k)
			rest.Whiten(k)
			left := 1.01
			for _, v := range k {
				left -= v * v
			}
			if !(math.Abs(y[i]-mean-above[a]) <= 1e-9) || !(math.Abs(left-variance[a]) <= 1e-9) {
				t.Errorf("outcome %d of %v: %v above with variance %v, want %v and %v",
					i, group, above[a], variance[a], y[i]-mean, left)
			}
		}
	}
}

// The numbers are those of mat.Cholesky to the last bit, so that proposals of recorded studies can be repeated.
func TestPosteriorIsCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	for _, n := range []int{1, 2, 7, 33, 130} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], y[i] = 10*rng.Float64(), rng.NormFloat64()
		}
		covariance := lineCovariance(x, 0.01)
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				k.SetSym(i, j, covariance(i, j))
			}
		}
		var chol mat.Cholesky
		var alpha mat.VecDense
		chol.Factorize(k)
		if err := chol.SolveVecTo(&alpha, mat.NewVecDense(n, y)); err != nil {
			t.Fatal(err)
		}
		p, err := NewPosterior(y, covariance)
		if err != nil {
			t.Fatal(err)
		}
		evidence := -mat.Dot(mat.NewVecDense(n, y), &alpha)/2 - chol.LogDet()/2
		if p.LogEvidence() != evidence || !slices.Equal(p.alpha, alpha.RawVector().Data) {
			t.Errorf("%d outcomes: evidence %v and α %v, want %v and %v", n, p.LogEvidence(), p.alpha, evidence, &alpha)
		}
		var lower mat.TriDense
		chol.LTo(&lower)
		for i := range n {
			for j := range i + 1 {
				if p.lower[i*n+j] != lower.At(i, j) {
					t.Fatalf("%d outcomes: L[%d, %d] is %v, want %v", n, i, j, p.lower[i*n+j], lower.At(i, j))
				}
			}
		}
	}
}
