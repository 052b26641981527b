package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/stats"
	"github.com/assay-run/assay/study"
)

// An outcome is what tune says at its end.
type outcome struct {
	result.Outcome
	problem *setup.Problem // for people
	result  study.Result   // for people
}

func newOutcome(p *setup.Problem, name string, r study.Result) *outcome {
	o := &outcome{result.NewOutcome(name, p.Space, p.Goal, r), p, r}
	if o.Best != nil && p.Program != nil {
		c := r.Best.Config
		o.Best.Command, o.Best.Dir, o.Best.Env = p.Program.Argv(c), p.Definition.Dir, p.Environment(c)
	}
	return o
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// writeText prints the result for people.
func (o *outcome) writeText(w io.Writer) error {
	var l lines
	if o.Best == nil {
		l.add("best", "none: no trial ran to its end within the limits")
	} else {
		l.add("best", "%s", o.problem.Space.Text(o.result.Best.Config))
		l.add(o.Objective.Metric, "%s (trial %d of %d)", showMetric(o.Best.Value, o.Objective.Unit), o.Best.Trial, o.Trials.Total)
		o.gainLine(&l)
		if o.Best.Command != nil {
			label, config := "command", o.result.Best.Config
			if o.worse() {
				label, config = "keep", o.result.First.Config
			}
			l.add(label, "%s", shellLine(o.problem, config))
		}
	}
	l.add("trials", "%s", countsText(o.Trials))
	spent := report.Seconds(o.Spent) + " spent"
	if o.problem.Table != nil {
		spent += " in simulated time"
	}
	if o.Saved > 0 {
		spent += ", about " + report.Seconds(o.Saved) + " saved by early stopping"
	}
	l.add("time", "%s, %s own overhead", spent, report.Seconds(o.Overhead))
	l.add("ended by", "%s; on record as study %s", endings[o.EndedBy], o.Study)
	return l.write(w)
}

var endings = map[string]string{
	"budget": "the time budget", "trials": "the number of trials", "target": "the target value",
	"search": "the search, which has nothing more to try", "interrupt": "an interrupt", "error": "an error",
}

// worse reports whether the runs at the end show that the best was lucky: the first
// configuration is better.
func (o *outcome) worse() bool {
	bad := stats.More
	if o.problem.Goal.Maximize {
		bad = stats.Less
	}
	return o.Gain != nil && o.Gain.Verdict == bad.String()
}

func (o *outcome) gainLine(l *lines) {
	first := "the first configuration"
	if len(o.problem.First) > 0 {
		first = "the default"
	}
	switch g := o.Gain; {
	case g != nil && g.Verdict == "~":
		l.add("gain", "~ no difference from %s is shown: %s (%d + %d more runs)", first, showChange(g), g.Runs, g.Runs)
	case o.worse():
		l.add("gain", "none: run again, the best has %s %s than %s (%d + %d more runs)", showChange(g), g.Verdict, first, g.Runs, g.Runs)
	case g != nil:
		l.add("gain", "%s %s than %s (%d + %d more runs)", showChange(g), g.Verdict, first, g.Runs, g.Runs)
	case o.result.First.ID == o.result.Best.ID:
		l.add("gain", "none: %s is the best", first)
	case o.result.First.State == assay.Failed:
		l.add("gain", "%s failed: %s", first, o.result.First.Reason)
	}
}

// showChange returns "31 % [28, 35]" for a change in the direction of the
// verdict, "-2 % [-5, +1]" for none.
func showChange(g *result.Gain) string {
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

// countsText returns "40: 22 done, 15 stopped early, 3 failed".
func countsText(c result.Counts) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Done, "done"}, {c.Censored, "stopped early"}, {c.Failed, "failed"}, {c.Infeasible, "outside the limits"}, {c.Withdrawn, "withdrawn"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", c.Total, strings.Join(parts, ", "))
}

// writeFailures says why no trial ended well: the first reasons, each once.
func (o *outcome) writeFailures(w io.Writer) {
	fmt.Fprintln(w, "assay: no trial ran to its end within the limits. The first reasons:")
	var seen []string
	for _, t := range o.result.Trials {
		if t.Reason == "" || slices.Contains(seen, t.Reason) || len(seen) == 3 {
			continue
		}
		seen = append(seen, t.Reason)
		fmt.Fprintf(w, "  trial %d (%s): %s\n", t.ID, o.problem.Space.Text(t.Config), t.Reason)
	}
}
