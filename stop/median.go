package stop

import (
	"fmt"
	"math"
	"strconv"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// Median stops a run whose best report so far is worse than the median of the best reports of the other runs up to the
// same step: the median stopping rule (Golovin et al., "Google Vizier: a service for black-box optimization", 2017,
// §3.2.2). Runs that were stopped count where they have come as far. It needs a curve of the goal's metric, see
// [assay.Measurement], which may fall or grow.
type Median struct {
	After    int  // other runs that have come as far; 0 means 5
	From     int  // the first step at which a run may be stopped; 0 means 1
	Maximize bool // the metric of the curve
}

var _ assay.CurveStopper = Median{}

// Follows implements [assay.CurveStopper].
func (Median) Follows() bool { return true }

// medianAfter is the default number of other runs that a median needs.
const medianAfter = 5

// Decide implements [assay.Stopper].
func (r Median) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	curve := running.Measurement.Curve
	step := curve.Last()
	goOn := assay.Decision{Predicted: math.NaN()}
	after := r.After
	if after == 0 {
		after = medianAfter
	}
	if step == 0 || step < r.From {
		return goOn
	}
	mine := least(curve.Upto(step), r.Maximize)
	var others []float64
	for _, t := range history {
		if c := t.Measurement.Curve; c.Last() >= step && ranCurve(t) {
			others = append(others, least(c.Upto(step), r.Maximize))
		}
	}
	if len(others) < after {
		return goOn
	}
	median := stats.Median(others)
	if !(mine > median) {
		return goOn
	}
	return assay.Decision{
		Stop: true, Predicted: running.Value,
		Reason: fmt.Sprintf("%s is %s after %d reports, where the median of %d runs is %s; the value is the last "+
			"that was reported",
			curve.Metric, shown(mine, r.Maximize), step, len(others), shown(median, r.Maximize)),
	}
}

// ranCurve reports whether the curve of a trial is one of a run as others are: to its end, or to where a rule stopped
// it.
func ranCurve(t assay.Trial) bool {
	return t.State == assay.Done || t.State == assay.Infeasible || t.Stopped()
}

// least returns the best of some values of a metric, which is minimized: of one that is maximized the negative.
func least(values []float64, maximize bool) float64 {
	best := math.Inf(1)
	for _, v := range values {
		best = min(best, signed(v, maximize))
	}
	return best
}

func signed(v float64, maximize bool) float64 {
	if maximize {
		return -v
	}
	return v
}

// shown writes a value as its metric has it.
func shown(v float64, maximize bool) string {
	return strconv.FormatFloat(signed(v, maximize), 'g', 4, 64)
}
