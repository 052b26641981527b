package assaytest_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

// Factor is a stopper of one's own: a run stops once its value is a multiple of the
// best trial's.
type Factor float64

// Decide implements assay.Stopper.
func (f Factor) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	best, ok := assay.Best(history)
	if limit := float64(f) * best.Value; ok && running.Value >= limit {
		return assay.Decision{
			Stop: true, Predicted: math.NaN(),
			Reason: fmt.Sprintf("%v has come to %v times the best", running.Value, float64(f)),
		}
	}
	return assay.Decision{Predicted: math.NaN()}
}

// One call checks a stopper against every rule of its contract.
func TestFactor(t *testing.T) {
	assaytest.TestStopper(t, func() assay.Stopper { return Factor(2) })
}

// Nearest is a learner of one's own: it predicts the outcome of the nearest example.
type Nearest struct{}

// Fit implements assay.Learner.
func (Nearest) Fit(d assay.Data) (assay.Predictor, error) {
	if slices.Contains(d.Censored, true) {
		return nil, assay.ErrCensored // rather than take a bound for an outcome
	}
	if len(d.X) == 0 {
		return nil, assay.ErrTooFew
	}
	n := nearest{y: slices.Clone(d.Y)} // the caller may change d after Fit
	for i, row := range d.X {
		if len(row) != len(d.X[0]) {
			panic("nearest: slice length mismatch")
		}
		for _, v := range append([]float64{d.Y[i]}, row...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, assay.ErrBadData
			}
		}
		n.x = append(n.x, slices.Clone(row))
	}
	return n, nil
}

// nearest is a fitted Nearest.
type nearest struct {
	x [][]float64
	y []float64
}

// Predict implements assay.Predictor.
func (n nearest) Predict(x []float64) assay.Prediction {
	best, least := 0, math.Inf(1)
	for i, row := range n.x {
		sum := 0.0
		for k := range row {
			sum += (row[k] - x[k]) * (row[k] - x[k])
		}
		if sum < least {
			best, least = i, sum
		}
	}
	return assay.Prediction{Mean: n.y[best], Std: math.NaN()} // it does not estimate its doubt
}

// One call checks a learner against every rule of its contract.
func TestNearest(t *testing.T) {
	assaytest.TestLearner(t, func() assay.Learner { return Nearest{} }, assaytest.LearnerOptions{})
}

// A learner returns a new predictor, which later calls of Fit do not change.
func ExampleTestLearner() {
	fitted, err := Nearest{}.Fit(assay.Data{X: [][]float64{{0}, {0.5}, {1}}, Y: []float64{9, 4, 7}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fitted.Predict([]float64{0.6}).Mean)
	_, err = Nearest{}.Fit(assay.Data{X: [][]float64{{0}}, Y: []float64{9}, Censored: []bool{true}})
	fmt.Println(err)
	// Output:
	// 4
	// learner cannot use censored examples
}

// A stopper is a pure function of the trials that have ended and of the one that runs.
func ExampleTestStopper() {
	done := assay.Trial{Proposal: assay.Proposal{ID: 1}, State: assay.Done, Value: 3}
	for _, value := range []float64{4, 7} {
		running := assay.Trial{Proposal: assay.Proposal{ID: 2}, Value: value}
		d := Factor(2).Decide([]assay.Trial{done}, running)
		fmt.Printf("%v %q\n", d.Stop, d.Reason)
	}
	// Output:
	// false ""
	// true "7 has come to 2 times the best"
}
