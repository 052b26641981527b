package model

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

const (
	imputeRounds = 10   // as SMAC3's RFRImputator
	imputeChange = 0.01 // its 1 %, but of the range of the outcomes, which have no natural zero
)

// Impute returns a Learner that replaces each censored outcome by its expectation, given its lower bound (Hutter, Hoos
// and Leyton-Brown 2013, §3, after Schmee and Hahn 1979). It fits l to the uncensored examples. Then it predicts
// N(mean, std²) for every censored one, takes the mean of that distribution above the censoring value as its outcome
// and fits l to all. It repeats this until no imputed outcome moves by more than 1 % of the range of d.Y, or for the
// given number of rounds; 0 means 10, and negative panics. The cost is a Fit of l for each round and one more.
//
// If l estimates no std, or 0, the imputed outcome is the greater of its mean and the censoring value. If there are too
// few uncensored examples for l, the first fit takes every censoring value as the outcome. The normal distribution is
// on the scale that l is fitted on: for run times wrap in this order, Log(Impute(l, 0)).
func Impute(l assay.Learner, rounds int) assay.Learner {
	if rounds < 0 {
		panic("model: negative number of rounds")
	}
	return impute{l, cmp.Or(rounds, imputeRounds)}
}

type impute struct {
	inner  assay.Learner // fits exact and imputed outcomes
	rounds int           // of fitting and imputing
}

// Fit implements [assay.Learner].
func (l impute) Fit(d assay.Data) (assay.Predictor, error) {
	if err := check(d, 0); err != nil {
		return nil, err
	}
	exact, censored := exactExamples(d)
	p, err := l.inner.Fit(exact)
	if len(censored) == 0 || err != nil && !errors.Is(err, assay.ErrTooFew) {
		return p, err
	}
	all := assay.Data{X: d.X, Y: slices.Clone(d.Y)}
	if err != nil {
		if p, err = l.inner.Fit(all); err != nil {
			return nil, err
		}
	}
	rows := make([][]float64, len(censored))
	for k, i := range censored {
		rows[k] = d.X[i]
	}
	still := imputeChange * (slices.Max(d.Y)/2 - slices.Min(d.Y)/2)
	predictions := make([]assay.Prediction, len(rows))
	for round := range l.rounds {
		assay.PredictAll(p, rows, predictions)
		var moved float64 // half of the farthest, which cannot overflow
		for k, i := range censored {
			y := truncatedMean(predictions[k].Mean, predictions[k].Std, d.Y[i])
			moved = max(moved, math.Abs(y/2-all.Y[i]/2))
			all.Y[i] = y
		}
		if round > 0 && moved <= still {
			break // p is fitted to nearly these
		}
		if p, err = l.inner.Fit(all); err != nil {
			return nil, err
		}
	}
	return p, nil
}
