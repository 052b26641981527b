package result

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/report"
)

// A Learned is the output of `assay learn`. Its JSON is a contract.
type Learned struct {
	Study       string     `json:"study"`
	Model       string     `json:"model"`
	Runs        int        `json:"runs"`
	Failed      int        `json:"failed"`
	Error       *float64   `json:"error_percent"`            // in leave-one-out cross-validation; null for one run
	Elsewhere   *float64   `json:"expected_error_percent"`   // on assignments that were not run; likewise
	Target      float64    `json:"target_percent,omitempty"` // the mean error that is good enough; 0 if any is
	Spent       float64    `json:"spent_s"`
	EndedBy     string     `json:"ended_by"`
	Limits      []Limiting `json:"limits,omitempty"`
	NoIO        int        `json:"runs_without_data_flow,omitempty"`
	Verified    int        `json:"runs_verified,omitempty"` // runs checked for the requested levels
	Off         int        `json:"runs_levels_off,omitempty"`
	Assignments assay.Size `json:"-"`
	different   int        // assignments that were run
}

// SetModel sets the results of the learned model: its runs, its error and its limits.
func (o *Learned) SetModel(m *costmodel.Model) {
	o.Runs, o.Failed, o.Error, o.Limits = len(m.Runs()), len(m.Failed()), assay.Finite(m.Error()), limits(m)
	o.NoIO, o.Elsewhere = withoutIO(m), assay.Finite(m.Elsewhere())
	different := map[string]bool{}
	for _, r := range m.Runs() {
		different[r.Config.Key()] = true
	}
	o.different = len(different)
}

// A Limiting is the resource that limits the program on one of the assignments of the runs.
type Limiting struct {
	At    map[string]any     `json:"at"`
	Parts map[string]float64 `json:"parts_s"`
	text  string
}

// textsOf returns the lines of limits as text.
func textsOf(limits []Limiting) []string {
	var texts []string
	for _, at := range limits {
		texts = append(texts, at.text)
	}
	return texts
}

// limits returns the resource that limits the program on the runs with the least and the longest time.
func limits(m *costmodel.Model) []Limiting {
	runs := slices.SortedStableFunc(slices.Values(m.Runs()), func(a, b costmodel.Run) int {
		return cmp.Compare(a.Seconds, b.Seconds)
	})
	var out []Limiting
	for _, r := range []costmodel.Run{runs[0], runs[len(runs)-1]} {
		p := m.Predict(r.Config)
		parts := partsOf(p)
		if parts == nil || len(out) > 0 && len(runs) == 1 {
			break
		}
		l := Limiting{At: m.Space().Values(r.Config), Parts: map[string]float64{}, text: m.Space().Text(r.Config)}
		for _, q := range parts {
			l.Parts[q.name] = q.seconds
		}
		l.text += ": " + shares(parts)
		out = append(out, l)
	}
	return out
}

// shares writes "network 62 %, compute 30 %, disk 8 %".
func shares(parts []part) string {
	total := 0.0
	for _, p := range parts {
		total += p.seconds
	}
	if total <= 0 {
		return "nothing"
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, fmt.Sprintf("%s %.0f %%", p.name, 100*p.seconds/total))
	}
	return strings.Join(texts, ", ")
}

