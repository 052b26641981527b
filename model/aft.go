package model

import (
	"fmt"
	"math"

	"github.com/assay-run/assay"
)

// AFT is the accelerated failure time model fitted by gradient boosting: the censored regressor of Cello (§3.4, eq. 3
// to 5; §3.6 names XGBoost's survival:aft, whose results it reproduces with tree_method=exact). It minimizes the sum of
// the losses of [Distribution] over the rows, including the right-censored ones of Data.Censored, by the trees of
// [Boost], which are added to log Base.
//
// Fit returns an *[AFTModel]. Outcomes must be greater than 0, else it returns an error that matches assay.ErrBadData.
// Without an exact outcome nothing bounds the predictions from above, and it returns assay.ErrTooFew. One exact outcome
// is enough.
//
// The loss falls as g rises on censored rows. Only the number of rounds limits g: Cello uses 20, and [AutoRounds]
// chooses a number.
type AFT struct {
	Distribution Distribution // the zero value is Extreme
	Scale        float64      // ς; 0 means 0.3, the middle of Cello's choices
	// Base is the outcome that boosting starts from, in the unit of y; 0 means the geometric mean of the outcomes. XGBoost
	// uses 0.5 for every unit. With its base, rows far above it are underestimated after few rounds, and the prediction
	// for a row without close neighbours depends on the unit.
	Base  float64
	Boost Boost // how trees are grown; Gamma has the unit of the loss
}

var _ assay.Learner = AFT{}

// withDefaults returns a with its zero values replaced. It panics if an option is out of range.
func (a AFT) withDefaults() AFT {
	if int(a.Distribution) >= len(distributionNames) || !(a.Scale >= 0) || math.IsInf(a.Scale, 1) ||
		!(a.Base >= 0) || math.IsInf(a.Base, 1) {
		panic(fmt.Sprintf("model: AFT options out of range: %v, scale %v, base %v", a.Distribution, a.Scale, a.Base))
	}
	if a.Scale == 0 {
		a.Scale = 0.3
	}
	a.Boost = a.Boost.withDefaults()
	return a
}

// Fit implements assay.Learner.
func (a AFT) Fit(d assay.Data) (assay.Predictor, error) {
	a = a.withDefaults()
	logY, err := checkAFT(d)
	if err != nil {
		return nil, err
	}
	return a.fit(newColumns(d.X), logY, d.Censored), nil
}

func (a AFT) fit(cols *columns, logY []float64, censored []bool) *AFTModel {
	l := a.lossOf(logY, censored)
	return newAFTModel(a.Distribution, a.Scale, boost(cols, a.Boost, l), l.base)
}

// lossOf returns the loss of rows, with the start that a asks for.
func (a AFT) lossOf(logY []float64, censored []bool) *aftLoss {
	l := newAFTLoss(a.Distribution, a.Scale, logY, censored)
	if a.Base > 0 {
		l.base = math.Log(a.Base)
	}
	return l
}

// checkAFT applies the rules of [AFT.Fit] to d and returns the logarithms of the outcomes.
func checkAFT(d assay.Data) ([]float64, error) {
	if err := check(d, 1); err != nil {
		return nil, err
	}
	exact := 0
	for i, y := range d.Y {
		if y <= 0 {
			return nil, fmt.Errorf("outcome %d is %v, and a time is greater than 0: %w", i, y, assay.ErrBadData)
		}
		if d.Censored == nil || !d.Censored[i] {
			exact++
		}
	}
	if exact == 0 {
		return nil, fmt.Errorf("all %d examples are censored: %w", len(d.Y), assay.ErrTooFew)
	}
	return logs(d.Y), nil
}

func logs(y []float64) []float64 {
	l := make([]float64, len(y))
	for i, v := range y {
		l[i] = math.Log(v)
	}
	return l
}

// An AFTModel predicts z = exp(g(x) + ς·ε). It implements [Trees], with trees
// that sum to g: the predictive mean is their exponential times nothing else.
type AFTModel struct {
	dist  Distribution // of ε
	scale float64      // ς
	trees *boosted     // whose sum is g
	cv    float64      // standard deviation of exp(ς·ε)
}

var (
	_ assay.BatchPredictor = (*AFTModel)(nil)
	_ Trees                = (*AFTModel)(nil)
)

func newAFTModel(dist Distribution, scale float64, trees []Tree, base float64) *AFTModel {
	return &AFTModel{dist, scale, newBoosted(trees, base), dist.spread(scale)}
}

// spread returns the standard deviation of exp(ς·ε), NaN if it is infinite. With m(k) the k-th moment it is √(m(2) -
// m(1)²), where m(k) is exp(k²ς²/2) (normal), Γ(1+kς) (extreme) or kπς/sin(kπς) for kς < 1 (logistic).
func (d Distribution) spread(scale float64) float64 {
	if scale < 1e-4 { // the moments cancel: use ς times the deviation of ε
		return scale * [...]float64{math.Pi / math.Sqrt(6), 1, math.Pi / math.Sqrt(3)}[d]
	}
	var m1, m2 float64
	switch d {
	case Normal:
		v := scale * scale
		return math.Sqrt(math.Exp(v) * math.Expm1(v))
	case Logistic:
		if scale >= 0.5 {
			return math.NaN()
		}
		m1 = math.Pi * scale / math.Sin(math.Pi*scale)
		m2 = 2 * math.Pi * scale / math.Sin(2*math.Pi*scale)
	default:
		m1, m2 = math.Gamma(1+scale), math.Gamma(1+2*scale)
	}
	return math.Sqrt(m2 - m1*m1)
}

// Distribution returns the distribution of ε.
func (m *AFTModel) Distribution() Distribution { return m.dist }

// Scale returns ς.
func (m *AFTModel) Scale() float64 { return m.scale }

// Margin returns g(x), the predicted logarithm.
func (m *AFTModel) Margin(x []float64) float64 { return m.trees.margin(x) }

// Survival returns the probability that the outcome at x is more than y, 1 for y <= 0.
func (m *AFTModel) Survival(x []float64, y float64) float64 {
	if y <= 0 {
		return 1
	}
	return math.Exp(m.dist.logSurvival((math.Log(y) - m.Margin(x)) / m.scale))
}

// Predict implements assay.Predictor. Mean is the predicted survival time exp(g(x)), as in XGBoost and Cello: the
// median of z for the normal and the logistic distribution, its 63 % quantile for the extreme one. Std is the standard
// deviation of z given g(x), exp(g(x)) times the deviation of exp(ς·ε): the spread of the assumed noise, not the
// uncertainty of g. It is NaN for the logistic distribution with ς >= 1/2, for which it is infinite. Both are at most
// math.MaxFloat64: censored rows far above all others can raise g beyond the range of an exponential.
func (m *AFTModel) Predict(x []float64) assay.Prediction { return m.prediction(m.Margin(x)) }

func (m *AFTModel) prediction(margin float64) assay.Prediction {
	y := math.Exp(margin)
	return assay.Prediction{Mean: min(y, math.MaxFloat64), Std: min(y*m.cv, math.MaxFloat64)}
}

// PredictBatch implements assay.BatchPredictor.
func (m *AFTModel) PredictBatch(X [][]float64, out []assay.Prediction) {
	if len(X) != len(out) {
		panic("model: slice length mismatch")
	}
	m.trees.margins(X, out)
	for i, p := range out {
		out[i] = m.prediction(p.Mean)
	}
}

// Ensemble implements [Trees]: its trees sum to g(x).
func (m *AFTModel) Ensemble() Ensemble { return m.trees.Ensemble() }
