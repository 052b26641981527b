package stop

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-run/assay"
)

// Dominated stops a run of a study with several objectives as soon as what it has come to is dominated by
// a finished trial: as bad or worse in every objective, and each of them only grows. With exact
// measurements it never stops a run that would have been in the front. Where the metric of one objective may
// fall again a run that goes on says nothing of it, and none is stopped: see [assay.Goal].Grows.
//
// Margin lets a run go on until it is that share worse than the finished trial in every objective, for
// runs that are noisy: see [Incumbent].
type Dominated struct {
	Goal   assay.Goal
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