// Write prints the result, with the error curve of the learner.
func (o *Learned) Write(w io.Writer, learner *costmodel.ActiveLearner) error {
	var l report.Lines
	l.Add("model", "%s", o.Model)
	runs := fmt.Sprintf("%d of %s assignments", o.different, o.Assignments)
	if o.Runs > o.different {
		runs += fmt.Sprintf(" in %d runs", o.Runs)
	}
	if o.Failed > 0 {
		runs += fmt.Sprintf(", %d failed", o.Failed)
	}
	l.Add("runs", "%s", runs)
	if o.Error != nil && o.Elsewhere != nil {
		l.Add("error", "%.1f %% expected on average for untried assignments; %.1f %% in leave-one-out",
			*o.Elsewhere, *o.Error)
	}
	if o.Target > 0 && o.EndedBy != "error" {
		l.Add("goal", "an error of %s %% was not reached", report.Number(o.Target, 3))
	}
	l.AddList("limited by", textsOf(o.Limits))
	noDataFlow(&l, o.NoIO, o.Runs)
	if o.Verified > 0 {
		text := fmt.Sprintf("in force as asked in %d of %d runs", o.Verified-o.Off, o.Verified)
		if o.Off > 0 {
			text += "; the trials of the others have the observed levels (levels_off, rtt_seen, cpu_seen)"
		}
		l.Add("levels", "%s", text)
	}
	l.Add("time", "%s", report.Seconds(o.Spent))
	addErrorCurve(&l, learner)
	l.Add("ended by", "%s; on record as study %s",
		cmp.Or(learnEndings[o.EndedBy], endings[o.EndedBy], o.EndedBy), o.Study)
	return l.Write(w)
}

// learnEndings are the reasons for the end of a study that are worded differently for a cost model.
var learnEndings = map[string]string{
	"error":  "the error, which is small enough",
	"search": "the search, which has run every assignment that it wants",
	"record": "the end of the record",
}

// addErrorCurve draws the estimated error against the time that runs took.
func addErrorCurve(l *report.Lines, learner *costmodel.ActiveLearner) {
	if curve := errorCurve(learner); len(curve.X) > 1 {
		l.Add("error %", "against the time of the runs")
		l.AddText(report.Curve([]report.Series{curve}, 60, 8, "s", ""))
	}
}

// errorCurve returns the estimated error against the time that runs took (Shivam,
// Babu and Chase 2006, Figure 1).
func errorCurve(l *costmodel.ActiveLearner) report.Series {
	c := report.Series{Name: "error"}
	for _, s := range l.Progress() {
		if !math.IsNaN(s.Error) && !math.IsInf(s.Error, 0) {
			c.X, c.Y = append(c.X, s.Spent), append(c.Y, s.Error)
		}
	}
	return c
}

// A StudyModel is the cost model of a study on record: the output of `assay predict --json`, and the course of the
// error while it was learned.
type StudyModel struct {
	Study string `json:"study"`
	Model
	Predictors []string    `json:"predictors"`
	Curve      []ErrorStep `json:"error_curve"`
}

// An ErrorStep is the estimated error after runs that took a total time.
type ErrorStep struct {
	Spent float64 `json:"spent_s"`
	Error float64 `json:"error_percent"`
}

// NewStudyModel returns the model m that a learner has fitted to a study.
func NewStudyModel(study string, l *costmodel.ActiveLearner, m *costmodel.Model) StudyModel {
	out := StudyModel{Study: study, Model: NewModel(m), Predictors: m.Predictors(), Curve: []ErrorStep{}}
	c := errorCurve(l)
	for i := range c.X {
		out.Curve = append(out.Curve, ErrorStep{c.X[i], c.Y[i]})
	}
	return out
}

// partsOf returns the shares of a predicted time by limiting resource, the largest first.
func partsOf(p costmodel.Prediction) []part {
	parts := []part{{"compute", p.Compute}, {"network", p.Network}, {"disk", p.Disk}}
	if p.Other > 0 {
		parts = append(parts, part{"other", p.Other})
	}
	switch p.Split {
	case costmodel.SplitNone:
		return nil
	case costmodel.SplitStall:
		parts = []part{{"compute", p.Compute}, {"stall", p.Network + p.Disk}}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.seconds, a.seconds) })
	return parts
}

type part struct {
	name    string
	seconds float64
}

// noDataFlow reports that n runs of a model read and wrote no data.
func noDataFlow(l *report.Lines, n, runs int) {
	if n > 0 {
		l.Add("data flow", "none in %d of %d runs: the unit that theirs is counted in is one run", n, runs)
	}
}

// withoutIO returns how many runs of a model were seen to read and write nothing.
func withoutIO(m *costmodel.Model) int {
	n := 0
	for _, r := range m.Runs() {
		if r.NoIO {
			n++
		}
	}
	return n
}
