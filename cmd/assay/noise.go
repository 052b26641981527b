package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/stats"
)

// noiseFlags are the flags of `assay study noise`.
type noiseFlags struct {
	difference, error float64
	json              bool
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
			if !(f.difference > 0 && f.difference < 1) || !(f.error > 0 && f.error < 1) {
				return usagef("--difference and --error are between 0 and 1")
			}
			if args[0] == "-" {
				columns, err := readColumns(s.in)
				if err != nil {
					return err
				}
				n, err := columnNoise(columns, f)
				if err != nil {
					return err
				}
				return f.report(s.out, n)
			}
			return sf.with(cmd.Context(), args, func(ctx context.Context, h *setup.Store, args []string) error {
				n, err := studyNoise(ctx, h, args[0])
				if err != nil {
					return err
				}
				return f.report(s.out, n)
			})
		},
	}
	cmd.Flags().Float64Var(&f.difference, "difference", 0.05, "least relative `difference` between configurations that matters")
	cmd.Flags().Float64Var(&f.error, "error", 0.05, "`probability` of being farther off than that")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// maxColumn is how many numbers are read: they are sorted in memory.
const maxColumn = 10_000_000

// noise is what `assay study noise --json` prints: a contract.
type noise struct {
	Study   string   `json:"study,omitempty"`
	Config  string   `json:"config,omitempty"`
	Runs    int      `json:"runs"`
	Configs int      `json:"configurations"` // more than 1 if their runs were pooled, each divided by its median
	Min     float64  `json:"min"`
	Median  float64  `json:"median"`
	Mean    float64  `json:"mean"`
	CV      *float64 `json:"cv"` // standard deviation / |mean|
	Tail    tailJSON `json:"tail"`
	// Truncated is the tail of the runs below the threshold of Tail.
	Truncated *tailJSON `json:"truncated,omitempty"`
	Verdict   string    `json:"verdict"`
	Estimator string    `json:"estimator"`
	Repeat    int       `json:"repeat"` // K
	// RepeatPareto is K by the Pareto model of the noise; null where that has no
	// mean or does not apply.
	RepeatPareto *int   `json:"repeat_pareto"`
	Advice       string `json:"advice"`
	// Ranks compares the ranks, if there are several.
	Ranks *ranksJSON `json:"ranks,omitempty"`

	values []float64
	unit   string
}

type tailJSON struct {
	Kind      string      `json:"kind"` // "light", "heavy", "no mean" or "unknown"
	Index     *float64    `json:"index"`
	CI95      [2]*float64 `json:"ci95"`
	From      int         `json:"from"` // number of greatest runs
	Threshold *float64    `json:"threshold"`
	Line      *float64    `json:"line_r2"`
}

func newTailJSON(t stats.Tail) tailJSON {
	kind := map[stats.TailKind]string{stats.TailLight: "light", stats.TailHeavy: "heavy", stats.TailNoMean: "no mean"}[t.Kind]
	if kind == "" {
		kind = "unknown"
	}
	return tailJSON{kind, finite(t.Alpha.Value), [2]*float64{finite(t.Alpha.Low), finite(t.Alpha.High)}, t.Alpha.N, finite(t.Threshold), finite(t.Line)}
}

// studyNoise gathers the repeated runs of a study: those of the configuration
// with the most of them, or if these are below 50 all, each divided by the
// median of its configuration (by Eq. 7 of Tabatabaee et al. 2005 the noise grows
// with the run time).
func studyNoise(ctx context.Context, h *setup.Store, name string) (*noise, error) {
	r, err := readRecord(ctx, h, name)
	if err != nil {
		return nil, err
	}
	runs := map[string][]float64{}
	config := map[string]assay.Config{}
	var order []string
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
		if err := r.fits(*t); err != nil {
			return nil, err
		}
		k := t.Config.Key()
		if _, ok := config[k]; !ok {
			config[k] = t.Config
			order = append(order, k)
		}
		runs[k] = append(runs[k], t.Value)
	}
	most := ""
	for _, k := range order {
		if len(runs[k]) > len(runs[most]) {
			most = k
		}
	}
	if len(runs[most]) < 3 {
		return nil, usagef("study %q has no configuration with 3 runs or more: repeat them (assay tune --repeat 5)", name)
	}
	n := &noise{Study: name, Config: r.space.text(config[most]), Configs: 1, values: runs[most], unit: r.goal.Unit}
	if len(n.values) < 50 {
		if pooled, configs := pool(order, runs); configs > 1 {
			n.values, n.Configs, n.Config, n.unit = pooled, configs, "", ""
		}
	}
	n.Runs = len(n.values)
	return n, nil
}

