package nimo

import (
	"context"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/study"
)

// goal is the time of a run. Learners of cost models do not look at the value.
var goal = assay.Goal{Metric: "elapsed"}

// A runner simulates one run of an assignment.
type runner func(assay.Config) assay.Measurement

// A testSet is assignments that are never run, with their true times in seconds.
type testSet struct {
	configs []assay.Config
	truth   []float64
}

// mape returns the mean absolute percentage error of a model on the test set (§4.1).
func (s testSet) mape(m *costmodel.Model) float64 {
	predicted := make([]float64, len(s.configs))
	for i, c := range s.configs {
		predicted[i] = m.Predict(c).Seconds
	}
	return stats.MAPE(s.truth, predicted)
}

// A point is the state of learning after a run.
type point struct {
	minutes  float64 // of all runs
	training float64 // of those that the model is fitted to
	runs     int     // that the model is fitted to
	error    float64 // on the external test set, percent; NaN without a model
}

// A watched learner leaves a point after every run. The model is fitted when the
// learner or the point needs it, once for both.
type watched struct {
	*costmodel.ActiveLearner
	test     testSet
	training float64
	curve    []point
}

// Tell implements [assay.Searcher].
func (w *watched) Tell(trials ...assay.Trial) error {
	for _, t := range trials {
		if err := w.ActiveLearner.Tell(t); err != nil {
			return err
		}
		steps := w.Progress()
		step := steps[len(steps)-1]
		before := 0
		if n := len(w.curve); n > 0 {
			before = w.curve[n-1].runs
		}
		if step.Runs > before {
			w.training += t.Measurement.Elapsed.Minutes()
		}
		p := point{minutes: step.Spent / 60, training: w.training, runs: step.Runs, error: math.NaN()}
		if model, err := w.Model(); err == nil {
			p.error = w.test.mape(model)
		}
		w.curve = append(w.curve, p)
	}
	return nil
}

// play runs a searcher on a simulated program within a budget.
func play(ctx context.Context, space *assay.Space, s assay.Searcher, run runner, b study.Budget) (study.Result, error) {
	clock := &table.SimClock{}
	return bench.Cell{
		Space: space, Goal: goal, Searcher: s, Runner: bench.Simulate(clock, run), Clock: clock, Budget: b,
	}.Run(ctx)
}

// at returns the error of a curve after a number of minutes, NaN if there is no model yet.
func at(curve []point, minutes float64) float64 {
	e := math.NaN()
	for _, p := range curve {
		if p.minutes > minutes {
			break
		}
		e = p.error
	}
	return e
}

// reaches returns the first point with an error of at most a number of percent, nil without one.
func reaches(curve []point, percent float64) *point {
	for i := range curve {
		if curve[i].error <= percent {
			return &curve[i]
		}
	}
	return nil
}
