package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/explain"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// explainCommand returns `assay study explain`.
func explainCommand(s streams, f *studyFlags) *cobra.Command {
	var asJSON bool
	var svg string
	cmd := &cobra.Command{
		Use:   "explain STUDY",
		Short: "which parameter pushes the objective where",
		Long: `explain fits a random forest to the trials of a study and says what it has learned:

  at the best   what each parameter contributes at the best configuration,
                compared with the average trial (Shapley values of the trees)
  importance    how far it moves the trials on the average, up or down
  alone         its share of the variance over the whole space (functional
                analysis of variance); the rest are interactions

Where the metric is positive the first two are relative. The model is checked by
cross-validation; if it explains little, so does this command.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd.Context(), args, func(ctx context.Context, h *setup.Store, args []string) error {
				return explainStudy(ctx, s.out, h, args[0], asJSON, svg)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().StringVar(&svg, "svg", "", "also write a bar chart to a `file`")
	return cmd
}

// explained is what `assay study explain --json` prints.
type explained struct {
	Study     string           `json:"study"`
	Metric    string           `json:"metric"`
	Trials    int              `json:"trials"`
	Exact     int              `json:"exact"`
	Explained float64          `json:"explained"`
	Relative  bool             `json:"relative"` // effects are logarithms of factors
	Base      float64          `json:"base"`
	Predicted float64          `json:"predicted"`
	Best      result.Best      `json:"best"`
	Params    []explainedParam `json:"parameters"`
}

type explainedParam struct {
	Name       string  `json:"name"`
	Value      any     `json:"value"` // in the best configuration
	Effect     float64 `json:"effect"`
	Importance float64 `json:"importance"`
	MainEffect float64 `json:"main_effect"`
}

func explainStudy(ctx context.Context, w io.Writer, h *setup.Store, name string, asJSON bool, svg string) error {
	r, err := readRecord(ctx, h, name)
	if err != nil {
		return err
	}
	var trials []assay.Trial
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return err
		}
		trials = append(trials, t)
	}
	e, err := explain.Explain(r.Params, r.Goal, trials, r.Definition.Search.Seed)
	if errors.Is(err, assay.ErrTooFew) {
		return fmt.Errorf("study %q: %w", name, err)
	}
	if err != nil {
		return err
	}
	values := r.Params.Values(e.Best.Config)
	if svg != "" {
		var b bytes.Buffer
		if err := explainChart(e, r).WriteSVG(&b); err != nil {
			return err
		}
		if err := os.WriteFile(svg, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if asJSON {
		out := explained{
			Study: name, Metric: r.Goal.Metric, Trials: e.Trials, Exact: e.Exact, Explained: e.Explained,
			Relative: e.Relative, Base: e.Base, Predicted: e.Predicted,
			Best: result.Best{Trial: e.Best.ID, Config: values, Value: r.Goal.Show(e.Best.Value), Metrics: result.MetricsOf(e.Best, r.Goal)},
		}
		for _, p := range e.Params {
			out.Params = append(out.Params, explainedParam{p.Name, values[p.Name], p.Effect, p.Mean, p.Share})
		}
		return writeJSON(w, out)
	}
	return writeExplanation(w, e, r)
}

func writeExplanation(w io.Writer, e *explain.Explanation, r *record) error {
	var l lines
	l.add("model", "a random forest of %d trials, %d of them exact; it explains %s of the variance in cross-validation", e.Trials, e.Exact, share(max(e.Explained, 0)))
	l.add("average", "%s %s, as the model sees it", r.Goal.Metric, showMetric(e.Base, r.Goal.Unit))
	l.add("best", "%s (trial %d), measured %s", showMetric(e.Predicted, r.Goal.Unit), e.Best.ID, showMetric(r.Goal.Show(e.Best.Value), r.Goal.Unit))
	if err := l.write(w); err != nil {
		return err
	}
	values := r.Params.Values(e.Best.Config)
	t := report.NewTable(palette(w), "parameter", "value", ">at the best", ">importance", ">alone")
	for _, p := range e.Params {
		t.Add(p.Name, fmt.Sprint(values[p.Name]), showEffect(e, p.Effect, r.Goal.Unit), "±"+strings.TrimPrefix(showEffect(e, p.Mean, r.Goal.Unit), "+"), share(p.Share))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return t.Write(w)
}

// showEffect returns an effect on the metric: a percentage if it is relative.
func showEffect(e *explain.Explanation, effect float64, unit string) string {
	if e.Relative {
		return report.Percent(math.Expm1(effect))
	}
	text := showMetric(effect, unit)
	if effect > 0 {
		text = "+" + text
	}
	return text
}

// share returns a part of a whole without a sign.
func share(x float64) string { return report.Number(100*x, 2) + " %" }

// explainChart returns the effects at the best configuration as bars.
func explainChart(e *explain.Explanation, r *record) report.BarChart {
	c := report.BarChart{Title: r.Name + ": what the parameters do at the best configuration", XLabel: "effect on " + r.Goal.Metric}
	switch {
	case e.Relative:
		c.XLabel += ", %"
	case r.Goal.Unit != "":
		c.XLabel += ", " + r.Goal.Unit
	}
	values := r.Params.Values(e.Best.Config)
	for _, p := range e.Params {
		v := p.Effect
		if e.Relative {
			v = 100 * math.Expm1(v)
		}
		c.Bars = append(c.Bars, report.Bar{Name: fmt.Sprintf("%s = %v", p.Name, values[p.Name]), Value: v})
	}
	return c
}
