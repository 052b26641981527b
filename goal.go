package assay

import (
	"fmt"
	"math"
)

// A Goal is the objective of a study: one metric to minimize or maximize, or the Pareto front of two or three, within
// limits on measured metrics.
type Goal struct {
	Metric   string
	Maximize bool
	// Others are further objectives, at most two. With them no single trial is the best: the
	// study looks for the Pareto front; see [Front]. Metric is the first objective.
	Others []Objective
	// Grows means that the metric can only grow during a run, as elapsed time, energy and cost do, so that a run may be
	// stopped early and its value so far is a lower bound of the final one. It is never true of a maximized metric. With
	// several objectives it is true only if it is true of each.
	Grows  bool
	Unit   string  // unit of the metric or "", for people
	Limits []Limit // all must hold
	// Level, if set, is the value of one parameter at which runs are answers; see [Level].
	Level *Level
}

// A Limit is a condition on the metrics of a run that has ended.
type Limit struct {
	Text string // as the user wrote it
	// Holds reports whether the metrics satisfy the limit. It returns an error
	// if a metric that it needs was not measured.
	Holds func(metric func(name string) (float64, bool)) (bool, error)
	// Bounds are the parts of the limit: it holds if and only if all of them do. A limit without Bounds is one bound
	// itself; see [Goal.Bounds].
	Bounds []Bound
}

// An Objective is one metric of a goal that has several.
type Objective struct {
	Metric   string
	Maximize bool
	Unit     string // of the metric or "", for people
}

// Several reports whether the goal has more than one objective.
func (g Goal) Several() bool { return len(g.Others) > 0 }

// Objectives returns all objectives in order, starting with the objective of Metric.
func (g Goal) Objectives() []Objective {
	return append([]Objective{{g.Metric, g.Maximize, g.Unit}}, g.Others...)
}

// Value returns the objective value of a measurement, to be minimized: the metric itself, or its negative if it is
// maximized. With several objectives it is the value of the first. It returns an error if the metric of any objective
// was not measured or is not finite.
func (g Goal) Value(m Measurement) (float64, error) {
	x, err := Objective{g.Metric, g.Maximize, g.Unit}.Value(m)
	for _, o := range g.Others {
		if err == nil {
			_, err = o.Value(m)
		}
	}
	if err != nil {
		return math.Inf(1), err
	}
	return x, nil
}

// Values returns the values of the objectives, in order, each to be minimized. It returns the same errors as Value.
func (g Goal) Values(m Measurement) ([]float64, error) {
	var values []float64
	for _, o := range g.Objectives() {
		x, err := o.Value(m)
		if err != nil {
			return nil, err
		}
		values = append(values, x)
	}
	return values, nil
}

// Value is [Goal.Value] of one objective.
func (o Objective) Value(m Measurement) (float64, error) {
	x, ok := m.Metric(o.Metric)
	if !ok {
		err := fmt.Errorf("metric %q was not measured", o.Metric)
		if why := m.Missing[o.Metric]; why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		return math.Inf(1), err
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Inf(1), fmt.Errorf("metric %q is %v", o.Metric, x)
	}
	return o.Show(x), nil
}

// Show returns the metric that a value of the objective stands for.
func (o Objective) Show(value float64) float64 {
	if o.Maximize {
		return -value
	}
	return value
}

// Show returns the metric that an objective value stands for; of several objectives a
// value of the first.
func (g Goal) Show(value float64) float64 { return Objective{Maximize: g.Maximize}.Show(value) }

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
