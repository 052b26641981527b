package result

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
	"github.com/assay-run/assay/view"
)

// A Story is an outcome with the data needed to present it.
type Story struct {
	Outcome
	Result    study.Result
	Space     *assay.Space
	Goal      assay.Goal
	Simulated bool // the time is from a recorded table
	Default   bool // the first configuration is the program's current one
	Recorded  bool // from the record, which lacks the tool's own overhead
	// Command returns a line for a shell that runs a configuration, see [Recipe.Line]; it is nil if no command is run.
	Command func(assay.Config) string
	Width   int // of the terminal that it is written to, 0 for none

	chosen assay.Trial   // that Answer recommends
	budget time.Duration // of time, 0 without one
}

// NewStory returns the results of a study of a definition. at is the place for which the recommended command is
// written.
func NewStory(name string, def *spec.Study, space *assay.Space, goal assay.Goal, r study.Result,
	at Place,
) (*Story, error) {
	declared := def.HasDefault()
	o := &Story{
		Outcome: NewOutcome(name, space, goal, r), Result: r, Space: space, Goal: goal, Simulated: def.Replay != nil,
		Default: declared, budget: def.Budget.Time,
	}
	if len(def.Command) > 0 && def.App == "" {
		p, err := def.Program()
		if err != nil {
			return nil, err
		}
		o.Command = func(c assay.Config) string {
			recipe := NewRecipe(def, p, c, at)
			recipe.Study = name
			return recipe.Line()
		}
	}
	if o.Best == nil || goal.Several() {
		return o, nil
	}
	o.Answer, o.chosen = newAnswer(basis{space.Values, declared, def.Replay != nil}, goal, r)
	if o.Command != nil {
		o.Answer.Run = o.Command(o.chosen.Config)
	}
	return o, nil
}

// Write prints the result.
func (o *Story) Write(w io.Writer) error { return o.lines().Write(w) }

// lines returns the result as text.
func (o *Story) lines() *report.Lines {
	l := report.Lines{Width: o.Width}
	o.answerLines(&l)
	o.spentLines(&l)
	return &l
}

// answerLines writes the answer.
func (o *Story) answerLines(l *report.Lines) {
	switch {
	case o.Best == nil && len(o.Refuted) > 0:
		l.Add("best", "none: the best failed when it was run again, and nothing else was run again with success")
		l.Add("passed over", "%s", passedText(passedOver(o.Goal, o.Result)))
	case o.Best == nil:
		l.Add("best", "none: no trial ran to its end within the limits")
	case o.Goal.Several():
		o.frontLines(l)
		if o.Command != nil {
			l.AddCommand("run", o.Command(o.Result.Best.Config))
		}
	default:
		o.recommended(l)
	}
}

// Recommended returns the recommended trial, with the median of the runs of its configuration as its value. With
// several objectives it is the balanced trial. ok is false if no trial is recommended.
func (o *Story) Recommended() (t assay.Trial, ok bool) {
	switch {
	case o.Answer != nil:
		t = o.chosen
		t.Value = o.Goal.Show(o.Answer.Value) // its own inverse
		return t, true
	case o.Result.Found:
		return o.Result.Best, true
	}
	return t, false
}

// AnswerLines writes the recommended configuration, its value, the gain and the limits, if the study has one objective
// and has found something.
func (o *Story) AnswerLines(l *report.Lines) {
	a := o.Answer
	text := o.Space.Text(o.chosen.Config)
	if a.Keep {
		text = "keep " + o.first() + ": " + text
	}
	l.Add("best", "%s", text)
	l.Add(o.Objective.Metric, "%s", o.valueText(a.Value, a.Runs, a.Trial))
	l.Add("gain", "%s", a.Gain)
	if r := o.Repeated; r != nil && r.Short != "" && a.Trial != o.Result.Best.ID {
		l.Add("", "fewer pairs than were wanted: %s", r.Short)
	}
	if c := a.Candidate; c != nil {
		l.Add("candidate", "%s: %s", o.Space.Text(o.Result.Best.Config), o.valueText(c.Value, c.Runs, c.Trial))
	}
	for _, k := range a.Limits {
		l.Add("limit", "%s", k.Text)
	}
}

// recommended writes the answer of a study with one objective.
func (o *Story) recommended(l *report.Lines) {
	o.AnswerLines(l)
	a := o.Answer
	if o.Command != nil {
		l.AddCommand("run", a.Run)
	}
	if len(a.Passed) > 0 {
		l.Add("passed over", "%s", passedText(a.Passed))
	}
	if r := o.Repeated; r != nil && r.First.broken() > 0 && !slices.ContainsFunc(o.Refuted,
		func(x Refuted) bool { return x.Trial == o.Result.First.ID }) {
		l.Add("passed over", "%s, run again: %s", o.first(), r.First.Text())
	}
}

// valueText returns "272 ms, median of 18 runs (trial 3)".
func (o *Story) valueText(value float64, runs int, trial int64) string {
	return fmt.Sprintf("%s%s (trial %d)", report.Metric(value, o.Objective.Unit), medianOf(runs), trial)
}

// medianOf returns ", median of 7 runs", or "" of one run.
func medianOf(runs int) string {
	if runs < 2 {
		return ""
	}
	return fmt.Sprintf(", median of %d runs", runs)
}

// unused is the share of a time budget above which the time left is shown.
const unused = 0.01

