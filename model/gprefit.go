package model

import (
	"fmt"

	"github.com/assay-run/assay"
)

// A Refitter is a Predictor that can be fitted to other data with the parameters
// that it has: much cheaper than to learn them again, and as good where the data
// are little more than before.
type Refitter interface {
	assay.Predictor
	// Refit returns the Predictor for d, which has the same features. The errors
	// are those of the Learner's Fit.
	Refit(d assay.Data) (assay.Predictor, error)
}

// A MeanPredictor is a Predictor that predicts means at a fraction of the cost of
// their deviations.
type MeanPredictor interface {
	assay.Predictor
	// PredictMeans sets out[i] to the mean at X[i]. The lengths are equal.
	PredictMeans(X [][]float64, out []float64)
}

var (
	_ Refitter      = (*gpPosterior)(nil)
	_ MeanPredictor = (*gpPosterior)(nil)
)

// Refit implements [Refitter] for [GP]: features and outcomes are scaled by the
// new data, and the kernel's parameters stay. All examples are used. Cost:
// n³/3 + n²·d, one evaluation of the likelihood without its gradient.
func (p *gpPosterior) Refit(d assay.Data) (assay.Predictor, error) {
	if err := checkProcess(d); err != nil {
		return nil, err
	}
	if len(d.X[0]) != p.d {
		panic(fmt.Sprintf("model: refit of a process over %d features with %d", p.d, len(d.X[0])))
	}
	q, err := newMarginal(newScaler(d.X), d).posterior(p.theta)
	if err != nil { // no typed nil
		return nil, err
	}
	return q, nil
}

// PredictMeans implements [MeanPredictor]. Cost: n·d for each row.
func (p *gpPosterior) PredictMeans(X [][]float64, out []float64) {
	if len(X) != len(out) {
		panic("model: slice length mismatch")
	}
	u := make([]float64, p.d)
	for k, x := range X {
		p.scaler.scale(u, x)
		var mean float64
		for i, a := range p.alpha {
			c, _ := matern(scaledDistance2(p.u[i*p.d:(i+1)*p.d], u, p.w))
			mean += p.signal * c * a
		}
		out[k] = p.mean + p.sd*mean
	}
}
