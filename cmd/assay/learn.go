package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

func learnCommand(s streams) *cobra.Command {
	f := &tuneFlags{}
	var model, target, from, learnedOn string
	cmd := &cobra.Command{
		Use:   "learn STUDY.yaml [flags]",
		Short: "learn the cost of a program on any resources, in few runs",
		Long: `learn runs a program on different assignments of its resources, which are the
parameters of the study, chooses each next run for the error that it removes per
second, and writes a model file for assay predict and assay plan. With a
workbench: section in the study, the parameters cpu, memory, rtt, bandwidth and
disk are realised on this machine (see assay doctor). The same command resumes.

With --from it learns from the trials of a study on record, and runs nothing.`,
		Example: `  assay learn blast.yaml --budget 30m --error 10%
  assay learn --from nightly --model nightly.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkModelFile(model); err != nil {
				return err
			}
			here, err := readMachine("learned-on", learnedOn)
			if err != nil {
				return err
			}
			to := modelFile{model, here}
			if from != "" {
				if len(args) > 0 {
					return usagef("--from %s runs nothing: leave %s out", from, args[0])
				}
				return learnFrom(cmd.Context(), s, f, from, to)
			}
			if len(args) != 1 {
				return usagef("what shall be learned? Give one study file, or --from STUDY\nsee: assay learn --help")
			}
			return f.learn(cmd, s, args, target, to)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&model, "model", "", "where to write the model: a `file` (default STUDY.model.json)")
	fl.StringVar(&target, "error", "", "mean error in `percent` that is good enough, such as 10%")
	fl.StringVar(&learnedOn, "learned-on", "",
		"`file` of assay profile --json of the machine of the runs: predictions on others start from it")
	fl.StringVar(&from, "from", "", "learn from the trials of a `study` on record")
	f.keys.add(cmd, map[string]string{"trials": "number of runs"}, "budget", "trials", "timeout", "seed")
	fl.StringVar(&f.study, "study", "", "name of the study (default: the file's name)")
	fl.StringVar(&f.store, "store", "", "where studies are kept: a `path`, or memory (default in $XDG_STATE_HOME/assay)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the plan, and run nothing")
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
func (f *tuneFlags) learn(cmd *cobra.Command, s streams, args []string, target string, to modelFile) error {
	percent, err := parsePercent("--error", target)
	if err != nil {
		return err
	}
	def, err := loadStudy(s.err, args[0], func(st *spec.Study) error {
		if name := cmp.Or(st.Search.Name, setup.LearningSearcher); name != setup.LearningSearcher {
			return usagef("%ssearcher %s does not learn a cost model: leave search.name out", st.At("search.name"), name)
		}
		if st.Stop.Rule != "" && st.Stop.Rule != "none" {
			return usagef("%sstop: %s: a run that is stopped early has no cost to learn from", st.At("stop.rule"), st.Stop.Rule)
		}
		st.Search.Name, st.Stop.Rule, st.Pairs = setup.LearningSearcher, "none", spec.Pairs{None: true}
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
	out := &result.Learned{
		Study: name, Spent: res.Spent.Seconds(), EndedBy: res.EndedBy, Assignments: space.Size(), Target: percent,
	}
	if res.EndedBy == "search" && l.Converged() {
		out.EndedBy = "error" // below the target
	}
	err = to.finish(s, out, l, name, f.json)
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
func learnFrom(ctx context.Context, s streams, f *tuneFlags, from string, to modelFile) error {
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
	out := &result.Learned{
		Study: from, Spent: sum.Spent.Seconds(), EndedBy: cmp.Or(sum.Ended, "record"), Assignments: space.Size(),
	}
	return to.finish(s, out, l, from, f.json)
}

// A modelFile is the file of a model, with the description of its machine.
type modelFile struct {
	name    string // "" is one that is named by the study
	machine costmodel.Machine
}

// finish writes the model of a study and prints its description.
func (to modelFile) finish(s streams, o *result.Learned, l *costmodel.ActiveLearner, study string, asJSON bool) error {
	m, err := l.Model()
	if errors.Is(err, assay.ErrTooFew) {
		fmt.Fprintln(s.err, "no run to its end: there is no model")
		return &exitError{codeNoResult}
	}
	if err != nil {
		return err
	}
	if m, err = m.LearnedOn(to.machine); err != nil {
		return err
	}
	file := cmp.Or(to.name, study+".model.json")
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := files.WriteFile(file, append(b, '\n'), 0o644); err != nil {
		return err
	}
	o.Model = file
	o.SetModel(m)
	o.Verified, o.Off = l.Levels().Verified, l.Levels().Off
	if asJSON {
		return writeJSON(s.out, o)
	}
	return o.Write(s.out, l)
}
