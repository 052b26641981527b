package model

import (
	"fmt"
	"math/rand/v2"

	"github.com/assay-run/assay"
)

// CrossValidate returns the prediction for every example of d, in order, by a predictor that l fitted without it. The
// examples are dealt at random, by seed, into folds whose sizes differ by one at most; each fold is predicted from all
// others. With as many folds as examples, or more, each example is its own fold. Censored examples are dealt like the
// others and are predicted too.
//
// It returns assay.ErrTooFew for fewer than two examples, and the first error of a Fit. It panics if folds < 2. Cost: a
// Fit for each fold.
func CrossValidate(l assay.Learner, d assay.Data, folds int, seed uint64) ([]assay.Prediction, error) {
	if folds < 2 {
		panic(fmt.Sprintf("model: %d folds", folds))
	}
	if err := check(d, 2); err != nil {
		return nil, err
	}
	n := len(d.Y)
	folds = min(folds, n)
	perm := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	out := make([]assay.Prediction, n)
	for f := range folds {
		var train, held []int
		for k, i := range perm {
			if k%folds == f {
				held = append(held, i)
			} else {
				train = append(train, i)
			}
		}
		p, err := l.Fit(d.Rows(train))
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, folds, err)
		}
		predictions := make([]assay.Prediction, len(held))
		assay.PredictAll(p, d.Rows(held).X, predictions)
		for k, i := range held {
			out[i] = predictions[k]
		}
	}
	return out, nil
}