// spentLines writes the cost of the study, and the reason of its end.
func (o *Story) spentLines(l *report.Lines) {
	l.Add("trials", "%s", o.Trials.Text())
	spent := report.Seconds(o.Spent)
	if o.Simulated {
		spent += " in simulated time"
	}
	if o.Lost > 0 {
		spent += ", " + report.Seconds(o.Lost) + " lost with attempts that do not count"
	}
	if o.Saved > 0 {
		spent += ", about " + report.Seconds(o.Saved) + " saved by early stopping"
	}
	if a := o.Audit; a != nil {
		l.Add("audit", "%s", a.Text())
	}
	if !o.Recorded {
		spent += ", " + report.Seconds(o.Overhead) + " own overhead"
	}
	if left := o.budget.Seconds() - o.Spent; o.EndedBy == "budget" && left > unused*o.budget.Seconds() {
		spent += ", " + report.Seconds(left) + " left, in which no further run would have ended"
	}
	l.Add("spent", "%s", spent)
	if o.CPUHours > 0 {
		l.Add("hours", "%s hours of processors", report.Number(o.CPUHours, 3))
	}
	addQueue(l, o.Queued, o.Ran)
	switch {
	case !o.Recorded:
		l.Add("ended by", "%s; on record as study %s", o.ending(), o.Study)
	case o.EndedBy == "":
		l.Add("ended by", "nothing yet: it runs, or its last session recorded no reason for its end")
	default:
		l.Add("ended by", "%s", o.ending())
	}
}

// addQueue adds how long jobs waited and ran, if any did: queued and ran are sums over jobs, in seconds.
func addQueue(l *report.Lines, queued, ran float64) {
	if queued > 0 {
		l.Add("queue", "jobs waited %s and ran %s: %.0f %% of their time in the queue", report.Seconds(queued),
			report.Seconds(ran), 100*queued/(queued+ran))
	}
}

// ending returns the cause and the reason of the end of the study, as far as known.
func (o *Outcome) ending() string {
	text := cmp.Or(endings[o.EndedBy], o.EndedBy)
	if o.Why != "" {
		text += ": " + o.Why
	}
	return text
}

// addBeside adds the environment of a run besides its command, if it has any.
func addBeside(l *report.Lines, text string) {
	if text != "" {
		l.Add("beside", "%s", text)
	}
}

// Text describes the result of an audit.
func (a *Audit) Text() string {
	text := fmt.Sprintf("%d of %d audited runs would have been stopped wrongly: %.1f %% of stops (95 %%: %.1f to %.1f)",
		a.Wrong, a.Audited, 100*a.Share, 100*a.CI95[0], 100*a.CI95[1])
	if a.Saved > 0 {
		text += fmt.Sprintf("; %d stopped runs would have gone on for about %s", a.Stopped, report.Seconds(a.Saved))
	}
	if a.Least > 0 {
		text += fmt.Sprintf(", at least %s (95 %%)", report.Seconds(a.Least))
	}
	return text
}

// endings are the texts for the causes of the end of a study.
var endings = map[string]string{
	"budget": "the time budget", "trials": "the number of trials", "cpu_hours": "the hours of processors",
	"target":    "the target value",
	"gain":      "the gain of going on, which is too small",
	"search":    "the search, which has nothing more to try",
	"failures":  "the first trials, which all failed for the same reason",
	"interrupt": "an interrupt", "error": "an error",
}

// first returns the name of the first configuration.
func (o *Story) first() string {
	return Baseline(o.Default, o.Result.First.ID)
}

// WriteFailures prints why nothing is recommended, and why no trial ended well: the first reasons, each once, with the
// end of the output, and the command that shows all of it.
func (o *Story) WriteFailures(w io.Writer) {
	if len(o.Refuted) > 0 {
		fmt.Fprintln(w, "assay: no configuration is recommended: the best one failed when it was run again")
		return
	}
	if o.EndedBy == "budget" && len(o.Result.Trials) == 0 {
		fmt.Fprintln(w, "assay: the time budget was spent before any trial ended: with a larger --budget the "+
			"same command goes on")
		return
	}
	if o.EndedBy == "failures" {
		fmt.Fprintf(w, "assay: the first trials all failed for the same reason, so that no further one was run. "+
			"The same command tries again. The reason:\n")
	} else {
		fmt.Fprintln(w, "assay: no trial ran to its end within the limits. The first reasons:")
	}
	var seen []string
	for _, t := range o.Result.Trials {
		if t.Reason == "" || slices.Contains(seen, t.Reason) || len(seen) == 3 {
			continue
		}
		seen = append(seen, t.Reason)
		text := fmt.Sprintf("trial %d (%s): %s", t.ID, o.Space.Text(t.Config), view.Reason(o.Goal, t))
		fmt.Fprintf(w, "  %s\n", report.Visible(text))
		if f := t.Measurement.Failure; f != nil && len(f.Output) > 0 {
			fmt.Fprintln(w, "    it printed last:")
			for _, line := range f.Output {
				fmt.Fprintf(w, "    | %s\n", report.Visible(line))
			}
			fmt.Fprintf(w, "    all of it: assay study output %s %d, and with --stderr\n",
				report.ShellQuote([]string{o.Study}), t.ID)
		}
		if o.EndedBy == "failures" {
			return
		}
	}
}

// EndText returns the text for the cause of the end of a study; see assay.End.
func EndText(by string) string { return cmp.Or(endings[by], by) }
