package workflow

import (
	"fmt"
	"math"
	"slices"
)

// A RunRange is the prediction of several recorded executions for a number of slots. Makespans are
// divided by the sum of the run times of their execution, since these differ with the storage.
type RunRange struct {
	Slots     int       // predicted
	Low, High float64   // the least and the greatest prediction
	Real      []float64 // of the executions recorded on as many cores, ascending
}

// Inside returns how many of the real makespans lie between Low and High.
func (r *RunRange) Inside() int {
	n := 0
	for _, x := range r.Real {
		if r.Low <= x && x <= r.High {
			n++
		}
	}
	return n
}

// ByLevels returns the maker of estimators by levels with the delays of
// overhead.
func ByLevels(leveler Leveler, overhead Overhead) func(*Workflow) (Estimator, error) {
	return func(w *Workflow) (Estimator, error) { return NewLevelModel(w, leveler, overhead) }
}

// Estimator returns the maker of estimators that predict with the calibration.
func (c *Calibration) Estimator(leveler Leveler) func(*Workflow) (Estimator, error) {
	return func(w *Workflow) (Estimator, error) { return &calibrated{c, w, leveler}, w.Check() }
}

// calibrated is the [Estimator] of a calibration.
type calibrated struct {
	c       *Calibration // predicts the overhead
	w       *Workflow    // the workflow
	leveler Leveler      // counts the levels
}

// Makespan implements [Estimator].
func (m *calibrated) Makespan(slots int) (Seconds, error) {
	if slots < 1 {
		return 0, errSlots(slots)
	}
	p, err := m.c.Predict(m.w, m.leveler, slots)
	return p.Makespan, err
}

// RunSlots returns the numbers of slots with those on which executions with a
// makespan were recorded, ascending.
func RunSlots(runs []*Workflow, slots []int) []int {
	slots = slices.Clone(slots)
	for _, w := range runs {
		if w.Makespan > 0 && w.Cores() > 0 {
			slots = append(slots, w.Cores())
		}
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

// Range predicts the makespan on each number of slots, and on each that an
// execution was recorded on, from each of several recorded executions, divided by
// the sum of that execution's run times (Fig. 3: real measurements lie between
// the least and the greatest). Ranges ascend by slots. An execution without
// work is an error. It panics if there are no executions.
func Range(runs []*Workflow, slots []int, model func(*Workflow) (Estimator, error)) ([]RunRange, error) {
	if len(runs) == 0 {
		panic("workflow: no executions")
	}
	slots = RunSlots(runs, slots)
	out := make([]RunRange, len(slots))
	for i, n := range slots {
		out[i] = RunRange{Slots: n, Low: math.Inf(1), High: math.Inf(-1)}
	}
	for _, w := range runs {
		if !(w.Work() > 0) {
			return nil, fmt.Errorf("%q: %v s of run times", w.Name, w.Work())
		}
		m, err := model(w)
		if err != nil {
			return nil, err
		}
		for i := range out {
			r := &out[i]
			p, err := m.Makespan(r.Slots)
			if err != nil {
				return nil, err
			}
			p /= w.Work()
			r.Low, r.High = min(r.Low, p), max(r.High, p)
			if w.Makespan > 0 && w.Cores() == r.Slots {
				r.Real = append(r.Real, w.Makespan/w.Work())
			}
		}
	}
	for i := range out {
		slices.Sort(out[i].Real)
	}
	return out, nil
}
