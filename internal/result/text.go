package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// Better says in words how far b is from a where no difference is shown: "2 % better [5 % worse,
// 8 % better]". lower says that less is better.
func (g *Gain) Better(lower bool) string {
	show := func(change float64) string {
		switch {
		case change == 0:
			return "0 %"
		case (change < 0) == lower:
			return plainNumber(100*math.Abs(change), 2) + " % better"
		}
		return plainNumber(100*math.Abs(change), 2) + " % worse"
	}
	text := show(g.Change)
	low, high := g.CI95[0], g.CI95[1]
	if low == nil || high == nil {
		return text
	}
	if lower {
		low, high = high, low
	}
	return fmt.Sprintf("%s [%s, %s]", text, show(*low), show(*high))
}

// Text returns "31 % [28, 35]" for a change in the direction of the
// verdict, "-2 % [-5, +1]" for none.
func (g *Gain) Text() string {
	sign, show := 100.0, func(x float64) string { return plainNumber(x, 3) }
	switch g.Verdict {
	case "less":
		sign = -100
	case "more":
	default:
		show = func(x float64) string {
			if text := plainNumber(x, 2); text[0] == '-' {
				return text
			}
			return "+" + plainNumber(x, 2)
		}
	}
	text := show(sign*g.Change) + " %"
	lo, hi := g.CI95[0], g.CI95[1]
	if lo == nil || hi == nil {
		return text
	}
	low, high := sign**lo, sign**hi
	return fmt.Sprintf("%s [%s, %s]", text, show(min(low, high)), show(max(low, high)))
}

// plainNumber returns x rounded to n significant digits, without an exponent.
func plainNumber(x float64, n int) string {
	return strconv.FormatFloat(report.Round(x, n), 'f', -1, 64)
}

// Text returns "40: 22 done, 15 stopped, 3 failed".
func (c Counts) Text() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{c.Done, "done"},
		{c.Censored, "stopped"},
		{c.Failed, "failed"},
		{c.Infeasible - c.Below, "outside limits"},
		{c.Below, "below the full level"},
		{c.Withdrawn, "withdrawn"},
		{c.Total - c.Done - c.Censored - c.Failed - c.Infeasible - c.Withdrawn, "unfinished"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", c.Total, strings.Join(parts, ", "))
}

// ValueText returns the objective of a trial for people: "> 1.2 s" if it was
// stopped there, "–" if there is none.
func ValueText(g assay.Goal, t assay.Trial) string {
	switch t.State {
	case assay.Running, assay.Failed, assay.Withdrawn:
		return "–"
	}
	if g.Several() {
		var parts []string
		for _, o := range g.Objectives() {
			parts = append(parts, ObjectiveText(o, t))
		}
		return strings.Join(parts, ", ")
	}
	switch t.State {
	case assay.Censored:
		return "> " + report.Metric(g.Show(t.Value), g.Unit)
	}
	return report.Metric(g.Show(t.Value), g.Unit)
}

// ObjectiveText is ValueText of one objective of several.
func ObjectiveText(o assay.Objective, t assay.Trial) string {
	x, err := o.Value(t.Measurement)
	switch {
	case err != nil || t.State == assay.Running || t.State == assay.Failed || t.State == assay.Withdrawn:
		return "–"
	case t.State == assay.Censored:
		return "> " + report.Metric(o.Show(x), o.Unit)
	}
	return report.Metric(o.Show(x), o.Unit)
}

// ParamText describes a parameter in one line.
func ParamText(q assay.Param) string {
	switch {
	case !q.Numeric():
		levels := q.Levels
		if len(levels) > 12 {
			levels = append(levels[:10:10], fmt.Sprintf("... %d in all", len(q.Levels)))
		}
		return fmt.Sprintf("%s: %s %s", q.Name, q.Kind, strings.Join(levels, " "))
	case q.Log:
		return fmt.Sprintf("%s: %s %s..%s, logarithmic", q.Name, q.Kind, q.Text(q.Lo), q.Text(q.Hi))
	}
	return fmt.Sprintf("%s: %s %s..%s", q.Name, q.Kind, q.Text(q.Lo), q.Text(q.Hi))
}
