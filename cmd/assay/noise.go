package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/noise"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/stats"
)

// noiseFlags are the flags of `assay study noise`.
type noiseFlags struct {
	noise.Options
	json bool
}

func noiseCommand(s streams, sf *studyFlags) *cobra.Command {
	f := &noiseFlags{}
	cmd := &cobra.Command{
		Use:   "noise STUDY|-",
		Short: "how noisy the runs are, and what to do about it",
		Long: `noise looks at repeated runs of one configuration: how heavy the tail of their
distribution is, and how many runs of which estimator put two configurations in
order. With - it reads one number a line from standard input, run times of one
configuration, or several numbers a line, those of several processors (ranks) at
one time: then it says too how alike their noise is, and what the minimum of
simultaneous runs is worth.

A straight tail in the plot is a heavy one; its slope is the tail index. Below 2
the variance is infinite and averages do not settle, below 1 neither does the mean.`,
		Example: `  assay study noise zstd
  for i in $(seq 100); do /usr/bin/time -f %e ./program; done 2>&1 | assay study noise -`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: sf.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(f.Difference > 0 && f.Difference < 1) || !(f.Error > 0 && f.Error < 1) {
				return usagef("--difference and --error are between 0 and 1")
			}
			if args[0] == "-" {
				columns, err := noise.ReadColumns(standardInput, s.in)
				if err != nil {
					return err
				}
				n, err := noise.OfColumns(columns, f.Options)
				if err != nil {
					return usageError(fmt.Errorf("%s: %w", standardInput, err))
				}
				return f.report(s.out, n)
			}
			return sf.with(cmd.Context(), args, func(ctx context.Context, h *setup.Store, args []string) error {
				n, err := studyNoise(ctx, h, args[0], f.Options)
				if err != nil {
					return err
				}
				return f.report(s.out, n)
			})
		},
	}
	cmd.Flags().Float64Var(&f.Difference, "difference", 0.05, "least relative `difference` between configurations that matters")
	cmd.Flags().Float64Var(&f.Error, "error", 0.05, "`probability` of being farther off than that")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// studyNoise returns the noise of the repeated runs of a study.
func studyNoise(ctx context.Context, h *setup.Store, name string, o noise.Options) (*noise.Report, error) {
	r, err := readRecord(ctx, h, name)
	if err != nil {
		return nil, err
	}
	var samples []noise.Sample
	at := map[string]int{}
	for e, err := range h.Events(ctx, name, 0) {
		if err != nil {
			return nil, err
		}
		t := e.Told
		if t == nil {
			t = e.Checked
		}
		if t == nil || t.State != assay.Done && t.State != assay.Infeasible {
			continue
		}
		if err := r.Fits(*t); err != nil {
			return nil, err
		}
		i, ok := at[t.Config.Key()]
		if !ok {
			i = len(samples)
			at[t.Config.Key()] = i
			samples = append(samples, noise.Sample{Config: r.Params.Text(t.Config)})
		}
		samples[i].Values = append(samples[i].Values, t.Value)
	}
	n, err := noise.OfSamples(samples, r.Goal.Unit, o)
	if errors.Is(err, assay.ErrTooFew) {
		return nil, usagef("study %q has no configuration with 3 runs or more: repeat them (assay tune --repeat 5)", name)
	}
	if n != nil {
		n.Study = name
	}
	return n, err
}

func (f *noiseFlags) report(w io.Writer, n *noise.Report) error {
	if f.json {
		return writeJSON(w, n)
	}
	var l lines
	what := fmt.Sprintf("%d", n.Runs)
	if n.Configs > 1 {
		what += fmt.Sprintf(" of %d configurations, each divided by its configuration's median", n.Configs)
	} else if n.Config != "" {
		what += " of " + n.Config
	} else if n.Ranks != nil {
		what += fmt.Sprintf(" of %d ranks, each divided by its rank's median", n.Ranks.Ranks)
	}
	l.add("runs", "%s", what)
	spread := ""
	if n.CV != nil {
		spread = fmt.Sprintf(", standard deviation %.3g %%", 100**n.CV)
	}
	l.add("value", "min %s, median %s, mean %s%s", showMetric(n.Min, n.Unit), showMetric(n.Median, n.Unit), showMetric(n.Mean, n.Unit), spread)
	l.add("tail", "%s", n.Verdict)
	if t := n.Truncated; t != nil && t.Index != nil {
		l.add("truncated", "below %s: %s, index %.2f [%.2f, %.2f]", showMetric(*n.Tail.Threshold, n.Unit), t.Kind, *t.Index, orNaN(t.CI95[0]), orNaN(t.CI95[1]))
	}
	if n.Ranks != nil {
		l.add("ranks", "%s", ranksText(n.Ranks, f.Difference))
	}
	advice := n.Advice
	if n.RepeatPareto != nil {
		advice += fmt.Sprintf(" (%d by the Pareto model)", *n.RepeatPareto)
	}
	l.add("advice", "%s", advice)
	if err := l.write(w); err != nil {
		return err
	}
	return plotTail(w, n)
}

// plotTail draws the complementary distribution of the noise, the runs less the
// fastest, on logarithmic scales, and the line of the tail index.
func plotTail(w io.Writer, n *noise.Report) error {
	excess := make([]float64, len(n.Values))
	for i, v := range n.Values {
		excess[i] = v - n.Min
	}
	points := stats.LogLogTail(excess)
	if len(points) < 3 {
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
	_, err := fmt.Fprintf(w, "\nlog₁₀ P[noise > x] over log₁₀ x; noise is a run less the fastest\n%s", report.Curve(series, 64, 14, "", ""))
	return err
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// ranksText says how alike the noise of ranks is.
func ranksText(r *noise.Ranks, difference float64) string {
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
		r.Ranks, r.Rows, *r.Correlation, late, r.AllLateShare, r.LateShare, bound, *r.IndependentRuns, orNaN(r.CI95[0]), orNaN(r.CI95[1]))
}

// standardInput is the name of the standard input in messages.
const standardInput = "standard input"

// readColumn reads one number a line from the standard input.
func readColumn(r io.Reader) ([]float64, error) {
	columns, err := noise.ReadColumns(standardInput, r)
	if err != nil {
		return nil, err
	}
	if len(columns) > 1 {
		return nil, usagef("%s: %d numbers a line, want one", standardInput, len(columns))
	}
	return columns[0], nil
}
