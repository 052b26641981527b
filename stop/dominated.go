package stop

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-run/assay"
)

// Dominated stops a run of a study with several objectives as soon as its values so far are dominated by a finished
// trial: as bad or worse in every objective, if each of them can only grow. With exact measurements it never stops a
// run that would have been in the Pareto front. If the metric of one objective may fall again, the values of a run in
// progress prove nothing, and no run is stopped: see [assay.Goal].Grows.
//
// Margin lets a run continue until it is that share worse than the finished trial in every objective, for noisy runs:
// see [Incumbent].
type Dominated struct {
	Goal   assay.Goal // with all objectives
	Margin float64
}

var _ assay.Stopper = Dominated{}

// Decide implements [assay.Stopper].
func (s Dominated) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	no := assay.Decision{Predicted: math.NaN()}
	now, err := s.Goal.Values(running.Measurement)
	if err != nil {
		return no
	}
	for _, t := range history {
		if t.State != assay.Done {
			continue
		}
		x, err := s.Goal.Values(t.Measurement)
		if err != nil || !s.beaten(now, x) {
			continue
		}
		var parts []string
		for i, o := range s.Goal.Objectives() {
			parts = append(parts, fmt.Sprintf("%s %.4g, already %.4g", o.Metric, o.Show(x[i]), o.Show(now[i])))
		}
		return assay.Decision{
			Stop: true, Predicted: math.NaN(),
			Reason: fmt.Sprintf("trial %d is better in all objectives: %s", t.ID, strings.Join(parts, ", ")),
		}
	}
	return no
}

// beaten reports whether x is better than now in every objective, by the margin.
func (s Dominated) beaten(now, x []float64) bool {
	for i := range x {
		if now[i] < x[i]+s.Margin*math.Abs(x[i]) {
			return false
		}
	}
	return true
}
