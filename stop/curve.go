package stop

import (
	"fmt"
	"math"

	"github.com/assay-run/assay"
	"gonum.org/v1/gonum/stat/distuv"
)

// Curve stops a run that is unlikely to end better than the best, by its course. The gain of a run from a step on is
// predicted from its gain since half as many steps: a line through the runs that finished,
//
//	end - value(s) = a + b·(value(s/2) - value(s)),
//
// by least squares, with Student's t for the uncertainty of a new run. The run is stopped if its chance to end better
// is below Level. Values of one sign are taken as logarithms. It needs a curve of the goal's metric, see
// [assay.Measurement], which may fall or grow.
type Curve struct {
	After    int     // finished runs that have come as far; 0 means 6
	Level    float64 // 0 means 0.05
	From     int     // the first step at which a run may be stopped; 0 means 2
	Maximize bool    // the metric of the curve
}

var _ assay.CurveStopper = Curve{}

// Follows implements [assay.CurveStopper].
func (Curve) Follows() bool { return true }

const (
	curveAfter = 6
	curveLevel = 0.05
	curveFrom  = 2    // half as many steps are then one
	curveLeast = 0.02 // of the spread of the ends: no prediction is surer than that
)

// Decide implements [assay.Stopper].
func (r Curve) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	goOn := assay.Decision{Predicted: math.NaN()}
	curve := running.Measurement.Curve
	step := curve.Last()
	after, level, from := r.After, r.Level, max(r.From, curveFrom)
	if after == 0 {
		after = curveAfter
	}
	if level == 0 {
		level = curveLevel
	}
	best, ok := assay.Best(history)
	if !ok || step < from {
		return goOn
	}
	var now, half, ends []float64
	for _, t := range history {
		if c := t.Measurement.Curve; c.Last() >= step && t.State == assay.Done {
			v, h := at(c, step, r.Maximize)
			now, half, ends = append(now, v), append(half, h), append(ends, t.Value)
		}
	}
	if len(ends) < max(3, after) {
		return goOn
	}
	v, h := at(curve, step, r.Maximize)
	to, from0 := scaleOf(append(append(append([]float64{v, h, best.Value}, now...), half...), ends...))
	x, y := make([]float64, len(ends)), make([]float64, len(ends))
	spread := 0.0
	for i := range ends {
		x[i], y[i] = to(half[i])-to(now[i]), to(ends[i])-to(now[i])
		spread = max(spread, math.Abs(to(ends[i])-to(best.Value)))
	}
	gain, std := line(x, y, to(h)-to(v), curveLeast*spread)
	predicted := to(v) + gain
	chance := distuv.StudentsT{Mu: predicted, Sigma: std, Nu: float64(len(ends) - 2)}.CDF(to(best.Value))
	if !(chance < level) {
		return goOn
	}
	end := from0(predicted)
	return assay.Decision{
		Stop: true, Predicted: end,
		Reason: fmt.Sprintf("%s is %s after %d reports and predicted to end at %s, by how %d runs went on; the best is %s "+
			"(chance to be better "+
			"%.1f %%); the value is the last that was reported", curve.Metric, shown(v, r.Maximize), step,
			shown(end, r.Maximize), len(ends),
			shown(best.Value, r.Maximize), 100*chance),
	}
}

// at returns the last values of a curve up to a step and up to half of it; its first where nothing is left of that.
func at(c *assay.Curve, step int, maximize bool) (now, half float64) {
	values, before := c.Upto(step), c.Upto(step/2)
	if len(before) == 0 {
		before = values[:1]
	}
	return signed(values[len(values)-1], maximize), signed(before[len(before)-1], maximize)
}

// scaleOf returns the scale on which such values are compared, and the way back.
func scaleOf(values []float64) (to, from func(float64) float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	switch {
	case lo > 0:
		return math.Log, math.Exp
	case hi < 0:
		return func(v float64) float64 { return -math.Log(-v) }, func(v float64) float64 { return -math.Exp(-v) }
	}
	same := func(v float64) float64 { return v }
	return same, same
}

// line returns the prediction at x0 of a line through the points, and the deviation of a new point there, which is at
// least least. There are at least three points.
func line(x, y []float64, x0, least float64) (mean, std float64) {
	n := float64(len(x))
	var mx, my, sxx, sxy, rest float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		sxx, sxy = sxx+(x[i]-mx)*(x[i]-mx), sxy+(x[i]-mx)*(y[i]-my)
	}
	slope, lever := 0.0, 0.0
	if sxx > 0 {
		slope, lever = sxy/sxx, (x0-mx)*(x0-mx)/sxx
	}
	for i := range x {
		d := y[i] - my - slope*(x[i]-mx)
		rest += d * d
	}
	std = math.Sqrt(max(rest/(n-2), least*least, math.SmallestNonzeroFloat64) * (1 + 1/n + lever))
	return my + slope*(x0-mx), std
}
