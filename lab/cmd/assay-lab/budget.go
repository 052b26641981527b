package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/lab/recorded"
	"github.com/assay-run/assay/setup"
)

type budgetFlags struct {
	method  string
	budgets string
	noise   string
	within  float64
	seeds   int
	first   uint64
	json    bool
	jobs    int
}

func budgetCommand(s streams) *cobra.Command {
	f := &budgetFlags{}
	cmd := &cobra.Command{
		Use:   "budget STUDY.yaml...",
		Short: "how good the answer of a study is in a time that is short for its program",
		Long: `budget replays studies of recorded tables, with noise, in budgets of a few run
times, with the repeated runs of a study of a command. It reports how often the
answer is near the best that the same search finds in the same time if runs do not
differ and none is repeated.`,
		Example: `  assay-lab budget bench/studies/*.yaml --budget-x 5,10,20,50 --noise 2,10,30`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", setup.DefaultSearcher, "how the studies search, by `name`")
	fl.StringVar(&f.budgets, "budget-x", "5,10,20,50", "`times`, in median run times")
	fl.StringVar(&f.noise, "noise", "2,10,30", "standard `deviations` of a run time, in per cent")
	fl.Float64Var(&f.within, "within", 5, "how far above the best is near, in per cent")
	fl.IntVar(&f.seeds, "seeds", 20, "number of seeds, from 1")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first of them")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	jobsFlag(fl, &f.jobs, "studies at once")
	return cmd
}

func (f *budgetFlags) run(cmd *cobra.Command, s streams, files []string) error {
	if f.seeds < 1 || f.jobs < 1 || f.first < 1 || !(f.within > 0) {
		return usagef("--seeds, --first-seed and --jobs are at least 1, --within is above 0")
	}
	methods, err := bench.Methods(f.method)
	if err != nil {
		return err
	}
	if len(methods) > 1 {
		return usagef("--method %s: one method", f.method)
	}
	o := recorded.BudgetOptions{
		Method: methods[0], Within: f.within / 100, Seeds: f.seeds, First: f.first, Workers: f.jobs,
	}
	above := func(x float64) bool { return x > 0 && x <= 1e4 }
	if o.Budgets, err = bench.Numbers("budget-x", f.budgets, "numbers above 0", above); err != nil {
		return err
	}
	if o.Noise, err = bench.Numbers("noise", f.noise, "per cent above 0", above); err != nil {
		return err
	}
	for i := range o.Noise {
		o.Noise[i] /= 100
	}
	if o.Problems, o.Tables, err = bench.Tables(s.warn, "budget", files); err != nil {
		return err
	}
	status := term.StatusOn(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d seeds", done, total)) }
	rep, err := recorded.Budgets(cmd.Context(), o)
	status.Close()
	return printed(err, f.json, s.out, rep, recorded.BudgetReport.Write)
}
