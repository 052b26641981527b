package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/lab/jobpruner"
	"github.com/assay-run/assay/setup"
)

type jobprunerFlags struct {
	jobpruner.Options // set by flags directly
	environment       string
	alpha             string
	kb                string
	reuse             string
	budget            string
	methods           string
	rule              string
	surrogate         string
	pairs             int
	unlike            int
	trials            string
	json              bool
}

func jobprunerCommand(s streams) *cobra.Command {
	f := &jobprunerFlags{}
	cmd := &cobra.Command{
		Use:   "jobpruner STUDY.yaml...",
		Short: "the experiments of Silva et al. 2018: earlier studies of other environments as a knowledge base",
		Long: `jobpruner searches each environment of a recorded table while the other
environments are the earlier studies, and reports how far the best configuration
found is from the optimum, and how much of the space was pruned.

  pruning aggressiveness (Table I, Fig. 5 to 8)   --alpha, with the whole knowledge base
  size of the knowledge base (Table II, Fig. 9 to 12)   --kb, with the automatic alpha
  uses of the knowledge base   --use: first (the best of the most similar study, after
            5 trials), prior (as tune --prior: transfer and pruning), transfer
  the algorithm as printed   --rule published: a value goes for one bad trial, nothing
            is exempt, nothing comes back; --surrogate selects the model that
            compares both studies, knn (the paper's), linear, cubic or spline

  how alike they have to be   --pairs N: each environment with one other as the only
            earlier study, up to N pairs of each range of rank correlation, looked at
            after --trials runs, with the first of --methods and of --use;
            --unlike M: one from 0.8 and M below 0.2 together, against the one alone

The environments are identified by the columns in the study's replay.where, or by
--environment. Budgets are in per cent of the configurations. Intervals are 95 %
bootstrap intervals of the mean over repetitions of the mean over environments.`,
		Example: `  assay-lab jobpruner bench/studies/inputs-gcc.yaml bench/studies/gpu-convolution-a100.yaml`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.environment, "environment", "",
		"columns that identify the environment (default: the columns of replay.where)")
	fl.StringVar(&f.alpha, "alpha", "0,0.6,0.9,0.99,auto", "aggressiveness of the pruning; 0 for none")
	fl.StringVar(&f.kb, "kb", "0,5,10,15,all", "sizes of the knowledge base, drawn at random")
	fl.StringVar(&f.rule, "rule", "guarded", "how values are left out: guarded, published, or both with a comma")
	fl.StringVar(&f.surrogate, "surrogate", "",
		"model that compares both studies: knn, linear, cubic, spline (default: depends on the rule)")
	fl.StringVar(&f.reuse, "use", "first,prior", "other uses of the knowledge base: first, prior, transfer; or none")
	fl.StringVar(&f.budget, "budget", "2,5,10", "trials, in % of the configurations")
	fl.StringVar(&f.methods, "methods", "pso,sa", "searchers")
	fl.IntVar(&f.Repetitions, "repetitions", 200, "repetitions for each environment")
	fl.IntVar(&f.Subjects, "subjects", 20, "environments that are searched; all of them are known to the others")
	fl.IntVar(&f.MaxTrials, "max-trials", 500, "limit of a budget")
	fl.Float64Var(&f.Threshold, "threshold", 0, "least correlation of a study that prunes (default 0.5)")
	fl.IntVar(&f.pairs, "pairs", 0,
		"pairs of environments for each range of rank correlation; 0 for the experiments of the paper")
	fl.IntVar(&f.unlike, "unlike", 0, "earlier studies below 0.2 beside one from 0.8, with --pairs")
	fl.StringVar(&f.trials, "trials", "3,7,20,40", "runs after which the best is looked at, with --pairs")
	fl.Uint64Var(&f.Seed, "seed", 1, "first seed of the repetitions")
	jobsFlag(fl, &f.Pool.Workers, "environments at once")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *jobprunerFlags) run(ctx context.Context, s streams, files []string) error {
	if f.Repetitions < 2 || f.Pool.Workers < 1 || f.Subjects < 1 || f.MaxTrials < 1 ||
		!(f.Threshold >= 0 && f.Threshold < 1) {
		return usagef("--repetitions is at least 2, --jobs, --subjects and --max-trials at least 1, " +
			"--threshold in [0, 1)")
	}
	if err := f.read(); err != nil {
		return err
	}
	pairing, err := f.pairing()
	if err != nil {
		return err
	}
	var rep jobpruner.Report
	var pairs []jobpruner.Pair
	status := term.StatusOn(s.err)
	defer status.Close()
	for _, file := range files {
		d, err := f.open(file)
		if err != nil {
			return err
		}
		f.Pool.Progress = func(done, total int) {
			status.Set(fmt.Sprintf("%s: %d of %d environments", d.Name, done, total))
		}
		pairing.Pool = f.Pool
		if f.pairs > 0 {
			some, err := d.Pairs(ctx, pairing)
			if err != nil {
				return err
			}
			pairs = append(pairs, some...)
			continue
		}
		rows, err := d.Run(ctx, f.Options)
		if err != nil {
			return err
		}
		rep.DataSets, rep.Rows = append(rep.DataSets, d.Set()), append(rep.Rows, rows...)
	}
	status.Close()
	if f.unlike > 0 && len(pairs) == 0 {
		return usagef("no environment has another one from 0.8 and %d below 0.2", f.unlike)
	}
	if f.pairs > 0 {
		return printed(nil, f.json, s.out, jobpruner.NewPairReport(pairs, pairing.Trials), jobpruner.PairReport.Write)
	}
	return printed(nil, f.json, s.out, rep, jobpruner.Report.Write)
}

