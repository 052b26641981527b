package result

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/study"
)

// A FrontTrial is a trial that no other trial beats in all objectives. Its JSON is a contract.
type FrontTrial struct {
	Trial   int64              `json:"trial"`
	Config  map[string]any     `json:"config"`
	Values  map[string]float64 `json:"values"` // of the objectives: of its run, or the medians of its runs
	Metrics map[string]float64 `json:"metrics"`
	Runs    int                `json:"runs"`
	Command []string           `json:"command,omitempty"`

	trial assay.Trial
}

// A Front is the result of a study with several objectives. Its JSON is a contract.
type Front struct {
	Study      string       `json:"study"`
	Objectives []Objective  `json:"objectives"`
	Front      []FrontTrial `json:"front"`
	// Balanced is the trial of the front that is nearest to the best of each objective, by the weights if given; 0 if the
	// front is empty. See study.Balanced.
	Balanced int64              `json:"balanced"`
	Weights  map[string]float64 `json:"weights,omitempty"`
	// Hypervolume is the share of the box between Ideal and Reference that the front dominates; 0 if that has
	// no volume. Ideal is the best value of each objective over the trials that are done, Reference the worst.
	Hypervolume float64      `json:"hypervolume"`
	Ideal       []float64    `json:"ideal"`
	Reference   []float64    `json:"reference"`
	Curve       []FrontPoint `json:"curve"`

	goal assay.Goal
}

// A FrontPoint is a step of the hypervolume: its value after a trial had ended.
type FrontPoint struct {
	Trial       int64   `json:"trial"`
	Spent       float64 `json:"spent_s"`
	Hypervolume float64 `json:"hypervolume"`
}

// NewObjectives returns all objectives of a goal as data.
func NewObjectives(goal assay.Goal) (all []Objective) {
	for _, o := range goal.Objectives() {
		all = append(all, NewObjective(assay.Goal{Metric: o.Metric, Maximize: o.Maximize, Unit: o.Unit}))
	}
	return all
}

// newFrontTrials returns the trials of a front as data.
func newFrontTrials(values func(assay.Config) map[string]any, goal assay.Goal, front []study.FrontTrial) []FrontTrial {
	all := make([]FrontTrial, 0, len(front))
	for _, m := range front {
		f := FrontTrial{
			Trial: m.ID, Config: values(m.Config), Values: map[string]float64{}, Metrics: assay.MetricsOf(m.Trial, goal),
			Runs:  m.Runs,
			trial: m.Trial,
		}
		for i, o := range goal.Objectives() {
			f.Values[o.Metric] = o.Show(m.Values[i])
		}
		all = append(all, f)
	}
	return all
}

// ParseWeights reads the weights of objectives, NAME=NUMBER,...
func ParseWeights(text string) (map[string]float64, error) {
	ws := map[string]float64{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, number, ok := strings.Cut(item, "=")
		x, err := strconv.ParseFloat(number, 64)
		if !ok || name == "" || err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return nil, assay.Errorf(assay.ClassUsage,
				"--weights %s: a weight is written NAME=NUMBER, and is not below 0", item)
		}
		if _, twice := ws[name]; twice {
			return nil, assay.Errorf(assay.ClassUsage, "--weights %s: the weight of %s is given twice", text, name)
		}
		ws[name] = x
	}
	return ws, nil
}

// Front returns the front of the study. weights are the weights of the objectives for the balanced trial; the default
// weight is 1. A study with one objective, or a weight of an unknown objective, is an error of class usage.
func (r *Record) Front(ctx context.Context, weights map[string]float64) (*Front, error) {
	if !r.Goal.Several() {
		return nil, assay.WithHint(assay.Errorf(assay.ClassUsage,
			"study %q has one objective, %s: it has a best trial and no front", r.Name, GoalText(r.Goal)),
			"assay study show "+report.ShellQuote([]string{r.Name}))
	}
	came, err := r.recall(ctx)
	if err != nil {
		return nil, err
	}
	t, err := r.Table(ctx)
	if err != nil {
		return nil, err
	}
	f := NewFront(r.Name, r.Params.Values, r.Goal, came)
	for i := range f.Curve {
		if k, ok := t.Place(f.Curve[i].Trial); ok {
			f.Curve[i].Spent = t.Lines[k].Spent
		}
	}
	return f, f.weigh(came, weights)
}

// NewFront returns the front of a study's result, without the times of its curve.
func NewFront(name string, values func(assay.Config) map[string]any, goal assay.Goal, came study.Result) *Front {
	f := &Front{
		Study: name, Objectives: NewObjectives(goal), Front: newFrontTrials(values, goal, came.Front), Curve: []FrontPoint{},
		Ideal: []float64{}, Reference: []float64{}, goal: goal,
	}
	if came.Found {
		f.Balanced = came.Best.ID
	}
	var done [][]float64
	var ids []int64
	for _, t := range came.Trials {
		if v, err := goal.Values(t.Measurement); err == nil && t.State == assay.Done {
			done, ids = append(done, v), append(ids, t.ID)
		}
	}
	if len(done) == 0 {
		return f
	}
	lo, hi, unit := slices.Clone(done[0]), slices.Clone(done[0]), make([]float64, len(done[0]))
	for _, p := range done {
		for i, x := range p {
			lo[i], hi[i] = min(lo[i], x), max(hi[i], x)
		}
	}
	for i, o := range goal.Objectives() {
		unit[i] = 1
		f.Ideal, f.Reference = append(f.Ideal, o.Show(lo[i])), append(f.Reference, o.Show(hi[i]))
	}
	// scaled returns a point in the box from lo to hi.
	scaled := func(p []float64) []float64 {
		q := make([]float64, len(p))
		for i, x := range p {
			if hi[i] > lo[i] {
				q[i] = (x - lo[i]) / (hi[i] - lo[i])
			}
		}
		return q
	}
	var front [][]float64
	last := 0.0
	for k, p := range done {
		if q := scaled(p); !slices.ContainsFunc(front, func(r []float64) bool { return assay.Dominates(r, q) }) {
			front = slices.DeleteFunc(front, func(r []float64) bool { return assay.Dominates(q, r) })
			front = append(front, q)
			last = stats.Hypervolume(front, unit)
		}
		f.Curve = append(f.Curve, FrontPoint{Trial: ids[k], Hypervolume: last})
	}
	front = nil
	for _, m := range came.Front {
		front = append(front, scaled(m.Values))
	}
	f.Hypervolume = stats.Hypervolume(front, unit)
	return f
}

