package result

import (
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

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

// valueText formats the objective of a trial: "> 1.2 s" if it was stopped there, "–" without a value.
func valueText(g assay.Goal, t assay.Trial) string {
	switch t.State {
	case assay.Running, assay.Failed, assay.Withdrawn:
		return "–"
	}
	if g.Several() {
		var parts []string
		for _, o := range g.Objectives() {
			parts = append(parts, objectiveText(o, t))
		}
		return strings.Join(parts, ", ")
	}
	switch t.State {
	case assay.Censored:
		return "> " + report.Metric(g.Show(t.Value), g.Unit)
	}
	return report.Metric(g.Show(t.Value), g.Unit)
}

// objectiveText is valueText for one of several objectives.
func objectiveText(o assay.Objective, t assay.Trial) string {
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
