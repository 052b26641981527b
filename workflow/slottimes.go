package workflow

import (
	"errors"
	"math"
)

// SlotTimes describes how the run times of tasks change with the number of slots, which share memory,
// network and storage (§VI: "estimating runtimes in relation to the number of slots used"). The run time
// of a kind is in proportion to a power of the slots. It is immutable.
type SlotTimes struct {
	power map[string]float64 // by kind
}

const (
	// slotRidge is how far the slots of executions must be apart for their run
	// times to count half: a factor of two once, as a square of logarithms.
	slotRidge = 0.24
	// mostPower bounds the power: twice the slots take at most twice as long, and
	// at least half as long.
	mostPower = 1.0
)

// ErrSameSlots is returned by [FitSlotTimes].
var ErrSameSlots = errors.New("run times on one number of slots only, or on none that was recorded")

// FitSlotTimes fits the power of each kind to executions of one application with
// inputs of one size on different numbers of cores, by least squares of the
// logarithms of the mean run times, drawn to 0. Kinds that were not seen on two numbers
// of cores have the power 0. It returns [ErrSameSlots] if there is no other kind.
func FitSlotTimes(runs ...*Workflow) (*SlotTimes, error) {
	type point struct{ x, y float64 }
	points := map[string][]point{}
	for _, w := range runs {
		if w.Cores() < 1 {
			continue
		}
		sum, n := map[string]float64{}, map[string]float64{}
		for i := range w.Tasks {
			if t := &w.Tasks[i]; t.Run > 0 {
				sum[t.Kind] += t.Run
				n[t.Kind]++
			}
		}
		for kind, s := range sum {
			points[kind] = append(points[kind], point{math.Log(float64(w.Cores())), math.Log(s / n[kind])})
		}
	}
	m := &SlotTimes{power: map[string]float64{}}
	for kind, p := range points {
		var x, y, xx, xy float64
		for _, q := range p {
			x, y = x+q.x/float64(len(p)), y+q.y/float64(len(p))
		}
		for _, q := range p {
			xx += (q.x - x) * (q.x - x)
			xy += (q.x - x) * (q.y - y)
		}
		if xx > 1e-9 {
			m.power[kind] = max(-mostPower, min(mostPower, xy/(xx+slotRidge)))
		}
	}
	if len(m.power) == 0 {
		return nil, ErrSameSlots
	}
	return m, nil
}

// Power returns the power of a kind, 0 if it is not known.
func (m *SlotTimes) Power(kind string) float64 { return m.power[kind] }

// At returns w with the run times that its tasks have on a number of slots >= 1,
// if they are recorded on its cores; w itself if it has none or m is nil.
func (m *SlotTimes) At(w *Workflow, slots int) *Workflow {
	if m == nil || w.Cores() < 1 || w.Cores() == slots {
		return w
	}
	ratio := float64(slots) / float64(w.Cores())
	run := w.Runs()
	for i := range run {
		run[i] *= math.Pow(ratio, m.power[w.Tasks[i].Kind])
	}
	return w.WithRuns(run)
}