// weigh sets the balanced trial by weights.
func (f *Front) weigh(came study.Result, weights map[string]float64) error {
	if len(weights) == 0 || len(came.Front) == 0 {
		return nil
	}
	ws := make([]float64, len(f.Objectives))
	known := map[string]bool{}
	var names []string
	for i, o := range f.Objectives {
		ws[i], known[o.Metric] = 1, true
		names = append(names, o.Metric)
		if w, given := weights[o.Metric]; given {
			ws[i] = w
		}
	}
	for name, w := range weights {
		switch {
		case !known[name]:
			return assay.Errorf(assay.ClassUsage, "%s is no objective of study %q (there are %s)", name, f.Study,
				strings.Join(names, ", "))
		case math.IsNaN(w) || math.IsInf(w, 0) || w < 0:
			return assay.Errorf(assay.ClassUsage, "the weight of %s is %v: a number from 0 is needed", name, w)
		}
	}
	points := make([][]float64, len(came.Front))
	for i, m := range came.Front {
		points[i] = m.Values
	}
	f.Weights = weights
	f.Balanced = came.Front[study.Balanced(points, ws)].ID
	return nil
}

// Texts returns the values of the objectives of each trial, with enough digits to distinguish the trials.
func (f *Front) Texts() [][]string {
	texts := make([][]string, len(f.Front))
	for _, o := range f.Objectives {
		values := make([]float64, len(f.Front))
		for k, m := range f.Front {
			values[k] = m.Values[o.Metric]
		}
		for k, text := range report.Apart(values, o.Unit) {
			texts[k] = append(texts[k], text)
		}
	}
	return texts
}

// Write prints the front.
func (f *Front) Write(w io.Writer, width int, p report.Palette, params Params) error {
	if len(f.Front) == 0 {
		_, err := fmt.Fprintln(w, "no front yet: no trial ran to its end within the limits")
		return err
	}
	columns := []string{"", ">trial"}
	for _, o := range f.Objectives {
		columns = append(columns, ">"+o.Metric)
	}
	t := report.NewTable(p, append(columns, ">runs", "configuration")...)
	t.Width = width
	t.Wrap("configuration")
	texts := f.Texts()
	for k, m := range f.Front {
		mark := ""
		if m.Trial == f.Balanced {
			mark = "*"
		}
		row := []string{mark, fmt.Sprint(m.Trial)}
		row = append(row, texts[k]...)
		t.Add(append(row, fmt.Sprint(m.Runs), params.Text(m.trial.Config))...)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	by := ""
	if len(f.Weights) > 0 {
		by = " by the weights"
	}
	l := report.Lines{Width: width}
	l.Add("", "")
	l.Add("*", "balanced%s: nearest to the best of each objective", by)
	l.Add("hypervolume", " %s %% of the box between the best and the worst of each objective",
		report.Number(100*f.Hypervolume, 3))
	if len(f.Curve) > 1 {
		l.Add("progress", "%s", report.Spark(f.heights(), l.Room(60)))
	}
	return l.Write(w)
}

// heights returns the hypervolume after each trial that is done.
func (f *Front) heights() (all []float64) {
	for _, p := range f.Curve {
		all = append(all, p.Hypervolume)
	}
	return all
}

// pointText joins the values of a point: "elapsed 1.2 s, energy 30 J".
func pointText(objectives []Objective, texts []string) string {
	var parts []string
	for i, o := range objectives {
		parts = append(parts, o.Metric+" "+texts[i])
	}
	return strings.Join(parts, ", ")
}

// andText joins words: "a, b and c".
func andText(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// frontLines describes a front and its balanced trial.
func (o *Story) frontLines(l *report.Lines) {
	var names []string
	for _, x := range o.Goal.Objectives() {
		names = append(names, x.Metric)
	}
	l.Add("front", "%d of %d trials, beaten by none in %s", len(o.Result.Front),
		o.Trials.Total, andText(names))
	const most = 12
	f := NewFront(o.Study, o.Space.Values, o.Goal, o.Result)
	texts := f.Texts()
	for k, m := range o.Result.Front {
		if k == most {
			l.Add("", "and %d more: assay study front %s", len(o.Result.Front)-most, report.ShellQuote([]string{o.Study}))
			break
		}
		l.Add("", "%s (trial %d%s): %s", pointText(f.Objectives, texts[k]), m.ID, medianText(m.Runs), o.Space.Text(m.Config))
	}
	l.Add("balanced", "%s (trial %d)", o.Space.Text(o.Result.Best.Config), o.Result.Best.ID)
	if passed := passedOver(o.Goal, o.Result); len(passed) > 0 {
		l.Add("passed over", "%s", passedText(passed))
	}
}

func medianText(runs int) string {
	if runs < 2 {
		return ""
	}
	return fmt.Sprintf(", medians of %d runs", runs)
}
