package workflow

import (
	"math"
	"slices"
)

// A Recorded is an execution with what it is compared by.
type Recorded struct {
	Execution
	Name string
	App  string // executions of one App have the same kinds of tasks
	Site string // executions at one Site share the machines and the workflow system
	Grid bool   // at a site where waiting in queues is most of the makespan
}

// A HoldOut says what a prediction may not have seen.
type HoldOut uint8

const (
	HoldExecution HoldOut = iota // the execution itself
	HoldConfig                   // nor its repetitions
)

// An Outcome is one prediction of a leave-one-out evaluation.
type Outcome struct {
	*Recorded
	Prediction
	Error    float64 // Eq. 6
	Paper    Seconds // Algorithm 1 top down, all listed cores as slots, 25 s a level
	PaperErr float64
	From     string // what it was calibrated from: "app and site", "app or site", "default"
	Trained  int    // executions
}

// LeaveOneOut predicts each execution from the others: from those of its App and
// Site; if there are none, from those of its App elsewhere and of other
// applications at its Site, each set with the weight of one execution, beside
// a tenth of one for all the rest; and if there are none of these either, by
// Algorithm 1 with the delay that the paper found. It panics if an execution has
// no makespan.
func LeaveOneOut(runs []Recorded, hold HoldOut) ([]Outcome, error) {
	out := make([]Outcome, len(runs))
	for i := range runs {
		r := &runs[i]
		if !(r.Workflow.Makespan > 0) {
			panic("workflow: execution without makespan")
		}
		o := Outcome{Recorded: r}
		levels := Profile(r.Workflow, nil, TopDown{}.Level(r.Workflow.Graph, nil, 1))
		o.Paper = Site{Level: PaperDelay}.Makespan(levels, max(r.Workflow.Cores(), 1))
		o.PaperErr = RelError(r.Workflow.Makespan, o.Paper)
		train, from := trainingFor(runs, i, hold)
		o.From, o.Trained = from, len(train)
		if len(train) == 0 {
			c := Calibration{Sigma: unknownSigma}
			o.Prediction = c.interval(o.Paper)
		} else {
			c, err := Calibrate(train)
			if err != nil {
				return nil, err
			}
			if o.Prediction, err = c.Predict(r.Workflow, TopDown{}, 0); err != nil {
				return nil, err
			}
		}
		o.Error = RelError(r.Workflow.Makespan, o.Makespan)
		out[i] = o
	}
	return out, nil
}

// trainingFor returns the executions from which runs[i] is predicted.
func trainingFor(runs []Recorded, i int, hold HoldOut) (train []Execution, from string) {
	r := &runs[i]
	var near [4][]Execution // app and site, app, site, neither
	for j := range runs {
		o := &runs[j]
		if j == i || hold == HoldConfig && o.Config == r.Config && o.App == r.App && o.Site == r.Site || o.Grid != r.Grid {
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

// Quantile returns the q-quantile of x, which it sorts; NaN if x is empty.
// It interpolates linearly (Hyndman and Fan's type 7).
func Quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	at := q * float64(len(x)-1)
	i := int(at)
	if i+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[i] + (at-float64(i))*(x[i+1]-x[i])
}
