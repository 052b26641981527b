package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// tuneFlags are the flags of tune that are not part of a study file.
type tuneFlags struct {
	params    []string
	where     []string
	minimize  string
	maximize  string
	subjectTo []string
	metrics   []string
	defaults  []string
	on        string
	keep      []string
	pin       bool
	keys      keyFlags

	study  string
	store  string
	dryRun bool
	json   bool
	// require is the gain that is required, in per cent; "" for none.
	require string
	taken   int // arguments that belong to it

	remote remoteFlags
	detach bool
	spool  string
}

func tuneCommand(s streams) *cobra.Command {
	f := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune [STUDY.yaml] [flags] [-- COMMAND ARG...]",
		Short: "find the best configuration of a command, or of a recorded table",
		Long: `tune runs a command with different configurations of its parameters, measures
each run from outside, and finds the configuration that is best.

{name} in an argument is replaced by the parameter's value; {name?TEXT} is TEXT
when the parameter is on, and the argument is left out when it is off, false,
no, none, default or empty. Running the same study again resumes it.`,
		Example: `  assay tune examples/sort/assay.yaml
  assay tune -p level=1..19 -p threads=1,2,4 --budget 2m -- zstd -{level} -T{threads} -f data -o /dev/null`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.SetInterspersed(true)
	fl.StringArrayVarP(&f.params, "param", "p", nil,
		"parameter `NAME=SPEC`: 1..19, 0.1..0.9, 1..64:step=4, 1..1024:log, 1M,4M,64M, gzip,zstd, on,off")
	fl.StringArrayVar(&f.defaults, "default", nil,
		"`NAME=VALUE` that the program has now; it is tried first and compared with the best")
	fl.StringArrayVar(&f.where, "where", nil, "relation between parameters, such as 'threads <= 4 || level < 10'")
	fl.StringVar(&f.minimize, "minimize", "",
		"`metric` to minimize (default elapsed), or two or three for a front: elapsed,energy")
	fl.StringVar(&f.maximize, "maximize", "", "`metric` to maximize, or two or three")
	fl.StringArrayVar(&f.subjectTo, "subject-to", nil, "limit on measured metrics, such as 'max_rss <= 2e9'")
	fl.StringArrayVar(&f.metrics, "metric", nil, "`NAME=SOURCE`: "+assay.SourceForms())
	fl.StringVar(&f.on, "on", "",
		"runner: "+listed(setup.Runners())+
			", or the file of a batch system (default local, or table for a recorded one)")
	fl.BoolVar(&f.pin, "pin", true, "keep runs off the tool's own processor where there are 4 or more")
	fl.StringArrayVar(&f.keep, "keep", nil, "`NAME=VALUE` that is never pruned")
	fl.StringVar(&f.study, "study", "", "name of the study (default: the file's name or the program's)")
	fl.StringVar(&f.store, "store", "", "where studies are kept: a `path`, or memory (default in $XDG_STATE_HOME/assay)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the plan, and run nothing")
	fl.BoolVar(&f.json, "json", false, "print the result as one JSON object")
	fl.StringVar(&f.require, "require-gain", "",
		"exit with code 5 if no gain of at least this `percentage` is shown; any gain without a value")
	fl.Lookup("require-gain").NoOptDefVal = "0"
	f.remote.add(cmd)
	fl.BoolVar(&f.detach, "detach", false,
		"do not wait for the study; with a batch system, the jobs go on when this command is ended")
	fl.StringVar(&f.spool, "spool", "",
		"`directory` that the machines of the jobs share (default beside the default store)")
	f.keys.add(cmd, map[string]string{
		"search": "searcher: " + listed(setup.Searchers()) + " (default auto)",
		"stop":   "early stopping: " + listed(setup.Stoppers()) + " (default auto)",
	})
	choices(cmd, "search", setup.Names(setup.Searchers())...)
	choices(cmd, "stop", setup.Names(setup.Stoppers())...)
	choices(cmd, "on", setup.Names(setup.Runners())...)
	choices(cmd, "check", "auto", "none")
	choices(cmd, "repeat", "auto")
	choices(cmd, "prior", "auto", "none")
	group(
		cmd,
		flagGroup{"Parameters", []string{"param", "default", "where"}},
		flagGroup{"Objective", []string{"minimize", "maximize", "subject-to", "metric", "target", "require-gain"}},
		flagGroup{"Budget", []string{"budget", "trials", "gain", "timeout"}},
		flagGroup{"Runs", []string{
			"setup", "prepare", "cleanup", "verify", "warmup", "shell", "on", "parallel", "pin",
		}},
		flagGroup{"Noise", []string{"repeat", "estimator", "check"}},
		flagGroup{"Search", []string{"search", "seed", "stop", "interval", "prior", "alpha", "keep"}},
		flagGroup{"With --on fleet", []string{"server", "token-file", "class", "detach"}},
		flagGroup{"With a batch system", []string{"spool"}},
		flagGroup{"Store and output", []string{"study", "store", "dry-run", "json"}},
	)
	return cmd
}

