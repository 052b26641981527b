package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
)

// studyFlags are the flags of the study commands.
type studyFlags struct {
	store  string
	json   bool
	format string
	stderr bool
}

func studyCommand(s streams) *cobra.Command {
	f := &studyFlags{}
	cmd := &cobra.Command{
		Use:   "study",
		Short: "look at the studies on record",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&f.store, "store", "", "where studies are kept: a `path` (default in $XDG_STATE_HOME/assay)")
	add := func(use, short string, args cobra.PositionalArgs, do func(context.Context, *setup.Store, []string) error) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Args: args, ValidArgsFunction: f.complete,
			RunE: func(cmd *cobra.Command, args []string) error { return f.with(cmd.Context(), args, do) },
		}
		cmd.AddCommand(c)
		return c
	}
	ls := add("ls", "list the studies", cobra.NoArgs, func(ctx context.Context, h *setup.Store, _ []string) error {
		return listStudies(ctx, s.out, h, f.json)
	})
	show := add("show STUDY", "what a study is, and what it has found", cobra.ExactArgs(1), func(ctx context.Context, h *setup.Store, args []string) error {
		return showStudy(ctx, s.out, h, args[0], f.json)
	})
	trials := add("trials STUDY", "the trials in order of their ids", cobra.ExactArgs(1), func(ctx context.Context, h *setup.Store, args []string) error {
		return listTrials(ctx, s.out, h, args[0], f.json)
	})
	for _, c := range []*cobra.Command{ls, show, trials} {
		c.Flags().BoolVar(&f.json, "json", false, "print JSON, one object a line where there are several")
	}
	export := add("export STUDY", "write the trials for other tools", cobra.ExactArgs(1), func(ctx context.Context, h *setup.Store, args []string) error {
		return exportStudy(ctx, s.out, h, args[0], f.format)
	})
	export.Flags().StringVar(&f.format, "format", "csv", "csv, jsonl or optuna (a journal that Optuna goes on with)")
	output := add("output STUDY TRIAL", "what was kept of the output of a trial's run", cobra.ExactArgs(2), func(ctx context.Context, h *setup.Store, args []string) error {
		return showOutput(ctx, s.out, h, args[0], args[1], f.stderr)
	})
	output.Flags().BoolVar(&f.stderr, "stderr", false, "the error output")
	cmd.AddCommand(explainCommand(s, f))
	add("rm STUDY...", "forget studies and their trials", cobra.MinimumNArgs(1), func(ctx context.Context, h *setup.Store, args []string) error {
		return removeStudies(ctx, s.out, h, args)
	})
	cmd.AddCommand(noiseCommand(s, f))
	cmd.AddCommand(similarCommand(s, f), importCommand(s, f))
	cmd.AddCommand(fsckCommand(s, f))
	return cmd
}

// with opens the store for one command.
func (f *studyFlags) with(ctx context.Context, args []string, do func(context.Context, *setup.Store, []string) error) error {
	h, err := setup.ReadStore(ctx, f.store)
	if err != nil {
		return err
	}
	defer h.Close()
	if err = do(ctx, h, args); len(args) > 0 {
		return noStudy(err, args[0])
	}
	return err
}

// complete offers the names of the studies to a shell.
func (f *studyFlags) complete(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	h, err := setup.ReadStore(cmd.Context(), f.store)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer h.Close()
	var all []string
	for name, err := range h.Studies(cmd.Context()) {
		if err == nil {
			all = append(all, name)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// A record is a study on record with its definition.
type record struct {
	name  string
	study *config.Study
	goal  assay.Goal
	space coordinates
	sum   assay.Summary
}

// coordinates name those of stored configurations. They are not a Space: the
// relations and the list do not matter to what was run.
type coordinates []assay.Param

func (ps coordinates) values(c assay.Config) map[string]any {
	m := make(map[string]any, len(ps))
	for i, p := range ps {
		m[p.Name] = p.Value(c[i])
	}
	return m
}

func (ps coordinates) text(c assay.Config) string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		parts[i] = p.Name + "=" + p.Text(c[i])
	}
	return strings.Join(parts, " ")
}

func readRecord(ctx context.Context, h *setup.Store, name string) (*record, error) {
	st, err := h.Definition(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &record{name: name, study: st}
	if r.goal, err = st.Goal(); err != nil {
		return nil, err
	}
	for _, p := range st.Params {
		r.space = append(r.space, p.Param())
	}
	r.sum, err = h.Summary(ctx, name)
	return r, err
}

// trials yields the trials of the study in order of their ids.
func (r *record) trials(ctx context.Context, h *setup.Store) iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		for row, err := range h.Trials(ctx, r.name, 0, 0) {
			if err == nil {
				err = r.fits(row.Trial)
			}
			if !yield(row.Trial, err) || err != nil {
				return
			}
		}
	}
}

