package result

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/study"
)

// An Answer is the recommendation of a study with one objective. Commands, reports, pages and clients all show these
// values. Its JSON is a contract.
type Answer struct {
	// Keep is whether the first configuration is recommended, since no gain over it is shown.
	Keep   bool           `json:"keep"`
	Trial  int64          `json:"trial"` // the recommended one
	Config map[string]any `json:"config"`
	Value  float64        `json:"value"` // the median of the runs of that configuration
	Runs   int            `json:"runs"`
	// Candidate is the best that was found, if it is not recommended.
	Candidate *Candidate `json:"candidate,omitempty"`
	// Gain is the gain of the best over the first configuration in words: "22.9 % faster [15.1, 29.0], 9 pairs".
	Gain string `json:"gain"`
	// Shown is whether a gain is shown, and Least is its lower bound, as a share of the value of the first.
	Shown  bool        `json:"shown"`
	Least  float64     `json:"least"`
	Limits []Kept      `json:"limits,omitempty"` // of the recommended configuration
	Passed []string    `json:"passed_over,omitempty"`
	Run    string      `json:"run,omitempty"` // a line for a shell that runs it
	of     assay.Trial // that is recommended
}

// A Candidate is a configuration that is not recommended, since no gain is shown.
type Candidate struct {
	Trial  int64          `json:"trial"`
	Config map[string]any `json:"config"`
	Value  float64        `json:"value"`
	Runs   int            `json:"runs"`
}

// A Kept is a limit beside the greatest value that the runs of a configuration had of its metric, or the least where
// the limit is a lower one.
type Kept struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Limit  float64 `json:"limit"`
	Text   string  `json:"text"` // "max_rss 31 MB of 48 MB"
}

// A basis is the part of the definition of a study that an answer needs.
type basis struct {
	values   func(assay.Config) map[string]any
	unit     func(metric string) string
	declared bool // the first configuration is the one that the program has now
	exact    bool // values have no noise, since a recorded table has them
}

// newAnswer returns the answer of a study with one objective that has found something.
func newAnswer(b basis, goal assay.Goal, r study.Result) *Answer {
	a := &Answer{Trial: r.Best.ID, Value: goal.Show(r.Best.Value), Runs: max(1, r.Runs), of: r.Best}
	g := NewGain(goal, r)
	a.Gain = b.gainText(goal, r, g)
	if g != nil {
		a.Shown, a.Least = g.Shown, g.least(!goal.Maximize)
	}
	compared := len(r.Checks) > 0 || r.Short != ""
	worse := g != nil && !g.Shown && g.Verdict != "~"
	other := r.First.State == assay.Done && r.First.ID != r.Best.ID
	if other && compared && (worse || b.declared && !a.Shown) {
		a.Keep, a.Trial, a.of = true, r.First.ID, r.First
		a.Candidate = &Candidate{
			Trial: r.Best.ID, Config: b.values(r.Best.Config), Value: a.Value, Runs: a.Runs,
		}
		a.Value, a.Runs = r.FirstMeasured(goal)
	} else if b.declared && r.First.ID == r.Best.ID {
		a.Keep = true
	}
	a.Config = b.values(a.of.Config)
	a.Limits = keptBy(goal, b.unit, r.RunsOf(a.of.Config))
	a.Passed = passedOver(goal, b.unit, r)
	return a
}

// gainText describes the gain of the best over the first configuration.
func (b basis) gainText(goal assay.Goal, r study.Result, g *Gain) string {
	first := "the first configuration"
	if b.declared {
		first = "the default"
	}
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

func reasonOf(t assay.Trial) string {
	if t.Reason == "" {
		return ""
	}
	return ": " + t.Reason
}

// lowerBound is the text of a limit that is a lower one: fps >= 30.
var lowerBound = regexp.MustCompile(`^([A-Za-z_][\w.-]*) >=? [-+0-9.e]+$`)

// A bounded metric is one that a limit bounds alone, with the values that runs had.
type boundedMetric struct {
	name, unit string
	values     []float64
	limit      float64
	lower      bool // the limit is a lower one
}

// boundedBy returns the metric that a bound bounds alone, with the values that runs had; ok is false for other bounds.
func boundedBy(b assay.Bound, unit func(string) string, runs []assay.Trial) (m boundedMetric, ok bool) {
	m.name = b.Metric
	if found := lowerBound.FindStringSubmatch(b.Text); m.name == "" && found != nil {
		m.name, m.lower = found[1], true
	}
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
	m.unit = unit(m.name)
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

// keptBy returns the limits of one metric beside the values that the runs of a configuration had.
func keptBy(goal assay.Goal, unit func(string) string, runs []assay.Trial) (all []Kept) {
	for _, b := range goal.Bounds() {
		if m, ok := boundedBy(b, unit, runs); ok {
			text := fmt.Sprintf("%s %s of %s", m.name, report.Metric(m.worst(), m.unit), report.Metric(m.limit, m.unit))
			if m.lower {
				text = fmt.Sprintf("%s %s, at least %s", m.name, report.Metric(m.worst(), m.unit), report.Metric(m.limit, m.unit))
			}
			all = append(all, Kept{m.name, m.worst(), m.limit, text})
		}
	}
	return all
}

// passedOver describes the configurations that would be recommended if their repeated runs had not failed or broken a
// limit.
func passedOver(goal assay.Goal, unit func(string) string, r study.Result) (all []string) {
	for _, x := range r.Refuted {
		broken := again(x.Broken)
		broken.Runs = max(broken.Runs, x.Runs)
		all = append(all, fmt.Sprintf("trial %d: %s", x.Trial.ID, brokenText(goal, unit, r.RunsOf(x.Trial.Config), broken)))
	}
	return all
}

// brokenText describes runs that broke a limit, with their values of its metric, or that failed.
func brokenText(goal assay.Goal, unit func(string) string, runs []assay.Trial, broken Reruns) string {
	for _, b := range goal.Bounds() {
		m, ok := boundedBy(b, unit, runs)
		if ok && (m.lower && m.worst() < m.limit || !m.lower && m.worst() > m.limit) {
			return fmt.Sprintf("%s %s in %s, limit %s", m.name, m.span(), plural(len(m.values), "1 run", "%d runs"),
				report.Metric(m.limit, m.unit))
		}
	}
	broken.Runs = max(broken.Runs, len(runs))
	return broken.Text()
}

// mostPassed is how many of those that were passed over are named.
const mostPassed = 3

// passedText describes in one line the configurations that were passed over.
func (a *Answer) passedText() string {
	text := strings.Join(a.Passed[:min(len(a.Passed), mostPassed)], "; ")
	if n := len(a.Passed) - mostPassed; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}