// run is the command: read, check, tune, and report.
func (f *tuneFlags) run(cmd *cobra.Command, s streams, args []string) error {
	required, args, err := f.required(cmd, args)
	if err != nil {
		return err
	}
	def, err := f.load(cmd, s.err, args)
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.describe(s.out, def)
	}
	if def.Placement.On == setup.Fleet {
		return f.onFleet(cmd, s, def)
	}
	inBatch := setup.InBatch(def.Placement.On)
	for _, flag := range []string{"server", "token-file", "class", "detach"} {
		if cmd.Flags().Changed(flag) && !(flag == "detach" && inBatch) {
			return usagef("--%s is for a study on a server: --on %s", flag, setup.Fleet)
		}
	}
	if cmd.Flags().Changed("spool") && !inBatch {
		return usagef("--spool is for jobs of a batch system: --on %s, or --on FILE of one", setup.Slurm)
	}
	sd, err := f.open(cmd.Context(), s, def, setup.Options{Pin: f.pin, Spool: f.spool})
	if err != nil {
		return err
	}
	defer sd.Close()
	lets := &term.Detachment{Context: cmd.Context(), Stop: func() {}}
	if inBatch {
		lets = term.Detach(cmd.Context(), f.detach, assay.ErrDetached)
	}
	defer lets.Stop()
	res, which, err := conduct(lets.Context, s, sd)
	if errors.Is(err, assay.ErrDetached) {
		return detached(s.err, lets.Came())
	}
	if err != nil {
		return err
	}
	out, err := tell(s, sd.Problem, sd.Name, res, f.json)
	switch {
	case err != nil:
		return err
	case res.EndedBy == "interrupt":
		return interrupted(s.err, which)
	case f.require != "":
		return requireGain(s.err, out, required)
	}
	return nil
}

// required returns the gain that is required, as a share, and the arguments without it: --require-gain 10 is
// --require-gain=10.
func (f *tuneFlags) required(cmd *cobra.Command, args []string) (share float64, rest []string, err error) {
	if f.require == "" {
		return 0, args, nil
	}
	text := f.require
	before := args
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		before = args[:n]
	}
	isNumber := func(s string) bool { return s != "" && strings.Trim(s, "0123456789.%") == "" }
	if i := slices.IndexFunc(before, isNumber); i >= 0 && text == "0" {
		text, args, f.taken = args[i], slices.Concat(args[:i], args[i+1:]), 1
	}
	x, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || x < 0 || x >= 1e6 {
		return 0, nil, usagef("--require-gain %s: write per cent, such as 10", text)
	}
	return x / 100, args, nil
}

// requireGain returns the exit code of a study that has not shown a gain of at least a share.
func requireGain(w io.Writer, out *result.Story, share float64) error {
	a := out.Answer
	if a != nil && a.Shown && a.Least >= share {
		return nil
	}
	gain := "a study with several objectives has none"
	if a != nil {
		gain = a.Gain
	}
	text := "a gain is required"
	if share > 0 {
		text = fmt.Sprintf("a gain of at least %s %% is required", report.Number(100*share, 4))
	}
	fmt.Fprintf(w, "assay: %s: %s\n", text, gain)
	return &exitError{codeUnknown}
}