// fits returns an error if the trial is not one of the study's parameters.
func (r *record) fits(t assay.Trial) error {
	if len(t.Config) != len(r.space) {
		return fmt.Errorf("study %q: trial %d has %d coordinates for %d parameters (see assay study fsck)", r.name, t.ID, len(t.Config), len(r.space))
	}
	for i, p := range r.space {
		if !p.Contains(t.Config[i]) {
			return fmt.Errorf("study %q: trial %d: parameter %s has no value at %v (see assay study fsck)", r.name, t.ID, p.Name, t.Config[i])
		}
	}
	return nil
}

func (r *record) goalText() string { return goalText(r.goal) }

func goalText(g assay.Goal) string {
	if g.Maximize {
		return "maximize " + g.Metric
	}
	return "minimize " + g.Metric
}

// listedStudy is one line of `assay study ls --json`.
type listedStudy struct {
	Study      string    `json:"study"`
	Trials     int64     `json:"trials"`
	Done       int64     `json:"done"`
	Censored   int64     `json:"censored"`
	Failed     int64     `json:"failed"`
	Infeasible int64     `json:"infeasible"`
	Withdrawn  int64     `json:"withdrawn,omitempty"`
	Objective  string    `json:"objective"`
	Best       *float64  `json:"best"`
	Spent      float64   `json:"spent_s"`
	Last       time.Time `json:"last"`
}

func listStudies(ctx context.Context, w io.Writer, h *setup.Store, asJSON bool) error {
	t := report.NewTable(palette(w), "study", ">trials", ">done", ">stopped", ">failed", ">best", "objective", ">spent", "last run")
	for sum, err := range h.Summaries(ctx, "", 0) {
		if err != nil {
			return err
		}
		r, err := readRecord(ctx, h, sum.Study)
		if err != nil {
			return err
		}
		l := listedStudy{
			Study: sum.Study, Trials: sum.Trials(), Done: sum.Counts[assay.Done], Censored: sum.Counts[assay.Censored],
			Failed: sum.Counts[assay.Failed], Infeasible: sum.Counts[assay.Infeasible],
			Withdrawn: sum.Counts[assay.Withdrawn],
			Objective: r.goalText(), Spent: sum.Spent.Seconds(), Last: sum.Last,
		}
		best, last := "–", "–"
		if sum.Best > 0 {
			v := r.goal.Show(sum.Value)
			l.Best, best = &v, showMetric(v, r.goal.Unit)
		}
		switch {
		case r.study.Replay != nil:
			last = "simulated"
		case !sum.Last.IsZero():
			last = sum.Last.Local().Format("2006-01-02 15:04")
		}
		if asJSON {
			if err := writeJSON(w, l); err != nil {
				return err
			}
			continue
		}
		t.Add(l.Study, fmt.Sprint(l.Trials), fmt.Sprint(l.Done), fmt.Sprint(l.Censored), fmt.Sprint(l.Failed), best, l.Objective, report.Seconds(l.Spent), last)
	}
	switch {
	case asJSON:
		return nil
	case t.Len() == 0:
		_, err := fmt.Fprintln(w, "no studies yet (see assay tune --help)")
		return err
	}
	return t.Write(w)
}

// shownStudy is what `assay study show --json` prints.
type shownStudy struct {
	Study  string        `json:"study"`
	Spec   *config.Study `json:"spec"`
	Trials trialCounts   `json:"trials"`
	Spent  float64       `json:"spent_s"`
	Best   *bestTrial    `json:"best"`
	Cuts   []assay.Cut   `json:"cuts,omitempty"`
}

// showStudy prints what a study is and what it has found so far.
func showStudy(ctx context.Context, w io.Writer, h *setup.Store, name string, asJSON bool) error {
	r, err := readRecord(ctx, h, name)
	if err != nil {
		return err
	}
	var best *assay.Trial
	var curve []float64
	for t, err := range r.trials(ctx, h) {
		if err != nil {
			return err
		}
		if t.State == assay.Done && (best == nil || t.Value < best.Value) {
			best = &t
		}
		if best != nil {
			curve = append(curve, r.goal.Show(best.Value))
		}
	}
	c := r.sum.Counts
	out := shownStudy{Study: name, Spec: r.study, Spent: r.sum.Spent.Seconds(), Trials: trialCounts{
		Total: int(r.sum.Trials()), Done: int(c[assay.Done]), Censored: int(c[assay.Censored]), Failed: int(c[assay.Failed]), Infeasible: int(c[assay.Infeasible]),
		Withdrawn: int(c[assay.Withdrawn]),
	}}
	if best != nil {
		out.Best = &bestTrial{Trial: best.ID, Config: r.space.values(best.Config), Value: r.goal.Show(best.Value), Metrics: metricsOf(*best, r.goal)}
	}
	if out.Cuts, err = r.cuts(ctx, h); err != nil {
		return err
	}
	if asJSON {
		return writeJSON(w, out)
	}
	var l lines
	l.add("study", "%s, made %s", name, r.sum.Created.Local().Format("2006-01-02 15:04"))
	r.describe(&l)
	l.add("trials", "%s", out.Trials)
	l.add("time", "%s spent", report.Seconds(out.Spent))
	if best != nil {
		l.add("best", "%s", r.space.text(best.Config))
		l.add("", "%s %s (trial %d)", r.goal.Metric, showMetric(out.Best.Value, r.goal.Unit), best.ID)
	}
	r.describePrior(&l, out.Cuts)
	if r.study.Search.Name == setup.LearningSearcher {
		if err := r.addErrorCurve(ctx, h, &l); err != nil {
			return err
		}
	} else if len(curve) > 1 {
		l.add("progress", "%s", report.Spark(curve, 60))
	}
	return l.write(w)
}

