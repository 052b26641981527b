package model

import (
	"errors"
	"testing"

	"github.com/assay-run/assay"
)

// Every example is predicted by exactly one fit, which did not see it.
func TestCrossValidateHoldsOut(t *testing.T) {
	for _, c := range []struct{ n, folds, fits int }{{10, 2, 2}, {10, 3, 3}, {7, 7, 7}, {5, 100, 5}, {2, 2, 2}} {
		d := table(c.n, 2, 1)
		for i := range d.X {
			d.X[i][0] = float64(i)
		}
		d.Censored = make([]bool, c.n)
		d.Censored[1] = true
		fits := 0
		l := fitFunc(func(train assay.Data) (assay.Predictor, error) {
			fits++
			seen := map[float64]bool{}
			for i, x := range train.X {
				seen[x[0]] = true
				if train.Y[i] != d.Y[int(x[0])] || train.Censored[i] != d.Censored[int(x[0])] {
					t.Errorf("example %v was mixed up", x[0])
				}
			}
			if n := len(train.X); n < c.n-(c.n+c.fits-1)/c.fits || n > c.n-c.n/c.fits {
				t.Errorf("%+v: trained on %d examples", c, n)
			}
			return seenPredictor{seen, fits}, nil
		})
		out, err := CrossValidate(l, d, c.folds, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range out {
			if p.Std != 0 {
				t.Errorf("%+v: example %d was predicted by a fit that saw it", c, i)
			}
			if p.Mean != float64(i) {
				t.Errorf("%+v: got the prediction of %v for example %d", c, p.Mean, i)
			}
		}
		if fits != c.fits {
			t.Errorf("%+v: got %d fits, want %d", c, fits, c.fits)
		}
	}
}

// seenPredictor predicts the first feature, with std 1 if it has seen it.
type seenPredictor struct {
	seen map[float64]bool
	fit  int
}

func (p seenPredictor) Predict(x []float64) assay.Prediction {
	if p.seen[x[0]] {
		return assay.Prediction{Mean: x[0], Std: 1}
	}
	return assay.Prediction{Mean: x[0]}
}

func TestCrossValidateSeed(t *testing.T) {
	d := table(30, 3, 2)
	run := func(seed uint64) []assay.Prediction {
		out, err := CrossValidate(KNN{2}, d, 3, seed)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	a, b, c := run(1), run(1), run(2)
	differ := false
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("prediction %d: got %v and %v from one seed", i, a[i], b[i])
		}
		differ = differ || a[i] != c[i]
	}
	if !differ {
		t.Error("two seeds deal the same folds")
	}
}

func TestCrossValidateErrors(t *testing.T) {
	if _, err := CrossValidate(KNN{}, table(1, 1, 1), 2, 0); !errors.Is(err, assay.ErrTooFew) {
		t.Errorf("one example: got error %v, want ErrTooFew", err)
	}
	d := table(6, 1, 1)
	d.Censored = make([]bool, 6)
	d.Censored[2] = true
	if _, err := CrossValidate(KNN{}, d, 3, 0); !errors.Is(err, assay.ErrCensored) {
		t.Errorf("a censored example: got error %v, want ErrCensored", err)
	}
}
