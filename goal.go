package assay

import (
	"fmt"
	"math"
)

// A Goal is what a study looks for: one metric to minimize or maximize, within
// limits on measured metrics.
type Goal struct {
	Metric   string
	Maximize bool
	// Grows says that the metric can only grow while a run goes on, as elapsed
	// time, energy and cost do, so that a run may be stopped early and its
	// value so far is a lower bound of the final one. It is never true of a
	// maximized metric.
	Grows  bool
	Unit   string  // unit of the metric or "", for people
	Limits []Limit // all must hold
}

// A Limit is a condition on the metrics of a run that has ended.
type Limit struct {
	Text string // as the user wrote it
	// Holds reports whether the metrics satisfy the limit. It returns an error
	// if a metric that it needs was not measured.
	Holds func(metric func(name string) (float64, bool)) (bool, error)
	// Bounds are what it is made of: it holds if and only if all of them do. Without any it is one itself; see
	// [Goal.Bounds].
	Bounds []Bound
}

// Value returns the objective value of a measurement, to be minimized: the
// metric itself, or its negative if it is maximized. It returns an error if the
// metric was not measured or is not finite.
func (g Goal) Value(m Measurement) (float64, error) {
	x, ok := m.Metric(g.Metric)
	if !ok {
		err := fmt.Errorf("metric %q was not measured", g.Metric)
		if why := m.Missing[g.Metric]; why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		return math.Inf(1), err
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Inf(1), fmt.Errorf("metric %q is %v", g.Metric, x)
	}
	return g.sign() * x, nil
}

// Show returns the metric that an objective value stands for.
func (g Goal) Show(value float64) float64 { return g.sign() * value }

func (g Goal) sign() float64 {
	if g.Maximize {
		return -1
	}
	return 1
}

// Broken returns the first limit that a measurement breaks, in the words of the user,
// or "" if all hold. It returns an error if a limit before that needs a metric that
// was not measured: such a run has failed, rather than broken a limit.
func (g Goal) Broken(m Measurement) (string, error) {
	for _, l := range g.Limits {
		ok, err := l.Holds(m.Metric)
		if err != nil {
			return "", err
		}
		if !ok {
			return l.Text, nil
		}
	}
	return "", nil
}
