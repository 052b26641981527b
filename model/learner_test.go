package model

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name    string
		learner assay.Learner
		opts    assaytest.LearnerOptions
	}{
		{"linear", Linear{}, assaytest.LearnerOptions{}},
		{"ridge", Linear{Ridge: 0.1}, assaytest.LearnerOptions{}},
		{"knn", KNN{}, assaytest.LearnerOptions{}},
		{"nearest", KNN{K: 1}, assaytest.LearnerOptions{}},
		{"forest", Forest{Trees: 20}, assaytest.LearnerOptions{}},
		{"quick forest", Forest{Trees: 7, MaxFeatures: 2, MinLeaf: 3, Seed: 5}, assaytest.LearnerOptions{}},
		{"tree", Forest{Trees: 1}, assaytest.LearnerOptions{}},
		{"drop", DropCensored(Forest{Trees: 20}), assaytest.LearnerOptions{Censored: true}},
		{"impute", Impute(Forest{Trees: 20}, 0), assaytest.LearnerOptions{Censored: true}},
		{"impute linear", Impute(Linear{Ridge: 0.01}, 3), assaytest.LearnerOptions{Censored: true}},
		{"impute without std", Impute(KNN{K: 1}, 0), assaytest.LearnerOptions{Censored: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assaytest.TestLearner(t, func() assay.Learner { return c.learner }, c.opts)
		})
	}
}

// table returns n examples with d features, of which every third is 0 or 1 and
// every third one of five values, and an outcome of all of them with noise.
func table(n, d int, seed uint64) assay.Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	var data assay.Data
	for range n {
		x := make([]float64, d)
		y := 0.1 * rng.NormFloat64()
		for j := range x {
			switch j % 3 {
			case 0:
				x[j] = rng.Float64()
			case 1:
				x[j] = float64(rng.IntN(2))
			default:
				x[j] = float64(rng.IntN(5)) / 4
			}
			y += x[j] * x[(j+1)%d]
		}
		data.X, data.Y = append(data.X, x), append(data.Y, y)
	}
	return data
}

func mustFit(tb testing.TB, l assay.Learner, d assay.Data) assay.Predictor {
	tb.Helper()
	p, err := l.Fit(d)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// fitPanics checks that the options of a learner are out of range: Fit panics.
func fitPanics(t *testing.T, l assay.Learner) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%+v: no panic", l)
		}
	}()
	_, _ = l.Fit(assay.Data{X: [][]float64{{1}, {2}}, Y: []float64{1, 2}})
}

// needsExact checks that nothing but censored outcomes is too little for a learner.
func needsExact(t *testing.T, l assay.Learner) {
	t.Helper()
	d := assay.Data{X: [][]float64{{0}, {1}}, Y: []float64{1, 2}, Censored: []bool{true, true}}
	if _, err := l.Fit(d); !errors.Is(err, assay.ErrTooFew) {
		t.Errorf("got %v, want ErrTooFew", err)
	}
}
