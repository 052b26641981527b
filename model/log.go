package model

import (
	"math"

	"github.com/assay-run/assay"
)

// Log returns a Learner that fits l to the natural logarithms of the outcomes if
// all of them are positive, as of run times, and to the outcomes themselves
// otherwise. Censored examples are l's to refuse or to use: their logarithms are
// censored alike.
//
// Where l predicts mean m and standard deviation s of the logarithm, the
// prediction is of the log-normal distribution,
//
//	Mean = exp(m + s²/2), Std = Mean·sqrt(exp(s²) - 1),
//
// and exp(m), the median, with Std NaN if s is NaN. Both are at most the
// greatest finite number. A Predictor that was fitted to logarithms is a
// [Logarithmic].
func Log(l assay.Learner) assay.Learner { return logLearner{l} }

// Logarithmic is a Predictor of exp of what another one predicts.
type Logarithmic interface {
	assay.Predictor
	// Log returns the predictor of the natural logarithm of the outcome.
	Log() assay.Predictor
}

type logLearner struct{ inner assay.Learner }

// Fit implements [assay.Learner].
func (l logLearner) Fit(d assay.Data) (assay.Predictor, error) {
	if err := check(d, 0); err != nil {
		return nil, err
	}
	logs := make([]float64, len(d.Y))
	for i, y := range d.Y {
		if y <= 0 {
			return l.inner.Fit(d)
		}
		logs[i] = math.Log(y)
	}
	p, err := l.inner.Fit(assay.Data{X: d.X, Y: logs, Censored: d.Censored})
	if err != nil {
		return nil, err
	}
	return logPredictor{p}, nil
}

type logPredictor struct{ inner assay.Predictor }

var (
	_ assay.BatchPredictor = logPredictor{}
	_ Logarithmic          = logPredictor{}
)

// Log implements [Logarithmic].
func (p logPredictor) Log() assay.Predictor { return p.inner }

// Predict implements [assay.Predictor].
func (p logPredictor) Predict(x []float64) assay.Prediction { return logNormal(p.inner.Predict(x)) }

// PredictBatch implements [assay.BatchPredictor].
func (p logPredictor) PredictBatch(X [][]float64, out []assay.Prediction) {
	assay.PredictAll(p.inner, X, out)
	for i, q := range out {
		out[i] = logNormal(q)
	}
}

// logNormal returns the moments of exp(Z) for Z normal with the moments q.
func logNormal(q assay.Prediction) assay.Prediction {
	if math.IsNaN(q.Std) {
		return assay.Prediction{Mean: bound(math.Exp(q.Mean)), Std: math.NaN()}
	}
	s2 := q.Std * q.Std
	mean := bound(math.Exp(q.Mean + s2/2))
	// In logarithms, because each factor can overflow alone.
	std := 0.0
	if s2 > 0 {
		std = math.Exp(q.Mean + s2/2 + (s2+math.Log(-math.Expm1(-s2)))/2)
	}
	return assay.Prediction{Mean: mean, Std: bound(std)}
}
