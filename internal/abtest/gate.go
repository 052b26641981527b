package abtest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// GateError is the most that a gate errs on each side: how often all comparisons of a
// report together call a command slower that is not, and how often they pass one that
// is slower than the limit.
const GateError = 0.01

// resolution is how far beyond the limit of a gate a slowdown is meant to be found in
// 95 of 100 cases: rounds are asked for accordingly.
const resolution = 0.05

// A Gate is a difference that fails: more than Limit to one side.
type Gate struct {
	Side  Direction
	Limit float64 // a fraction, at least 0
}

// A Direction is the side of the limit of a gate that fails.
type Direction string

// The directions of a gate. Slower is worse, for every metric: less of a maximized metric, more of any
// other.
const (
	Slower Direction = "slower"
	More   Direction = "more"
	Less   Direction = "less"
)

var gateForm = regexp.MustCompile(`^\s*(slower|worse|more|less)\s*(?:>\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(%?)\s*)?$`)

// ParseGate reads "slower > 3%", "more > 0.5 %" or "less > 10%". "slower" alone is
// slower > 0%, and "worse" another word for slower. A number without % is a fraction:
// 0.03 is 3 %. The error is of the class usage.
func ParseGate(text string) (*Gate, error) {
	m := gateForm.FindStringSubmatch(text)
	if m == nil {
		return nil, assay.Errorf(assay.ClassUsage, "%q: a limit is written 'slower > 3%%' (or more, less)", text)
	}
	g := &Gate{Side: Direction(m[1])}
	if m[1] == "worse" {
		g.Side = Slower
	}
	if m[2] == "" {
		return g, nil
	}
	x, err := strconv.ParseFloat(m[2], 64)
	if err != nil || math.IsInf(x, 0) {
		return nil, assay.Errorf(assay.ClassUsage, "%q: %s is not a number", text, m[2])
	}
	if m[3] == "" && x >= 1 {
		return nil, assay.Errorf(assay.ClassUsage, "%q: did you mean %s%%?", text, m[2])
	}
	if m[3] == "%" {
		x /= 100
	}
	if x >= 1 && g.Side == Less {
		return nil, assay.Errorf(assay.ClassUsage, "%q: nothing is less by 100 %% or more", text)
	}
	g.Limit = x
	return g, nil
}

// String returns the form that ParseGate reads, "slower > 3 %".
func (g *Gate) String() string {
	return string(g.Side) + " > " + report.Number(100*g.Limit, 4) + " %"
}

// words describes for people when the gate fails: "slower by more than 3 %".
func (g *Gate) words(metric string) string {
	is := "slower"
	if g.Side != Slower {
		is = fmt.Sprintf("%s in %s", map[Direction]string{More: "higher", Less: "lower"}[g.Side], metric)
	} else if metric != "elapsed" {
		is = "worse in " + metric
	}
	if g.Limit == 0 {
		return is
	}
	return fmt.Sprintf("%s by more than %s %%", is, report.Number(100*g.Limit, 4))
}

// upwards reports whether it is more of the metric that fails.
func (g *Gate) upwards(maximize bool) bool {
	return g.Side == More || g.Side == Slower && !maximize
}

// An Outcome is the result of a gate on a comparison.
type Outcome string

// The outcomes of a gate. Passed is shown, not assumed: the difference is within the
// limit.
const (
	Failed  Outcome = "slower"
	Passed  Outcome = "not slower"
	Unknown Outcome = "cannot tell"
)

// judge returns the outcome for a change whose interval is [low, high].
func (g *Gate) judge(low, high float64, maximize bool) Outcome {
	if !g.upwards(maximize) {
		low, high = -high, -low
	}
	switch {
	case low > g.Limit:
		return Failed
	case high <= g.Limit:
		return Passed
	}
	return Unknown
}

// gaps returns how far, on the scale of logarithms, the limit is from no difference and
// from the difference that is meant to be found. The first is 0 for a limit of 0.
func (g *Gate) gaps(maximize bool) (pass, find float64) {
	sign := 1.0
	if !g.upwards(maximize) {
		sign = -1
	}
	limit := math.Log1p(sign * g.Limit)
	return math.Abs(limit), math.Abs(math.Log1p(max(sign*(g.Limit+resolution), -0.999)) - limit)
}