// read fills the options from the flags that are lists.
func (f *jobprunerFlags) read() (err error) {
	c := jobpruner.Choices{
		Methods: slices.Collect(bench.Items(f.methods)), Alpha: slices.Collect(bench.Items(f.alpha)),
		KB: slices.Collect(bench.Items(f.kb)), Use: slices.Collect(bench.Items(f.reuse)),
		Rules: slices.Collect(bench.Items(f.rule)), Surrogates: slices.Collect(bench.Items(f.surrogate)),
	}
	if len(c.Methods) == 0 {
		return usagef("no method is given: --methods pso,sa")
	}
	f.Searcher = setup.NewSearcher
	if f.Variants, err = c.Variants(); err != nil {
		return usagef("--%w", err)
	}
	f.Budgets, err = bench.Numbers("budget", f.budget, "a percentage", func(x float64) bool { return x > 0 && x <= 100 })
	if err == nil && len(f.Budgets) == 0 {
		err = usagef("--budget: at least one percentage")
	}
	return err
}

// pairing returns the options of --pairs.
func (f *jobprunerFlags) pairing() (o jobpruner.PairOptions, err error) {
	o = jobpruner.PairOptions{
		Method: f.Variants[0].Method, Repetitions: f.Repetitions, Pairs: f.pairs, Unlike: f.unlike, Seed: f.Seed,
		Searcher: f.Searcher,
	}
	for use := range bench.Items(f.reuse) {
		if use == "prior" || use == "transfer" || use == "first" {
			o.Use = cmp.Or(o.Use, use)
		}
	}
	if f.pairs < 0 || f.pairs > 0 && o.Use == "" {
		return o, usagef("--pairs is at least 0, and needs --use first, prior or transfer")
	}
	if f.unlike < 0 || f.unlike > 0 && f.pairs == 0 {
		return o, usagef("--unlike is at least 0, and needs --pairs")
	}
	ns, err := bench.Numbers("trials", f.trials, "a number of runs",
		func(x float64) bool { return x >= 1 && x == float64(int(x)) })
	for _, n := range ns {
		o.Trials = append(o.Trials, int(n))
	}
	if err == nil && len(ns) == 0 {
		err = usagef("--trials: at least one number of runs")
	}
	return o, err
}

// open reads the table of a study, all environments at once.
func (f *jobprunerFlags) open(file string) (*jobpruner.DataSet, error) {
	st, err := bench.Source{File: file, For: "jobpruner"}.Study()
	if err != nil {
		return nil, err
	}
	if len(st.Where) > 0 {
		return nil, usagef("%s: jobpruner takes whole tables, without where", file)
	}
	goal, err := st.Goal()
	if err != nil {
		return nil, err
	}
	src := jobpruner.Source{
		Name: cmp.Or(st.Name, file), Spec: table.Spec(*st.Replay), Goal: goal,
		Environment: slices.Collect(bench.Items(f.environment)),
	}
	if len(src.Environment)+len(src.Spec.Where) == 0 {
		return nil, usagef("%s: which columns identify the environment? Give --environment COLUMN,...", file)
	}
	for _, p := range st.Params {
		src.Params = append(src.Params, p.Param())
	}
	d, err := jobpruner.Open(src)
	if _, ok := errors.AsType[*table.Error](err); ok { // it names its file
		return nil, usage(err)
	}
	if err != nil {
		return nil, usagef("%s: %w", file, err)
	}
	return d, nil
}
