package assaytest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/assay-run/assay"
)

// threeNearest is a correct learner: the mean of the three nearest examples.
type threeNearest struct{}

func (threeNearest) Fit(d assay.Data) (assay.Predictor, error) {
	for i, x := range d.X {
		if len(x) != len(d.X[0]) {
			panic("assaytest: rows of different lengths")
		}
		if !finite(append(slices.Clone(x), d.Y[i])) {
			return nil, assay.ErrBadData
		}
	}
	if slices.Contains(d.Censored, true) {
		return nil, assay.ErrCensored
	}
	if len(d.Y) == 0 {
		return nil, assay.ErrTooFew
	}
	return threeNearestPredictor{copyData(d)}, nil
}

func finite(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

type threeNearestPredictor struct{ d assay.Data }

func (p threeNearestPredictor) Predict(x []float64) assay.Prediction {
	order := make([]int, len(p.d.Y))
	dist := make([]float64, len(p.d.Y))
	for i, r := range p.d.X {
		order[i] = i
		for j := range r {
			dist[i] += (r[j] - x[j]) * (r[j] - x[j])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if dist[a] < dist[b] {
			return -1
		}
		if dist[a] > dist[b] {
			return 1
		}
		return 0
	})
	order = order[:min(3, len(order))]
	mean := p.d.Y[order[0]]
	for k, i := range order[1:] {
		mean += (p.d.Y[i] - mean) / float64(k+2)
	}
	return assay.Prediction{Mean: mean, Std: math.NaN()}
}

func (p threeNearestPredictor) PredictBatch(X [][]float64, out []assay.Prediction) {
	for i, x := range X {
		out[i] = p.Predict(x)
	}
}

// fitFunc and predictFunc make learners and predictors of functions.
type fitFunc func(assay.Data) (assay.Predictor, error)

func (f fitFunc) Fit(d assay.Data) (assay.Predictor, error) { return f(d) }

type predictFunc func([]float64) assay.Prediction

func (f predictFunc) Predict(x []float64) assay.Prediction { return f(x) }

// altered is threeNearest with every prediction passed through f.
func altered(f func(d assay.Data, x []float64, q assay.Prediction) assay.Prediction) assay.Learner {
	return fitFunc(func(d assay.Data) (assay.Predictor, error) {
		p, err := threeNearest{}.Fit(d)
		if err != nil {
			return nil, err
		}
		d = copyData(d)
		return predictFunc(func(x []float64) assay.Prediction { return f(d, x, p.Predict(x)) }), nil
	})
}

// replaced is threeNearest, which returns replacement in place of err.
func replaced(err, replacement error) assay.Learner {
	return fitFunc(func(d assay.Data) (assay.Predictor, error) {
		p, e := threeNearest{}.Fit(d)
		if errors.Is(e, err) {
			return nil, replacement
		}
		return p, e
	})
}

type batchOnly struct {
	assay.Predictor
	batch func(X [][]float64, out []assay.Prediction)
}

func (b batchOnly) PredictBatch(X [][]float64, out []assay.Prediction) { b.batch(X, out) }

func TestLearnerSuiteAccepts(t *testing.T) {
	TestLearner(t, func() assay.Learner { return threeNearest{} }, LearnerOptions{})
}

// Each broken learner must be caught by the rule that it breaks.
func TestLearnerSuiteCatches(t *testing.T) {
	var calls atomic.Int64
	for _, c := range []struct {
		rule    string
		learner assay.Learner
	}{
		{"Learns", altered(func(d assay.Data, _ []float64, q assay.Prediction) assay.Prediction {
			q.Mean = 0
			for _, y := range d.Y {
				q.Mean += y / float64(len(d.Y))
			}
			return q
		})},
		{"KeepsData", fitFunc(func(d assay.Data) (assay.Predictor, error) {
			p, err := threeNearest{}.Fit(d)
			slices.Sort(d.Y)
			return p, err
		})},
		{"KeepsData", altered(func(_ assay.Data, x []float64, q assay.Prediction) assay.Prediction {
			x[0]++
			return q
		})},
		{"RetainsNothing", fitFunc(func(d assay.Data) (assay.Predictor, error) {
			if _, err := (threeNearest{}).Fit(d); err != nil {
				return nil, err
			}
			d.X = slices.Clone(d.X) // but not its rows
			d.Y = slices.Clone(d.Y)
			return threeNearestPredictor{d}, nil
		})},
		{"Censored", fitFunc(func(d assay.Data) (assay.Predictor, error) {
			d.Censored = nil
			return threeNearest{}.Fit(d)
		})},
		{"Censored", fitFunc(func(d assay.Data) (assay.Predictor, error) {
			if d.Censored != nil {
				return nil, assay.ErrCensored
			}
			return threeNearest{}.Fit(d)
		})},
		{"TooFew", replaced(assay.ErrTooFew, errors.New("some other error"))},
		{"BadData", replaced(assay.ErrBadData, assay.ErrTooFew)},
		{"Ragged", fitFunc(func(d assay.Data) (p assay.Predictor, err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("%v", r)
				}
			}()
			return threeNearest{}.Fit(d)
		})},
		{"Deterministic", fitFunc(func(d assay.Data) (assay.Predictor, error) {
			shift := float64(calls.Add(1))
			return altered(func(_ assay.Data, _ []float64, q assay.Prediction) assay.Prediction {
				q.Mean += shift
				return q
			}).Fit(d)
		})},
		{"Concurrent", altered(func(_ assay.Data, _ []float64, q assay.Prediction) assay.Prediction {
			q.Mean += float64(calls.Add(1)) // not immutable
			return q
		})},
		{"Batch", fitFunc(func(d assay.Data) (assay.Predictor, error) {
			p, err := threeNearest{}.Fit(d)
			return batchOnly{p, func(X [][]float64, out []assay.Prediction) {
				whole := len(X) / 4 * 4 // forgets the rest
				p.(assay.BatchPredictor).PredictBatch(X[:whole], out[:whole])
			}}, err
		})},
		{"Constant", altered(func(_ assay.Data, _ []float64, q assay.Prediction) assay.Prediction {
			q.Mean *= 0.99
			return q
		})},
		{"Wide", altered(func(d assay.Data, x []float64, q assay.Prediction) assay.Prediction {
			if len(x) > len(d.X) {
				q.Mean = math.NaN()
			}
			return q
		})},
		{"OneExample", altered(func(d assay.Data, _ []float64, q assay.Prediction) assay.Prediction {
			if len(d.X) == 1 {
				q.Std = math.Inf(1)
			}
			return q
		})},
		{"OneExample", fitFunc(func(d assay.Data) (assay.Predictor, error) {
			if len(d.Y) == 1 {
				_ = d.Y[1]
			}
			return threeNearest{}.Fit(d)
		})},
		{"Duplicates", altered(func(d assay.Data, _ []float64, q assay.Prediction) assay.Prediction {
			for _, x := range d.X[1:] {
				if slices.Equal(x, d.X[0]) {
					q.Mean = math.Inf(1)
				}
			}
			return q
		})},
		{"Duplicates", altered(func(d assay.Data, _ []float64, q assay.Prediction) assay.Prediction {
			if len(d.X) > 3 && slices.Equal(d.X[3], d.X[0]) {
				q.Mean = 1e6
			}
			return q
		})},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for _, r := range learnerRules {
				if r.name != c.rule {
					continue
				}
				err := tryLearner(r.check, func() assay.Learner { return c.learner }, LearnerOptions{})
				if err == nil {
					t.Errorf("a learner that breaks %q was not caught", r.rule)
				}
				return
			}
			t.Errorf("there is no rule %q", c.rule)
		})
	}
}

// A learner that uses censored examples must not take them for exact ones.
func TestLearnerSuiteCatchesIgnoredCensoring(t *testing.T) {
	ignores := fitFunc(func(d assay.Data) (assay.Predictor, error) {
		d.Censored = nil
		return threeNearest{}.Fit(d)
	})
	if err := tryLearner(checkCensored, func() assay.Learner { return ignores },
		LearnerOptions{Censored: true}); err == nil {
		t.Error("a learner that ignores censoring was not caught")
	}
}
