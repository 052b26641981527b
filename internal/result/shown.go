package result

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/spec"
)

// WriteShown prints the result of [Record.Shown]. learner, which may be nil, is the cost model learner of the study:
// its error curve replaces the progress. width is the width of the terminal, 0 for none.
func (r *Record) WriteShown(w io.Writer, width int, out Shown, learner *costmodel.ActiveLearner) error {
	l := report.Lines{Width: width}
	l.Add("study", "%s, made %s", r.Name, r.Summary.Created.Local().Format("2006-01-02 15:04"))
	r.describe(&l)
	for _, limit := range out.Limits {
		if limit.Broken > 0 {
			l.Add("outside", "%d of %d runs break %s", limit.Broken, limit.Measured, limit.Limit)
		}
	}
	if most := r.Definition.Budget.CPUHours; most > 0 {
		l.Add("budget", "%s hours of processors", report.Number(most, 3))
	}
	if r.Definition.HalfImport(r.Summary) {
		l.Add("half", "the import of its table did not end: the same assay study import goes on with it")
	}
	workerLines(&l, out.Workers)
	r.describePrior(&l, out.Cuts)
	if learner != nil {
		addErrorCurve(&l, learner)
	} else if len(out.Curve) > 1 {
		l.Add("progress", "%s", report.Spark(out.Curve, l.Room(60)))
	}
	out.answerLines(&l, r)
	return l.Write(w)
}

// answerLines writes the results of the study.
func (o *Shown) answerLines(l *report.Lines, r *Record) {
	s := o.story
	if s == nil { // it is tuned on line
		if best := o.Found; best != nil {
			l.Add("best", "%s", r.Params.Text(best.Config))
			l.Add(r.Goal.Metric, "%s (trial %d)", report.Metric(o.Best.Value, r.Goal.Unit), best.ID)
		}
		l.Add("trials", "%s", o.Trials.Text())
		l.Add("spent", "%s", report.Seconds(o.Spent))
		return
	}
	s.Trials = o.Trials // those that have not ended among them
	switch f := o.Front; {
	case f != nil && len(f.Front) > 0:
		o.frontLines(l, r)
	case len(s.Result.Trials) > 0:
		s.answerLines(l)
	}
	s.spentLines(l)
}

// frontLines describes the front.
func (o *Shown) frontLines(l *report.Lines, r *Record) {
	f := o.Front
	l.Add("front", "%s, hypervolume %s %%: assay study front %s", report.Count(len(f.Front), "trial", "trials"),
		report.Number(100*f.Hypervolume, 3), report.ShellQuote([]string{r.Name}))
	for k, m := range f.Front {
		if m.Trial == f.Balanced {
			l.Add("balanced", "%s", r.Params.Text(m.trial.Config))
			l.Add("", "%s (trial %d%s)", pointText(f.Objectives, f.Texts()[k]), m.Trial, medianText(m.Runs))
		}
	}
	if len(o.Refuted) > 0 {
		l.Add("passed over", "%s", passedText(passedOver(r.Goal, o.story.Result)))
	}
}

// describe prints the definition of the study.
func (r *Record) describe(l *report.Lines) {
	switch r.Definition.Mode() {
	case spec.ModeTable:
		l.Add("replays", "%s", r.Definition.Replay.File)
	case spec.ModeOnline:
		l.Add("tuned", "on line: its trials are iterations of a program that runs")
	case spec.ModeAsked:
		l.Add("runs", "made by the caller of ask and tell")
	default:
		l.AddCommand("command", report.ShellQuote(r.Definition.Command))
		addBeside(l, besideOf(r.Definition))
	}
	var params []string
	for _, p := range r.Params {
		params = append(params, ParamText(p))
	}
	l.AddList("parameters", params)
	for _, text := range r.Definition.Where {
		l.Add("where", "%s", text)
	}
	l.Add("objective", "%s", GoalText(r.Goal))
	for _, text := range r.Definition.SubjectTo {
		l.Add("subject to", "%s", text)
	}
	search := cmp.Or(r.Definition.Search.Name, "auto")
	if r.Definition.Asked { // who makes the runs stops them
		l.Add("search", "%s, seed %d", search, r.Definition.Search.Seed)
		return
	}
	l.Add("search", "%s, early stopping: %s, seed %d", search, cmp.Or(r.Definition.Stop.Rule, "auto"),
		r.Definition.Search.Seed)
}

// maxHelpers is how many names of earlier studies are listed.
const maxHelpers = 8

// describePrior prints which earlier studies help and which values they pruned.
func (r *Record) describePrior(l *report.Lines, cuts []assay.Pruned) {
	helpers := r.Definition.Prior.Resolved
	if len(helpers) == 0 {
		return
	}
	var names []string
	for _, p := range helpers[:min(len(helpers), maxHelpers)] {
		names = append(names, fmt.Sprintf("%s (%d trials)", p.Name, p.Trials))
	}
	if n := len(helpers) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	l.Add("helped by", "%s", strings.Join(names, ", "))
	var texts []string
	for _, c := range cuts {
		texts = append(texts, r.cutText(c))
	}
	l.AddList("pruned", texts)
}

// cutText describes a cut in one line.
func (r *Record) cutText(c assay.Pruned) string {
	values := c.Param + "=" + strings.Join(c.Values, ",")
	if c.Restored {
		return fmt.Sprintf("%s is back: %s (%s)", values, c.Reason, c.Study)
	}
	return fmt.Sprintf("%s by %s (correlation %.2f, alpha %.2f): nothing with it reached %s there; %s",
		values, c.Study, c.Correlation, c.Alpha, report.Metric(r.Goal.Show(c.Threshold), r.Goal.Unit), c.Reason)
}
