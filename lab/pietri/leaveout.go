// Package pietri predicts recorded executions of workflows from each other and reports how
// far off that is: the experiments of Pietri, Juve, Deelman and Sakellariou (2014).
package pietri

import (
	"github.com/assay-run/assay/internal/workflow/trace"
	"github.com/assay-run/assay/workflow"
)

// A HoldOut selects the executions that a prediction may not have seen.
type HoldOut uint8

const (
	HoldExecution HoldOut = iota // the execution itself
	HoldConfig                   // nor its repetitions
	HoldApp                      // nor any execution of its application
)

// An Outcome is one prediction of a leave-one-out evaluation.
type Outcome struct {
	*trace.Recorded
	workflow.Prediction
	Error    float64          // Eq. 6
	Paper    workflow.Seconds // Algorithm 1 top down, all listed cores as slots, 25 s a level
	PaperErr float64
	From     string // the executions of its calibration: "app and site", "app or site", "default"
	Trained  int    // executions
}

// LeaveOneOut predicts each execution from the others: from the executions of its App and Site; without
// any, from the executions of its App elsewhere and of other applications at its Site, each set with the
// weight of one execution, beside a tenth of one for all the rest; and without any of these either, by
// Algorithm 1 with the delay that the paper found. It panics if an execution has no makespan.
func LeaveOneOut(runs []trace.Recorded, hold HoldOut) ([]Outcome, error) {
	out := make([]Outcome, len(runs))
	for i := range runs {
		r := &runs[i]
		o := outcome(r)
		train, from := trainingFor(runs, i, hold)
		o.From, o.Trained = from, len(train)
		if len(train) == 0 {
			o.Prediction = workflow.Uncalibrated(o.Paper)
		} else {
			c, err := workflow.Calibrate(train)
			if err != nil {
				return nil, err
			}
			if o.Prediction, err = c.Predict(r.Workflow, workflow.TopDown{}, 0); err != nil {
				return nil, err
			}
		}
		o.Error = workflow.RelError(r.Workflow.Makespan, o.Makespan)
		out[i] = o
	}
	return out, nil
}

// outcome returns the known values of an execution before it is predicted from others.
func outcome(r *trace.Recorded) Outcome {
	if !(r.Workflow.Makespan > 0) {
		panic("pietri: execution without makespan")
	}
	o := Outcome{Recorded: r}
	levels := workflow.Profile(r.Workflow, nil, workflow.TopDown{}.Level(r.Workflow.Graph, nil, 1))
	o.Paper = workflow.Overhead{Level: workflow.PaperDelay}.Makespan(levels, max(r.Workflow.Cores(), 1))
	o.PaperErr = workflow.RelError(r.Workflow.Makespan, o.Paper)
	return o
}

// trainingFor returns the executions from which runs[i] is predicted.
func trainingFor(runs []trace.Recorded, i int, hold HoldOut) (train []workflow.Execution, from string) {
	r := &runs[i]
	var near [4][]workflow.Execution // app and site, app, site, neither
	for j := range runs {
		o := &runs[j]
		if j == i || hold == HoldConfig && o.Config == r.Config && o.App == r.App && o.Site == r.Site ||
			hold == HoldApp && o.App == r.App || o.Grid != r.Grid {
			continue
		}
		k := 3
		switch {
		case o.App == r.App && o.Site == r.Site:
			k = 0
		case o.App == r.App:
			k = 1
		case o.Site == r.Site:
			k = 2
		}
		near[k] = append(near[k], o.Execution)
	}
	if len(near[0]) > 0 {
		return near[0], "app and site"
	}
	if len(near[1])+len(near[2]) == 0 {
		return nil, "default"
	}
	for k, mass := range []float64{0, 1, 1, 0.1} {
		for _, e := range near[k] {
			e.Weight = mass / float64(len(near[k]))
			train = append(train, e)
		}
	}
	return train, "app or site"
}