// tell prints the result of a study; its error means that the study found nothing.
func tell(s streams, p *setup.Problem, name string, res study.Result, asJSON bool) (*result.Story, error) {
	out, err := story(p, name, res)
	switch {
	case err != nil:
		return nil, err
	case asJSON:
		err = writeJSON(s.out, out.Outcome)
	default:
		out.Width = columns(s.out)
		err = out.Write(s.out)
	}
	if err == nil && !res.Found && res.EndedBy != "interrupt" {
		out.WriteFailures(s.err)
		err = &exitError{codeNoResult}
	}
	return out, err
}

// story returns the result of a study.
func story(p *setup.Problem, name string, r study.Result) (*result.Story, error) {
	o, err := result.NewStory(name, p.Definition, p.Space, p.Goal, r, here(p))
	if err == nil && o.Best != nil && o.Command != nil {
		c := r.Best.Config
		o.Best.Command, o.Best.Dir, o.Best.Env = p.Argv(c), p.Definition.Dir, p.Environment(c)
	}
	return o, err
}

// open returns the study of a definition, ready to run.
func (f *tuneFlags) open(ctx context.Context, s streams, def *spec.Study, o setup.Options) (*setup.Study, error) {
	o.Warn = warnings(s.err)
	sd, err := setup.Open(ctx, def, f.store, f.study, o)
	if err != nil {
		return nil, taken(err)
	}
	for _, note := range sd.Notes {
		fmt.Fprintf(s.err, "note: %s\n", report.Visible(note))
	}
	return sd, nil
}

// conduct runs a study until it ends or is interrupted, by the signal that it returns.
func conduct(ctx context.Context, s streams, sd *setup.Study) (study.Result, os.Signal, error) {
	live, status := newLive(s.err, sd.Problem)
	signals := term.Wait(ctx, func() {
		if context.Cause(ctx) == nil {
			live.Draining()
		}
	}, term.Hurries(ctx))
	defer signals.Stop()
	if !term.Detaches(ctx) { // else any signal detaches from running jobs
		sd.Drain = signals.Drain
	}
	sd.Notify = live.Notify
	live.Start(sd.Name, sd.Resumed)
	res, err := sd.Run(signals.Hard)
	live.Close()
	status.Close()
	if errors.Is(err, study.ErrInterrupted) {
		err = nil
	}
	return res, signals.First(), err
}

// describe prints the plan.
func (f *tuneFlags) describe(w io.Writer, def *spec.Study) error {
	p, err := setup.New(def, setup.Options{})
	if err != nil {
		return err
	}
	if f.json {
		return usagef("--dry-run has no result that --json could print")
	}
	return describe(w, p)
}

// load reads the study file, if any, and applies the flags to it.
func (f *tuneFlags) load(cmd *cobra.Command, warn io.Writer, args []string) (*spec.Study, error) {
	dash := cmd.ArgsLenAtDash() - f.taken
	files, command := args, []string(nil)
	if dash >= 0 {
		files, command = args[:dash], args[dash:]
	}
	edit := func(st *spec.Study) error { return f.apply(cmd, st, command) }
	switch {
	case len(files) > 1:
		return nil, usagef("one study file at a time, not %d: %s (a command comes after --)",
			len(files), strings.Join(files, " "))
	case len(files) == 1:
		return loadStudy(warn, files[0], edit)
	case len(command) == 0 && len(f.params) == 0:
		return nil, usagef("what shall be tuned? Give a study file, or parameters and a command:\n" +
			"  assay tune -p level=1..19 -- zstd -{level} -f data\nsee: assay tune --help")
	}
	def := &spec.Study{}
	if err := edit(def); err != nil {
		return nil, err
	}
	said, err := def.Check()
	warnOf(warn, said)
	return def, err
}

