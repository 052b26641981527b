package result

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// WriteStudies writes the studies of a store: a table for a terminal of that width, or a line of JSON each.
func WriteStudies(ctx context.Context, w io.Writer, width int, p report.Palette, store Store, asJSON bool) error {
	t := report.NewTable(p, "study", ">trials", ">done", ">stopped", ">failed", ">outside limits", ">best", "gain",
		"objective", ">spent", "last run")
	t.Width = width
	t.Wrap("study")
	t.Spare("last run", "gain", "spent", "trials", "objective")
	for sum, err := range store.Summaries(ctx, "", 0) {
		if err != nil {
			return err
		}
		r, err := Read(ctx, store, sum.Study)
		if err != nil {
			return err
		}
		l, err := r.Study(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			if err := report.WriteJSON(w, l); err != nil {
				return err
			}
			continue
		}
		best, outside := "–", l.Infeasible
		if r.Goal.Level != nil {
			outside = 0 // they are below the full level, and no limits exist
		}
		if r.Goal.Several() && l.Done > 0 {
			best = "a front"
		}
		if l.Best != nil {
			best = report.Metric(*l.Best, r.Goal.Unit)
		}
		t.Add(l.Study, fmt.Sprint(l.Trials), fmt.Sprint(l.Done), fmt.Sprint(l.Censored), fmt.Sprint(l.Failed),
			fmt.Sprint(outside), best, shortGain(l.Gain), l.Objective, report.Seconds(l.Spent), r.lastRun(sum))
	}
	if asJSON {
		return nil
	}
	return t.WriteOr(w, "no studies yet (see assay tune --help)")
}

// lastRun returns when the last run of the study ended.
func (r *Record) lastRun(sum assay.Summary) string {
	switch {
	case r.Definition.HalfImport(sum):
		return "half imported"
	case r.Definition.Replay != nil:
		return "simulated"
	case !sum.Last.IsZero():
		return sum.Last.Local().Format("2006-01-02 15:04")
	}
	return "–"
}

// WriteTrials writes the trials of the study in order of their ids: a table for a terminal of that width, or a line of
// JSON each.
func (r *Record) WriteTrials(ctx context.Context, w io.Writer, width int, p report.Palette, asJSON bool) error {
	buf := bufio.NewWriter(w)
	titles := []string{">id", "state"}
	for _, o := range r.Goal.Objectives() {
		titles = append(titles, ">"+o.Metric)
	}
	t := report.NewTable(p, append(titles, "configuration", "reason")...)
	t.Width = width
	t.Wrap("configuration", "reason")
	for trial, err := range r.Trials(ctx) {
		if err != nil {
			return err
		}
		j := r.Trial(trial)
		if asJSON {
			if err := report.WriteJSON(buf, j); err != nil {
				return err
			}
			continue
		}
		row := []string{fmt.Sprint(j.ID), wordOf(r.Goal, trial.State)}
		if r.Goal.Several() {
			for _, o := range r.Goal.Objectives() {
				row = append(row, objectiveText(o, trial))
			}
		} else {
			row = append(row, valueText(r.Goal, trial))
		}
		t.Add(append(row, r.Params.Text(trial.Config), j.Reason)...)
	}
	if !asJSON {
		if err := t.Write(buf); err != nil {
			return err
		}
	}
	return buf.Flush()
}
