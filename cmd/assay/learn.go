package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
)

func learnCommand(s streams) *cobra.Command {
	f := &tuneFlags{}
	var model, target, from string
	cmd := &cobra.Command{
		Use:   "learn STUDY.yaml [flags]",
		Short: "learn what a program costs on any resources, in few runs",
		Long: `learn runs a program on different assignments of its resources, which are the
parameters of the study, chooses each next run for the error that it takes away
per second, and writes a model file for assay predict and assay plan. With a
workbench: section in the study, the parameters cpu, memory, rtt, bandwidth and
disk are realised on this machine (see assay doctor). Learning again goes on.

With --from it learns from the trials of a study on record, and runs nothing.`,
		Example: `  assay learn blast.yaml --budget 30m --error 10%
  assay learn --from nightly --model nightly.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkModelFile(model); err != nil {
				return err
			}
			if from != "" {
				if len(args) > 0 {
					return usagef("--from %s runs nothing: leave %s out", from, args[0])
				}
				return learnFrom(cmd.Context(), s, f, from, model)
			}
			if len(args) != 1 {
				return usagef("what shall be learned? Give one study file, or --from STUDY\nsee: assay learn --help")
			}
			return f.learn(cmd, s, args, target, model)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&model, "model", "", "where to write the model: a `file` (default STUDY.model.json)")
	fl.StringVar(&target, "error", "", "mean error in `percent` that is good enough, such as 10%")
	fl.StringVar(&from, "from", "", "learn from the trials of a `study` on record")
	fl.StringVar(&f.budget, "budget", "", "time for the whole study, such as 30m")
	fl.IntVar(&f.trials, "trials", 0, "number of runs")
	fl.StringVar(&f.timeout, "timeout", "", "limit of one run")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the search")
	fl.StringVar(&f.study, "study", "", "name of the study (default: the file's name)")
	fl.StringVar(&f.store, "store", "", "where studies are kept: a `path`, or memory (default in $XDG_STATE_HOME/assay)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	fl.BoolVar(&f.json, "json", false, "print the result as one JSON object")
	return cmd
}

// checkModelFile returns an error if no model can be written to file, before
// anything is run for it. "" is a file in this directory.
func checkModelFile(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return usagef("--model %s: it is a directory", file)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return usagef("--model %s: there is no directory %s", file, filepath.Dir(file))
	}
	return nil
}

// learn is the command: the loop of tune with the searcher nimo, then the model.
func (f *tuneFlags) learn(cmd *cobra.Command, s streams, args []string, target, file string) error {
	percent, err := parsePercent("--error", target)
	if err != nil {
		return err
	}
	def, err := loadStudy(s.err, args[0], func(st *config.Study) error {
		if name := cmp.Or(st.Search.Name, setup.LearningSearcher); name != setup.LearningSearcher {
			return usagef("%ssearcher %s does not learn a cost model: leave search.name out", st.At("search.name"), name)
		}
		if st.Stop.Rule != "" && st.Stop.Rule != "none" {
			return usagef("%sstop: %s: a run that is stopped early has no cost to learn from", st.At("stop.rule"), st.Stop.Rule)
		}
		st.Search.Name, st.Stop.Rule = setup.LearningSearcher, "none"
		if percent > 0 {
			if st.Search.Options == nil {
				st.Search.Options = map[string]any{}
			}
			st.Search.Options["target"] = percent
		}
		return f.apply(cmd, st, nil)
	})
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.describe(s.out, def)
	}
	sd, err := f.open(cmd.Context(), s, def, setup.Options{Alone: true})
	if err != nil {
		return err
	}
	defer sd.Close()
	res, which, err := conduct(cmd.Context(), s, sd)
	if err != nil {
		return err
	}
	name, space := sd.Name, sd.Space
	l, err := setup.Learned(context.WithoutCancel(cmd.Context()), sd.Store, name, def, space)
	if err != nil {
		return err
	}
	out := &learned{Study: name, Spent: res.Spent.Seconds(), EndedBy: res.EndedBy, Assignments: space.Size()}
	if res.EndedBy == "search" && l.Converged() {
		out.EndedBy = "error" // below the target
	}
	err = out.finish(s, l, cmp.Or(file, name+".model.json"), f.json)
	if res.EndedBy == "interrupt" {
		return cmp.Or(err, interrupted(s.err, which))
	}
	return err
}

// parsePercent reads "10%" or "10"; "" is 0.
func parsePercent(flag, text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	x, ok := assay.Number(strings.TrimSuffix(text, "%"))
	if !ok || !(x > 0 && x <= 1000) {
		return 0, usagef("%s %s: not a percentage such as 10%%", flag, text)
	}
	return x, nil
}

// learnFrom learns from a study on record.
func learnFrom(ctx context.Context, s streams, f *tuneFlags, from, file string) error {
	h, err := setup.ReadStore(ctx, f.store)
	if err != nil {
		return err
	}
	defer h.Close()
	st, err := h.Definition(ctx, from)
	if err != nil {
		return noStudy(err, from)
	}
	space, err := st.Space()
	if err != nil {
		return err
	}
	l, err := setup.Learned(ctx, h, from, st, space)
	if err != nil {
		return err
	}
	sum, err := h.Summary(ctx, from)
	if err != nil {
		return err
	}
	out := &learned{Study: from, Spent: sum.Spent.Seconds(), EndedBy: cmp.Or(sum.Ended, "record"), Assignments: space.Size()}
	return out.finish(s, l, cmp.Or(file, from+".model.json"), f.json)
}

// learned is what assay learn prints.
type learned struct {
	Study       string     `json:"study"`
	Model       string     `json:"model"`
	Runs        int        `json:"runs"`
	Failed      int        `json:"failed"`
	Error       *float64   `json:"error_percent"`          // in leave-one-out cross-validation; null for one run
	Elsewhere   *float64   `json:"expected_error_percent"` // on assignments that were not run; likewise
	Spent       float64    `json:"spent_s"`
	EndedBy     string     `json:"ended_by"`
	Limits      []limiting `json:"limits,omitempty"`
	Assignments assay.Size `json:"-"`
	NoIO        int        `json:"runs_without_data_flow,omitempty"`
	different   int        // assignments that were run
}

// limiting says what the program waits for on one of the assignments that were run.
type limiting struct {
	At    map[string]any     `json:"at"`
	Parts map[string]float64 `json:"parts_s"`
	text  string
}

// finish writes the model and says what it is.
func (o *learned) finish(s streams, l *costmodel.ActiveLearner, file string, asJSON bool) error {
	m, err := l.Model()
	if errors.Is(err, assay.ErrTooFew) {
		fmt.Fprintln(s.err, "no run to its end: there is no model")
		return &exitError{codeNoResult}
	}
	if err != nil {
		return err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
		return err
	}
	o.NoIO = withoutIO(m)
	o.Model, o.Runs, o.Failed, o.Limits = file, len(m.Runs()), len(m.Failed()), limits(m)
	different := map[string]bool{}
	for _, r := range m.Runs() {
		different[r.Config.Key()] = true
	}
	o.different = len(different)
	if e := m.Error(); !math.IsNaN(e) {
		o.Error, o.Elsewhere = &e, finite(m.Elsewhere())
	}
	if asJSON {
		return writeJSON(s.out, o)
	}
	return o.write(s.out, l, m)
}

// limits returns what limits the program on the runs with the least and the
// longest time.
func limits(m *costmodel.Model) []limiting {
	runs := slices.SortedStableFunc(slices.Values(m.Runs()), func(a, b costmodel.Run) int { return cmp.Compare(a.Seconds, b.Seconds) })
	var out []limiting
	for _, r := range []costmodel.Run{runs[0], runs[len(runs)-1]} {
		p := m.Predict(r.Config)
		parts := partsOf(p)
		if parts == nil || len(out) > 0 && len(runs) == 1 {
			break
		}
		l := limiting{At: m.Space().Values(r.Config), Parts: map[string]float64{}, text: m.Space().Text(r.Config)}
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

func (o *learned) write(w io.Writer, learner *costmodel.ActiveLearner, m *costmodel.Model) error {
	var l lines
	l.add("model", "%s", o.Model)
	runs := fmt.Sprintf("%d of %s assignments", o.different, o.Assignments)
	if o.Runs > o.different {
		runs += fmt.Sprintf(" in %d runs", o.Runs)
	}
	if o.Failed > 0 {
		runs += fmt.Sprintf(", %d failed", o.Failed)
	}
	l.add("runs", "%s", runs)
	if o.Error != nil && o.Elsewhere != nil {
		l.add("error", "%.1f %% on the average expected on what was not run; %.1f %% in leave-one-out", *o.Elsewhere, *o.Error)
	}
	for i, at := range o.Limits {
		label := ""
		if i == 0 {
			label = "limited by"
		}
		l.add(label, "%s", at.text)
	}
	addDataFlow(&l, m)
	l.add("time", "%s", report.Seconds(o.Spent))
	addErrorCurve(&l, learner)
	l.add("ended by", "%s; on record as study %s", cmp.Or(learnEndings[o.EndedBy], endings[o.EndedBy], o.EndedBy), o.Study)
	return l.write(w)
}

// learnEndings are the endings that say something else of a cost model.
var learnEndings = map[string]string{
	"error": "the error, which is small enough", "search": "the search, which has run every assignment that it wants", "record": "what is on record",
}

// addErrorCurve draws the estimated error against the time that runs took.
func addErrorCurve(l *lines, learner *costmodel.ActiveLearner) {
	if curve := errorCurve(learner); len(curve.X) > 1 {
		l.add("error %", "against the time of the runs")
		l.b.WriteString(report.Curve([]report.Series{curve}, 60, 8, "s", ""))
	}
}

// addErrorCurve draws that of a study that learns a cost model.
func (r *record) addErrorCurve(ctx context.Context, h *setup.Store, l *lines) error {
	space, err := r.Definition.Space()
	if err != nil {
		return err
	}
	learner, err := setup.Learned(ctx, h, r.Name, r.Definition, space)
	if err == nil {
		addErrorCurve(l, learner)
	}
	return err
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