// describe says what the study is.
func (r *record) describe(l *lines) {
	switch r.study.Mode() {
	case config.ModeTable:
		l.add("replays", "%s", r.study.Replay.File)
	case config.ModeOnline:
		l.add("tuned", "on line: its trials are iterations of a program that runs")
	default:
		l.add("command", "%s", report.ShellQuote(r.study.Command))
	}
	for i, p := range r.space {
		label := "parameters"
		if i > 0 {
			label = ""
		}
		l.add(label, "%s", paramText(p))
	}
	for _, text := range r.study.Where {
		l.add("where", "%s", text)
	}
	l.add("objective", "%s", r.goalText())
	for _, text := range r.study.SubjectTo {
		l.add("subject to", "%s", text)
	}
	l.add("search", "%s, early stopping: %s, seed %d", cmp.Or(r.study.Search.Name, "auto"), cmp.Or(r.study.Stop.Rule, "auto"), r.study.Search.Seed)
}

// trialJSON is one line of `assay study trials --json`: a contract.
type trialJSON struct {
	ID       int64              `json:"id"`
	Config   map[string]any     `json:"config"`
	State    assay.State        `json:"state"`
	Value    *float64           `json:"value"` // null while it runs, or if it failed
	Metrics  map[string]float64 `json:"metrics"`
	Reason   string             `json:"reason"`
	Decision *assay.Decision    `json:"decision,omitempty"`
	Attempts int                `json:"attempts,omitempty"`
	Started  time.Time          `json:"started"`
	Ended    *time.Time         `json:"ended"`
}

func (r *record) json(t assay.Trial) trialJSON {
	j := trialJSON{
		ID: t.ID, Config: r.space.values(t.Config), State: t.State, Metrics: map[string]float64{},
		Reason: t.Reason, Decision: t.Decision, Attempts: t.Attempts, Started: t.Started,
	}
	if t.State.Final() {
		j.Ended, j.Metrics = &t.Ended, metricsOf(t, r.goal)
	}
	if t.State.Final() && t.State != assay.Failed {
		v := r.goal.Show(t.Value)
		j.Value = &v
	}
	return j
}

func listTrials(ctx context.Context, w io.Writer, h *setup.Store, name string, asJSON bool) error {
	r, err := readRecord(ctx, h, name)
	if err != nil {
		return err
	}
	buf := bufio.NewWriter(w)
	t := report.NewTable(palette(w), ">id", "state", ">"+r.goal.Metric, "configuration", "reason")
	for trial, err := range r.trials(ctx, h) {
		if err != nil {
			return err
		}
		j := r.json(trial)
		if asJSON {
			if err := writeJSON(buf, j); err != nil {
				return err
			}
			continue
		}
		t.Add(fmt.Sprint(j.ID), j.State.String(), showValue(r.goal, trial), r.space.text(trial.Config), j.Reason)
	}
	if !asJSON {
		if err := t.Write(buf); err != nil {
			return err
		}
	}
	return buf.Flush()
}

// showValue returns the objective of a trial for people: "> 1.2 s" if it was
// stopped there, "–" if there is none.
func showValue(g assay.Goal, t assay.Trial) string {
	switch t.State {
	case assay.Running, assay.Failed:
		return "–"
	case assay.Censored:
		return "> " + showMetric(g.Show(t.Value), g.Unit)
	}
	return showMetric(g.Show(t.Value), g.Unit)
}

func removeStudies(ctx context.Context, w io.Writer, h *setup.Store, names []string) error {
	for _, name := range names {
		if _, err := h.Spec(ctx, name); errors.Is(err, fs.ErrNotExist) {
			return usagef("no study %q: nothing was removed (see assay study ls)", name)
		} else if err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := h.Remove(ctx, name); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "removed %s\n", name); err != nil {
			return err
		}
	}
	return nil
}
