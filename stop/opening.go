package stop

import (
	"fmt"
	"math"
	"time"

	"github.com/assay-run/assay"
)

// Opening bounds the time of the first runs. Before a trial has finished no value to compare a run with exists, and an
// unlucky first configuration can take a whole time budget. Until then a first and a second run are stopped at Limit, a
// third at 2·Limit and a fourth at 4·Limit, and all later runs continue to their ends. These are the doubling limits of
// a restart strategy (Luby, Sinclair and Zuckerman 1993): the loss is at most 8·Limit, and on a program whose median
// run is shorter than Limit it is seldom more than that.
//
// Rule decides once a trial has finished. The time is the measurement's, for any objective.
type Opening struct {
	Rule  assay.Stopper // decides after the first finished trial
	Limit time.Duration // 0 means none: Rule decides alone
}

var _ assay.Stopper = Opening{}

// openings are the stopped runs after which none is stopped any more until one has
// finished.
const openings = 4

// Decide implements [assay.Stopper].
func (o Opening) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	stopped := 0
	for _, t := range history {
		switch t.State {
		case assay.Done:
			return o.Rule.Decide(history, running)
		case assay.Censored:
			stopped++
		}
	}
	if stopped >= openings || o.Limit <= 0 {
		return o.Rule.Decide(history, running)
	}
	limit := o.Limit
	for range stopped - 1 {
		limit *= 2
	}
	d := assay.Decision{Predicted: math.NaN()}
	if running.Measurement.Elapsed >= limit {
		d.Stop = true
		d.Reason = fmt.Sprintf("no run has finished yet, and this one has taken %.3g s",
			running.Measurement.Elapsed.Seconds())
	}
	return d
}