// pool returns the runs of the configurations with 3 or more, each divided by
// the size of its configuration's median.
func pool(order []string, runs map[string][]float64) (all []float64, configs int) {
	for _, k := range order {
		m := math.Abs(stats.Median(runs[k]))
		if len(runs[k]) < 3 || m == 0 {
			continue
		}
		configs++
		for _, x := range runs[k] {
			all = append(all, x/m)
		}
	}
	return all, configs
}

// diagnose fills in what follows from the values.
func (n *noise) diagnose(f *noiseFlags) {
	x := n.values
	n.Min, n.Median, n.Mean = stats.Min(x), stats.Median(x), stats.Mean(x)
	n.CV = finite(stats.StdDev(x) / math.Abs(n.Mean))
	tail := stats.DiagnoseTail(x)
	n.Tail, n.Verdict = newTailJSON(tail), tail.Text
	if !math.IsNaN(tail.Threshold) {
		t := newTailJSON(stats.DiagnoseTail(stats.Truncate(x, tail.Threshold)))
		n.Truncated = &t
	}
	n.advise(tail, f)
}

// advise chooses the estimator and K. For minima K is the least with P[y >
// (1+λ)·min]^K < ε (Tabatabaee et al. 2005, Eq. 11 and 22), the probability
// taken from the runs; for means the least for which the 1-ε interval of the mean
// is within ±λ.
func (n *noise) advise(tail stats.Tail, f *noiseFlags) {
	lambda := f.difference * math.Abs(n.Min)
	far := 0
	for _, v := range n.values {
		if v > n.Min+lambda {
			far++
		}
	}
	share := float64(far) / float64(len(n.values))
	n.Estimator, n.Repeat = "min", 1
	why := fmt.Sprintf("a run is more than %.3g %% above the fastest with a probability of %.2g", 100*f.difference, share)
	if far > 0 && far < len(n.values) {
		n.Repeat = max(1, int(math.Floor(math.Log(f.error)/math.Log(share)))+1)
	}
	if tail.Kind == stats.TailLight && n.CV != nil {
		z := stats.NormQuantile(1 - f.error/2)
		if k := max(1, int(math.Ceil(math.Pow(z**n.CV/f.difference, 2)))); k <= n.Repeat {
			n.Estimator, n.Repeat = "mean", k
			why = fmt.Sprintf("the tail is light and a run has a standard deviation of %.2g %%", 100**n.CV)
		}
	}
	if a := tail.Alpha.Value; a > 1 && n.Mean > n.Min && n.Min > 0 {
		model := stats.TwoJob{Rho: 1 - n.Min/n.Mean}.Pareto(n.Min, a)
		if k := model.Replicates(lambda, f.error); k < math.MaxInt {
			n.RepeatPareto = &k
		}
	}
	n.Advice = fmt.Sprintf("--repeat %d --estimator %s: %s", n.Repeat, n.Estimator, why)
	if n.Runs < 20 {
		n.Advice += fmt.Sprintf("; %d runs are few to say so", n.Runs)
	}
	if n.Repeat > 3 {
		n.Advice += "; --repeat auto spends as many only where they are needed"
	}
	if n.Ranks != nil {
		n.Advice += n.Ranks.advice()
	}
}

func (f *noiseFlags) report(w io.Writer, n *noise) error {
	n.diagnose(f)
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
	l.add("value", "min %s, median %s, mean %s%s", showMetric(n.Min, n.unit), showMetric(n.Median, n.unit), showMetric(n.Mean, n.unit), spread)
	l.add("tail", "%s", n.Verdict)
	if t := n.Truncated; t != nil && t.Index != nil {
		l.add("truncated", "below %s: %s, index %.2f [%.2f, %.2f]", showMetric(*n.Tail.Threshold, n.unit), t.Kind, *t.Index, orNaN(t.CI95[0]), orNaN(t.CI95[1]))
	}
	if n.Ranks != nil {
		l.add("ranks", "%s", n.Ranks.text(f))
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
func plotTail(w io.Writer, n *noise) error {
	excess := make([]float64, len(n.values))
	for i, v := range n.values {
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
