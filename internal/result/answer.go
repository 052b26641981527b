package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/study"
	"github.com/assay-run/assay/view"
)

// A basis is the part of the definition of a study that an answer needs.
type basis struct {
	values   func(assay.Config) map[string]any
	declared bool // the first configuration is the program's current one
	exact    bool // values from a recorded table have no noise
}

// newAnswer returns the answer of a study with one objective that has found something, and the recommended trial.
func newAnswer(b basis, goal assay.Goal, r study.Result) (*view.Answer, assay.Trial) {
	chosen := r.Best
	a := &view.Answer{Value: goal.Show(r.Best.Value), Runs: max(1, r.Runs)}
	g := NewGain(goal, r)
	a.Gain = b.gainText(goal, r, g)
	if g != nil {
		a.Shown, a.Least = g.Shown, g.least(!goal.Maximize)
	}
	compared := len(r.Checks) > 0 || r.Short != ""
	worse := g != nil && !g.Shown && g.Verdict != "~"
	other := r.First.State == assay.Done && r.First.ID != r.Best.ID
	if other && compared && (worse || b.declared && !a.Shown) {
		a.Keep, chosen = true, r.First
		a.Candidate = &view.Candidate{
			Trial: r.Best.ID, Config: b.values(r.Best.Config), Value: a.Value, Runs: a.Runs,
		}
		a.Value, a.Runs = r.FirstMeasured(goal)
	} else if b.declared && r.First.ID == r.Best.ID {
		a.Keep = true
	}
	a.Trial, a.Config = chosen.ID, b.values(chosen.Config)
	a.Limits = keptBy(goal, r.RunsOf(chosen.Config))
	a.Passed = passedOver(goal, r)
	return a, chosen
}

// gainText describes the gain of the best over the first configuration.
func (b basis) gainText(goal assay.Goal, r study.Result, g *Gain) string {
	first := Baseline(b.declared, r.First.ID)
	switch {
	case r.First.ID == r.Best.ID:
		return "none: " + first + " is the best"
	case r.First.State != assay.Done:
		was := ""
		if r.First.State != assay.Failed {
			was = "was "
		}
		return "not known: " + first + " " + was + Word(r.First.State) + reasonOf(r.First)
	case g != nil:
		return g.Text
	}
	v, ok := r.Verdict(goal)
	if !ok || math.IsNaN(v.Change) || math.IsInf(v.Change, 0) {
		return "not known"
	}
	text := changeText(goal.Unit, v.Change, 2)
	if b.exact {
		return changeText(goal.Unit, v.Change, 3) + " than " + first
	}
	_, runs := r.FirstMeasured(goal)
	return fmt.Sprintf("not shown: %s in %d + %d runs, too few for an interval", text, runs, max(1, r.Runs))
}

// Baseline returns the name of the configuration that the best is compared with, of the trial first: see
// [study.Study.Declared].
func Baseline(declared bool, first int64) string {
	switch {
	case declared:
		return "the default"
	case first > 1:
		return fmt.Sprintf("the first configuration that finished (trial %d)", first)
	}
	return "the first configuration"
}

func reasonOf(t assay.Trial) string {
	if t.Reason == "" {
		return ""
	}
	return ": " + t.Reason
}

// A bounded metric is a metric with a limit of its own, and the values of the runs.
type boundedMetric struct {
	name, unit string
	values     []float64
	limit      float64
	lower      bool // the limit is a lower one
}

// boundedBy returns the metric that a bound bounds alone, with the values that runs had; ok is false for other bounds.
func boundedBy(b assay.Bound, runs []assay.Trial) (m boundedMetric, ok bool) {
	m.name, m.unit, m.lower = cmp.Or(b.Metric, b.Least), b.Unit, b.Least != ""
	for _, t := range runs {
		left, right, err := b.Sides(t.Measurement.Metric)
		if m.name == "" || err != nil || t.State != assay.Done && t.State != assay.Infeasible {
			continue
		}
		if m.lower {
			left, right = right, left
		}
		m.values, m.limit = append(m.values, left), right
	}
	return m, len(m.values) > 0
}

// worst returns the value that is nearest to the limit, or farthest beyond it.
func (m boundedMetric) worst() float64 {
	if m.lower {
		return slices.Min(m.values)
	}
	return slices.Max(m.values)
}

// span returns the values from the least to the greatest: "47.1 to 51.3 MB".
func (m boundedMetric) span() string {
	low, high := report.Metric(slices.Min(m.values), m.unit), report.Metric(slices.Max(m.values), m.unit)
	if low == high {
		return high
	}
	if number, unit, ok := strings.Cut(low, " "); ok && strings.HasSuffix(high, " "+unit) {
		low = number
	}
	return low + " to " + high
}

// keptBy returns the limits of single metrics with the values of a configuration's runs.
func keptBy(goal assay.Goal, runs []assay.Trial) (all []view.Kept) {
	for _, b := range goal.Bounds() {
		if m, ok := boundedBy(b, runs); ok {
			text := m.name + " " + report.Beside(m.worst(), m.limit, m.unit, m.lower)
			all = append(all, view.Kept{Metric: m.name, Value: m.worst(), Limit: m.limit, Text: text})
		}
	}
	return all
}

// passedOver describes the configurations that would be recommended if their repeated runs had not failed or broken a
// limit.
func passedOver(goal assay.Goal, r study.Result) (all []string) {
	for _, x := range r.Refuted {
		broken := again(x.Broken)
		broken.Runs = max(broken.Runs, x.Runs)
		all = append(all, fmt.Sprintf("trial %d: %s", x.Trial.ID, brokenText(goal, r.RunsOf(x.Trial.Config), broken)))
	}
	return all
}

// brokenText describes runs that broke a limit, with their values of its metric, or that failed.
func brokenText(goal assay.Goal, runs []assay.Trial, broken Reruns) string {
	for _, b := range goal.Bounds() {
		m, ok := boundedBy(b, runs)
		if ok && (m.lower && m.worst() < m.limit || !m.lower && m.worst() > m.limit) {
			return fmt.Sprintf("%s %s in %s, limit %s", m.name, m.span(), report.Count(len(m.values), "run", "runs"),
				report.Metric(m.limit, m.unit))
		}
	}
	broken.Runs = max(broken.Runs, len(runs))
	return broken.Text()
}

// mostPassed is how many of those that were passed over are named.
const mostPassed = 3

// passedText describes in one line the configurations that were passed over.
func passedText(passed []string) string {
	text := strings.Join(passed[:min(len(passed), mostPassed)], "; ")
	if n := len(passed) - mostPassed; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}
