package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
)

type benchFlags struct {
	methods string
	budgetX string
	budget  string
	trials  string
	seeds   int
	curve   bool
	json    bool
	limits  []string
	jobs    int
	charge  bool
	first   uint64
	race    bool
	check   int
}

func benchCommand(s streams) *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench STUDY.yaml... --methods NAME,... (--budget-x F | --budget D | --trials N)",
		Short: "compare search methods on recorded tables, in simulated time",
		Long: `bench runs every method on every study of a recorded table with every seed, in
simulated time, and reports the mean relative error of the best configuration
found to the table's optimum, with a 95 % interval. A budget may be a list: one
run serves all. --budget-x counts in median run times of the table.

A study of a command repeats the runs of its leaders; a study of a table does not.
--race runs each method both ways, with the same time, judges both
recommendations, and compares them seed by seed.

Methods: ` + names(setup.Methods(), func(m setup.Method) string { return m.Name }),
		Example: `  assay bench bench/studies/*.yaml --methods rs,bayes --trials 50 --seeds 20`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.methods, "methods", "rs,auto", "methods to compare, by `name`")
	fl.StringVar(&f.budgetX, "budget-x", "", "time budgets, in median run times of the table: `20,50`")
	fl.StringVar(&f.budget, "budget", "", "time budgets: `10m,1h`")
	fl.StringVar(&f.trials, "trials", "", "budgets in trials: `50,100`")
	fl.IntVar(&f.seeds, "seeds", 20, "number of seeds, from 1")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first of them")
	fl.BoolVar(&f.race, "race", false,
		"each method with a race as well, as assay tune has it, compared with the same without")
	fl.IntVar(&f.check, "check", 5, "pairs of runs that compare the best with the first, with --race")
	fl.StringArrayVar(&f.limits, "limit", nil,
		"`METRIC@P,...`: each study once for each P, with the metric at most its P-th percentile over the table; + joins "+
			"limits")
	fl.BoolVar(&f.charge, "charge-overhead", false,
		"spend the methods' own time of the time budgets too; results then depend on the machine, best with -j 1")
	fl.BoolVar(&f.curve, "curve", false, "also the error at 10 equal parts of each budget")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	jobsFlag(fl, &f.jobs, "runs at once; the overhead is measured best with 1")
	cmd.AddCommand(benchAnswerCommand(s))
	return cmd
}

func (f *benchFlags) run(cmd *cobra.Command, s streams, files []string) error {
	if f.seeds < 1 || f.jobs < 1 {
		return usagef("--seeds and --jobs are at least 1")
	}
	if f.first < 1 || f.check < 1 {
		return usagef("--first-seed and --check are at least 1")
	}
	o := bench.Options{Seeds: f.seeds, Curve: f.curve, Workers: f.jobs, Charge: f.charge, First: f.first}
	var err error
	if o.Budgets, err = bench.Budgets(f.trials, f.budgetX, f.budget); err != nil {
		return err
	}
	if o.Methods, err = bench.Methods(f.methods); err != nil {
		return err
	}
	if f.charge && f.budget == "" && f.budgetX == "" {
		return usagef("--charge-overhead is about time: --budget-x or --budget")
	}
	if f.race {
		if f.trials != "" || f.curve {
			return usagef("--race compares answers at equal time: --budget-x or --budget, without --curve")
		}
		o.Race = f.check
	}
	if o.Problems, err = bench.Problems(warnings(s.err), "bench", files, f.limits); err != nil {
		return err
	}
	status := term.StatusOn(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d runs", done, total)) }
	rep, err := bench.Run(cmd.Context(), o)
	status.Close()
	return printed(err, f.json, s.out, rep, bench.Report.Write)
}

// printed prints the result of a command as JSON or as text, unless it failed.
func printed[T any](
	err error, asJSON bool, w io.Writer, result T, text func(T, io.Writer, report.Palette) error,
) error {
	if err != nil {
		return err
	}
	return report.Print(w, asJSON, palette(w), result, text)
}

// printedRows prints the results of a command as lines of JSON or as text, unless it failed.
func printedRows[T any](
	err error, asJSON bool, w io.Writer, rows []T, text func([]T, io.Writer, report.Palette) error,
) error {
	if err != nil {
		return err
	}
	return report.PrintRows(w, asJSON, palette(w), rows, text)
}

// writeJSON writes v as one line of JSON.
func writeJSON(w io.Writer, v any) error { return report.WriteJSON(w, v) }

// jobsFlag declares the number of jobs at once. The default is the number of processors; its help does not depend on
// the machine.
func jobsFlag(fl *pflag.FlagSet, to *int, usage string) {
	fl.IntVarP(to, "jobs", "j", runtime.NumCPU(), usage)
	fl.Lookup("jobs").DefValue = "one for each processor"
}