// loadStudy reads a study file, and prints warnings about it.
func loadStudy(warn io.Writer, file string, edit func(*spec.Study) error) (*spec.Study, error) {
	def, said, err := spec.Load(file, edit)
	if err == nil {
		warnOf(warn, said)
	}
	return def, err
}

// warnOf prints warnings.
func warnOf(w io.Writer, said []string) {
	for _, text := range said {
		warnings(w)(text)
	}
}

// warnings returns a function that prints a warning.
func warnings(w io.Writer) func(string) {
	return func(text string) { _ = report.Warning(w, text) } // the command goes on
}

// apply puts the flags that were given over st.
func (f *tuneFlags) apply(cmd *cobra.Command, st *spec.Study, command []string) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if len(command) > 0 {
		st.Command, st.Shell = command, false
	}
	if err := f.keys.apply(cmd, st); err != nil {
		return err
	}
	if st.Shell && len(command) > 1 {
		st.Command = []string{strings.Join(command, " ")}
	}
	if err := f.applyParams(st); err != nil {
		return err
	}
	st.Where = append(st.Where, f.where...)
	st.SubjectTo = append(st.SubjectTo, f.subjectTo...)
	for _, text := range f.metrics {
		m, err := spec.MetricSpec(text)
		if err != nil {
			return usageError(err)
		}
		st.Metrics = append(st.Metrics, m)
	}
	switch {
	case given("minimize") && given("maximize"):
		return usagef("--minimize and --maximize exclude each other (in a study file both make a front: objective)")
	case given("minimize") || given("maximize"):
		var err error
		if st.Objective, st.Others, err = spec.ObjectiveFlags(f.minimize, f.maximize); err != nil {
			return err
		}
	}
	if given("on") {
		st.Placement.On = f.on
		if ext := filepath.Ext(f.on); ext == ".yaml" || ext == ".yml" { // the file of a batch system
			path, err := filepath.Abs(f.on)
			if err != nil {
				return err
			}
			st.Placement.On, st.Placement.Batch.System = setup.Batch, path
		} else if f.on == setup.Slurm {
			st.Placement.Batch.System = ""
		} else if f.on != setup.Batch { // the file's settings for a batch system do not apply now
			st.Placement.Batch = spec.Batch{}
		}
	}
	st.Prior.Keep = append(st.Prior.Keep, f.keep...)
	return nil
}

func (f *tuneFlags) applyParams(st *spec.Study) error {
	given := map[string]string{}
	for _, text := range f.params {
		p, err := spec.ParamSpec(text)
		if err != nil {
			return err
		}
		if before, twice := given[p.Name]; twice {
			return usagef("-p %s: parameter %s is given twice, as %s too", text, p.Name, before)
		}
		given[p.Name] = text
		if i := slices.IndexFunc(st.Params, func(q spec.Param) bool { return q.Name == p.Name }); i >= 0 {
			st.Params[i] = p
		} else {
			st.Params = append(st.Params, p)
		}
	}
	for _, text := range f.defaults {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return usagef("--default %q: a default is written NAME=VALUE", text)
		}
		found := false
		for i := range st.Params {
			if st.Params[i].Name == name {
				st.Params[i].Default, found = &value, true
			}
		}
		if !found {
			return usagef("--default %s: no parameter %q", text, name)
		}
	}
	return nil
}

// resumeCommand returns the command that resumes the study.
func resumeCommand(args []string) string {
	return "assay " + report.ShellQuote(args)
}

// commandLine returns this process's arguments for display: addresses of stores without their passwords.
func commandLine() []string { return maskStores(os.Args[1:]) }

// maskStores returns arguments with the passwords in addresses of databases masked.
func maskStores(args []string) []string {
	masked := slices.Clone(args)
	for i, arg := range masked {
		if strings.Contains(arg, "postgres://") || strings.Contains(arg, "postgresql://") {
			masked[i] = store.MaskAddress(arg)
		}
	}
	return masked
}
