package abtest

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// Write writes the report for people. difference is the least relative difference that
// matters, as in [Options].
func (n *NoiseReport) Write(w io.Writer, difference float64) error {
	if err := n.Lines(difference).Write(w); err != nil {
		return err
	}
	if err := n.writeGroups(w); err != nil {
		return err
	}
	return n.plotTail(w)
}

// Lines returns the lines that [NoiseReport.Write] writes, without the tables and the drawing.
func (n *NoiseReport) Lines(difference float64) *report.Lines {
	var l report.Lines
	what := fmt.Sprintf("%d", n.Runs)
	if n.Configs > 1 {
		what += fmt.Sprintf(" of %d configurations, each divided by its configuration's median", n.Configs)
	} else if n.Config != "" {
		what += " of " + n.Config
	} else if n.Ranks != nil {
		what += fmt.Sprintf(" of %d ranks, each divided by its rank's median", n.Ranks.Ranks)
	}
	l.Add("runs", "%s", what)
	spread := ""
	if n.CV != nil {
		spread = fmt.Sprintf(", standard deviation %.3g %%", 100**n.CV)
	}
	l.Add("value", "min %s, median %s, mean %s%s",
		report.Metric(n.Min, n.Unit), report.Metric(n.Median, n.Unit),
		report.Metric(n.Mean, n.Unit), spread)
	l.Add("tail", "%s", n.Verdict)
	if t := n.Truncated; t != nil && t.Index != nil {
		l.Add("truncated", "below %s: %s, index %.2f [%.2f, %.2f]",
			report.Metric(*n.Tail.Threshold, n.Unit), t.Kind, *t.Index, orNaN(t.CI95[0]), orNaN(t.CI95[1]))
	}
	if n.Ranks != nil {
		l.Add("ranks", "%s", n.Ranks.text(difference))
	}
	advice := n.Advice
	if n.RepeatPareto != nil {
		advice += fmt.Sprintf(" (%d by the Pareto model)", *n.RepeatPareto)
	}
	l.Add("advice", "%s", advice)
	return &l
}

// plotTail draws the complementary distribution of the noise, the runs less the
// fastest, on logarithmic scales, and the line of the tail index. A maximized metric has no drawing.
func (n *NoiseReport) plotTail(w io.Writer) error {
	excess := make([]float64, len(n.Values))
	for i, v := range n.Values {
		excess[i] = v - n.Min
	}
	points := stats.LogLogTail(excess)
	if len(points) < 3 || n.Maximize {
		return nil
	}
	all := report.Series{Name: "runs", Dots: true}
	for _, p := range points {
		all.X, all.Y = append(all.X, p.X), append(all.Y, p.Y)
	}
	series := []report.Series{all}
	if t := n.Tail; t.Index != nil && t.Threshold != nil && *t.Threshold > n.Min {
		from := math.Log10(*t.Threshold - n.Min)
		at := math.Log10(float64(t.From) / float64(n.Runs))
		line := report.Series{Name: fmt.Sprintf("slope −%.2f", *t.Index)}
		last := slices.MaxFunc(points, func(a, b stats.Point) int { return int(math.Copysign(1, a.X-b.X)) })
		for k := range 30 {
			x := from + (last.X-from)*float64(k)/29
			line.X, line.Y = append(line.X, x), append(line.Y, at-*t.Index*(x-from))
		}
		series = append(series, line)
	}
	_, err := fmt.Fprintf(w, "\nlog₁₀ P[noise > x] over log₁₀ x; noise is a run less the fastest\n%s",
		report.Curve(series, 64, 14, "", ""))
	return err
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// text describes how alike the noise of ranks is.
func (r *Ranks) text(difference float64) string {
	if r.Correlation == nil || r.IndependentRuns == nil {
		return fmt.Sprintf("%d at %d times: some are constant", r.Ranks, r.Rows)
	}
	late := fmt.Sprintf("more than %.3g %% above their fastest", 100*difference)
	if r.Late == "median" {
		late = "above their median"
	}
	bound := ""
	if r.AllLateShare == 0 {
		bound = "at least "
	}
	return fmt.Sprintf("%d at %d times: rank correlation %.2f; all are %s at once in %.2g of the times, one in %.2g: "+
		"the minimum of one run on each is worth %s%.2g independent runs [%.2g, %.2g]",
		r.Ranks, r.Rows, *r.Correlation, late, r.AllLateShare, r.LateShare, bound, *r.IndependentRuns,
		orNaN(r.CI95[0]), orNaN(r.CI95[1]))
}
