package bench

import (
	"fmt"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
)

// Recorded returns the problem of a recorded table: its optimum and its worst value are taken over the
// feasible rows. interval is how often a run is observed; grows reports which metrics grow while a run
// goes on (see [table.NewReplay]). An error matches assay.ErrEmpty if no row is feasible, and is of the
// class usage if the optimum is 0, to which there is no relative error.
func Recorded(name string, t *table.Table, space *assay.Space, goal assay.Goal, interval time.Duration,
	grows func(metric string) bool,
) (*Problem, error) {
	p := &Problem{
		Name: name, Space: space, Goal: goal, Interval: interval, Median: t.MedianElapsed(),
		True: Truth(t, goal),
		Replay: func(uint64) (assay.Runner, assay.Clock) {
			clock := &table.SimClock{}
			return table.NewReplay(t, clock, grows), clock
		},
	}
	if goal.Level != nil {
		p.Median = medianAtFull(t, goal, p.Median)
	}
	if goal.Several() {
		var err error
		p.front, err = newFronted(t, space, goal)
		return p, err
	}
	return p, p.findOptimum()
}

// medianAtFull returns the median run time of the configurations at the full level, or other if there are none.
func medianAtFull(t *table.Table, goal assay.Goal, other time.Duration) time.Duration {
	var all []float64
	for _, c := range t.Configs {
		if m, ok := t.Mean(c); ok && goal.Reached(c) && m.Elapsed > 0 {
			all = append(all, float64(m.Elapsed))
		}
	}
	if len(all) == 0 {
		return other
	}
	return time.Duration(stats.Median(all))
}

// findOptimum sets the least and the greatest value of the feasible configurations.
func (p *Problem) findOptimum() error {
	found := false
	for c := range p.Space.All() {
		v, ok := p.True(c)
		if !ok {
			continue
		}
		if !found || v < p.Optimum {
			p.Optimum = v
		}
		if !found || v > p.Worst {
			p.Worst = v
		}
		found = true
	}
	switch {
	case !found:
		return fmt.Errorf("%w: no row of the table is within the limits", assay.ErrEmpty)
	case p.Optimum == 0:
		return assay.Errorf(assay.ClassUsage, "the optimum is 0, so that there is no relative error")
	}
	return nil
}
