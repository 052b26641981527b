package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// A Refitter is a Predictor that can be fitted to other data with the parameters that it has: much cheaper than to
// learn them again, and as good where the data are little more than before.
type Refitter interface {
	assay.Predictor
	// Refit returns the Predictor for d, which has the same features. Errors are as for the Learner's Fit.
	Refit(d assay.Data) (assay.Predictor, error)
	// Parameters returns them, for [GPOf]. The slice is the caller's.
	Parameters() []float64
}

// GPOf returns the process that has the parameters of another and no examples yet: it predicts the mean 0 with the
// deviation s. As [GP].Like and to Refit it is as good as the other. It panics for fewer than two parameters, which is
// a process over no feature.
func GPOf(parameters []float64) Refitter {
	d := len(parameters) - 2
	if d < 0 {
		panic(fmt.Sprintf("model: a process of %d parameters", len(parameters)))
	}
	theta := slices.Clone(parameters)
	ones := slices.Repeat([]float64{1}, d)
	return &gpPosterior{
		Posterior: &Posterior{}, scaler: scaler{make([]float64, d), ones}, sd: 1, d: d,
		w: inverseSquares(theta[:d]), signal: math.Exp(theta[d]), theta: theta,
	}
}

// Parameters implements [Refitter] for [GP]: the logarithms of the length scales, of
// s², and of σ², in the units of the scaled features and outcomes.
func (p *gpPosterior) Parameters() []float64 { return slices.Clone(p.theta) }

// A MeanPredictor is a Predictor that predicts means at a fraction of the cost of their deviations.
type MeanPredictor interface {
	assay.Predictor
	// PredictMeans sets out[i] to the mean at X[i]. The lengths are equal.
	PredictMeans(X [][]float64, out []float64)
}

var (
	_ Refitter      = (*gpPosterior)(nil)
	_ MeanPredictor = (*gpPosterior)(nil)
)

// Refit implements [Refitter] for [GP]: features and outcomes are scaled by the new data, and the kernel's parameters
// stay. All examples are used. Cost: n³/3 + n²·d, one evaluation of the likelihood without its gradient.
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
