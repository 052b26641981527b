package result

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/view"
)

// An Output is the output of `assay study explain --json`.
type Output struct {
	Study     string  `json:"study"`
	Metric    string  `json:"metric"`
	Trials    int     `json:"trials"`
	Exact     int     `json:"exact"`
	Explained float64 `json:"explained"`
	Relative  bool    `json:"relative"` // effects are logarithms of factors
	Base      float64 `json:"base"`
	Predicted float64 `json:"predicted"`
	Best      Best    `json:"best"` // the recommended trial
	// Answer is the answer of the study; nil with several objectives.
	Answer *view.Answer  `json:"answer,omitempty"`
	Params []ParamOutput `json:"parameters"`
	Limits []LimitOutput `json:"limits,omitempty"`
}

// A ParamOutput is the part of one parameter.
type ParamOutput struct {
	Name       string  `json:"name"`
	Value      any     `json:"value"` // in the best configuration
	Effect     float64 `json:"effect"`
	Importance float64 `json:"importance"`
	MainEffect float64 `json:"main_effect"`
}

// Output returns the explanation of a study as data.
func (e *Explanation) Output(r *Record) Output {
	values := r.Params.Values(e.Best.Config)
	runs := 0
	if e.story != nil && e.story.Answer != nil && e.story.Answer.Runs > 1 {
		runs = e.story.Answer.Runs
	}
	out := Output{
		Study: r.Name, Metric: r.Goal.Metric, Trials: e.Trials, Exact: e.Exact, Explained: e.Explained,
		Relative: e.Relative, Base: e.Base, Predicted: e.Predicted,
		Best: Best{
			Trial: e.Best.ID, Config: values, Value: r.Goal.Show(e.Best.Value), Metrics: assay.MetricsOf(e.Best, r.Goal),
			Runs: runs,
		},
	}
	if e.story != nil {
		out.Answer = e.story.Answer
	}
	out.Limits = limitOutputs(e.Limits)
	for _, p := range e.Params {
		out.Params = append(out.Params, ParamOutput{p.Name, values[p.Name], p.Effect, p.Mean, p.Share})
	}
	return out
}

// trustworthy is the share of the variance below which an explanation means little.
const trustworthy = 0.3

// Write prints the explanation of a study.
func (e *Explanation) Write(w io.Writer, p report.Palette, r *Record) error {
	var l report.Lines
	little := ""
	if e.Explained < trustworthy {
		little = ", so that the numbers below mean little"
	}
	l.Add("model", "a random forest of %d trials, %d of them exact; it explains %s of the variance in "+
		"cross-validation%s", e.Trials, e.Exact, share(max(e.Explained, 0)), little)
	l.Add("average", "%s %s, as the model sees it; %s at the best", r.Goal.Metric, report.Metric(e.Base, r.Goal.Unit),
		report.Metric(e.Predicted, r.Goal.Unit))
	if e.story != nil {
		e.story.AnswerLines(&l)
	}
	if err := l.Write(w); err != nil {
		return err
	}
	values := r.Params.Values(e.Best.Config)
	t := report.NewTable(p, "parameter", "value", ">at the best", ">importance", ">alone")
	for _, q := range e.Params {
		value, effect := "not in force", "–"
		if v, active := values[q.Name]; active {
			value, effect = fmt.Sprint(v), e.text(q.Effect, r.Goal.Unit)
		}
		t.Add(q.Name, value, effect,
			"±"+strings.TrimPrefix(e.text(q.Mean, r.Goal.Unit), "+"), share(q.Share))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if len(e.Limits) > 0 {
		if err := WriteLimits(w, p, e.Limits); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	legend := report.NewTable(p, "", "")
	for _, c := range e.Legend(r.Goal) {
		legend.Add(c[0], c[1])
	}
	return legend.Write(w)
}

// Legend explains the columns: the title of each, and its content.
func (e *Explanation) Legend(goal assay.Goal) [][2]string {
	what, alone := goal.Metric, 0.0
	for _, p := range e.Params {
		alone += p.Share
	}
	together, typical := "added up, they lead", ""
	if e.Relative {
		together, typical = "one after the other, they lead", ": ±25 % is times or divided by 1.25"
	}
	return [][2]string{
		{"at the best", fmt.Sprintf("the effect of its value in the best configuration on %s;", what)},
		{"", fmt.Sprintf("%s from the average, %s, to %s", together,
			report.Metric(e.Base, goal.Unit), report.Metric(e.Predicted, goal.Unit))},
		{"importance", fmt.Sprintf("how far it moves %s, typically%s", what, typical)},
		{"alone", fmt.Sprintf("its share of the differences in %s, without the others;", what)},
		{"", fmt.Sprintf("the rest, %s, is due to interactions of parameters", share(max(1-alone, 0)))},
	}
}

// text returns an effect on the metric: a percentage if it is relative.
func (e *Explanation) text(effect float64, unit string) string {
	if e.Relative {
		return report.Percent(math.Expm1(effect))
	}
	text := report.Metric(effect, unit)
	if effect > 0 {
		text = "+" + text
	}
	return text
}

// share returns a part of a whole without a sign.
func share(x float64) string { return report.Number(100*x, 2) + " %" }

// Chart returns the effects at the best configuration as bars.
func (e *Explanation) Chart(r *Record) report.BarChart {
	c := report.BarChart{
		Title: r.Name + ": the effects of the parameters at the best configuration", XLabel: "effect on " + r.Goal.Metric,
	}
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
		if value, active := values[p.Name]; active {
			c.Bars = append(c.Bars, report.Bar{Name: fmt.Sprintf("%s = %v", p.Name, value), Value: v})
		}
	}
	return c
}
