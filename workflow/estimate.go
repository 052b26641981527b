package workflow

import (
	"fmt"
	"math"
)

// An Estimator predicts the makespan of one workflow. It is immutable and safe
// for concurrent use.
type Estimator interface {
	// Makespan returns the predicted makespan on a number of slots. It is an
	// error if slots < 1, or if the workflow cannot run there.
	Makespan(slots int) (Seconds, error)
}

// An Overhead is the time that a site adds to the run times of tasks. The zero value adds nothing. Terms
// are never negative.
type Overhead struct {
	Start    Seconds `json:"start_s,omitempty"`    // once per workflow (§IV.B)
	Level    Seconds `json:"level_s,omitempty"`    // once per level (§IV.C)
	Dispatch Seconds `json:"dispatch_s,omitempty"` // per task, one after the other: the submit host
	Task     Seconds `json:"task_s,omitempty"`     // per task, in its slot
	Byte     float64 `json:"s_per_B,omitempty"`    // seconds per byte moved, over storage that all share
	Scale    float64 `json:"scale,omitempty"`      // factor on run times (§IV.B); 0 counts as 1
	// Share is the part of the slots given that work at once; 0 counts as 1.
	// Recorded core counts are hardware threads more often than slots.
	Share float64 `json:"share,omitempty"`
	// SlotCap is the most slots that work at once; 0 means no limit.
	SlotCap int `json:"slot_cap,omitempty"`
}

// PaperDelay is the delay per level of Pietri et al. (WORKS 2014, §IV.C), for
// Condor and DAGMan on Amazon EC2 in 2011.
const PaperDelay Seconds = 25

// scale returns the factor on run times, 1 for the zero value.
func (o Overhead) scale() float64 {
	if o.Scale == 0 {
		return 1
	}
	return o.Scale
}

// Slots returns how many of the given slots work at once, at least 1.
func (o Overhead) Slots(given int) int {
	n := given
	if o.Share > 0 {
		n = int(math.Round(o.Share * float64(given)))
	}
	if o.SlotCap > 0 {
		n = min(n, o.SlotCap)
	}
	return max(n, 1)
}

// Makespan is Algorithm 1 on levels: the sum over the levels of
//
//	makespan_l = max(runtime_l / min(slots, maxSlots_l), minRuntime_l)    (Eq. 3)
//
// with the run times scaled and lengthened by o, plus its
// delays. slots must be at least 1. It costs O(levels).
func (o Overhead) Makespan(levels []Level, slots int) Seconds {
	slots = o.Slots(slots)
	total := o.Start
	for _, l := range levels {
		if l.Tasks == 0 {
			continue
		}
		n := float64(l.Tasks)
		sum, longest := o.scale()*l.Sum+o.Task*n, o.scale()*l.Max+o.Task
		total += equation3(l.Tasks, sum, longest, slots) + o.Level + o.Dispatch*n + o.Byte*l.Bytes
	}
	return total
}

// equation3 is Eq. 3 for a level with n tasks, at least 1: the work shared by the slots that the tasks can use, or the
// longest task if that takes longer.
func equation3(n int, sum, longest Seconds, slots int) Seconds {
	return max(sum/float64(min(slots, n)), longest)
}

// A LevelModel is the level-based estimator of Pietri et al. (WORKS 2014,
// Algorithm 1).
type LevelModel struct {
	w        *Workflow // the workflow
	leveler  Leveler   // counts the levels
	overhead Overhead  // of the site
	levels   []Level   // if leveler is fixed
}

var _ Estimator = (*LevelModel)(nil)

// NewLevelModel returns the estimator for w, by levels from leveler and with
// the delays of overhead. It returns an error if a run time is missing.
func NewLevelModel(w *Workflow, leveler Leveler, overhead Overhead) (*LevelModel, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	m := &LevelModel{w: w, leveler: leveler, overhead: overhead}
	if f, ok := leveler.(FixedLeveler); ok {
		m.levels = Profile(w, nil, f.Level(w.Graph, nil, 1))
	}
	return m, nil
}

// Levels returns the levels that are summed for a number of slots.
func (m *LevelModel) Levels(slots int) []Level {
	if m.levels != nil {
		return m.levels
	}
	n := m.overhead.Slots(slots)
	return Profile(m.w, nil, m.leveler.Level(m.w.Graph, m.w.Runs(), n))
}

// Makespan implements [Estimator]. With a [FixedLeveler] it costs O(levels).
func (m *LevelModel) Makespan(slots int) (Seconds, error) {
	if slots < 1 {
		return 0, errSlots(slots)
	}
	return m.overhead.Makespan(m.Levels(slots), slots), nil
}

// errSlots is the error of a number of slots below 1.
func errSlots(slots int) error { return fmt.Errorf("%d slots", slots) }

// RelError returns the relative error of a predicted makespan,
//
//	|real - predicted| / real    (Eq. 6)
//
// which is NaN if real is 0 and predicted too, and +Inf if only real is.
func RelError(real, predicted Seconds) float64 {
	return math.Abs((real - predicted) / real)
}
