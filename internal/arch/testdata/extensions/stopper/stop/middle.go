package stop

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// Middle stops a run as soon as its value exceeds the median of the trials that finished: the
// median stopping rule (Golovin et al. 2017, §3.2.1) for a metric that grows during a run. It
// stops less than [Incumbent], so that a model learns more of the configurations that are not
// the best. The median of an even number of trials is the greater one in the middle. No run is
// stopped before three trials have finished.
type Middle struct{}

var _ assay.Stopper = Middle{}

// enough is how many trials must have finished before a run is stopped.
const enough = 3

// Decide implements [assay.Stopper].
func (Middle) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	var finished []assay.Trial
	for _, t := range history {
		if t.State == assay.Done && !math.IsNaN(t.Value) {
			finished = append(finished, t)
		}
	}
	if len(finished) < enough {
		return assay.Decision{Predicted: math.NaN()}
	}
	slices.SortStableFunc(finished, func(a, b assay.Trial) int { return cmp.Compare(a.Value, b.Value) })
	return against(running, finished[len(finished)/2], "the median is")
}
