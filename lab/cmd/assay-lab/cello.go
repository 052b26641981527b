package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
	lab "github.com/assay-run/assay/lab/cello"
)

type celloFlags struct {
	lab.Options
	experiment string
	methods    string
	limits     []string
	json       bool
}

func celloCommand(s streams) *cobra.Command {
	f := &celloFlags{}
	cmd := &cobra.Command{
		Use:   "cello STUDY.yaml...",
		Short: "the experiments of Ding et al. 2022 on predictions and overhead",
		Long: `cello repeats figures of Cello's evaluation on the recorded tables of studies, in
simulated time. assay bench itself, with --limit, reports its errors and numbers of samples
(Fig. 4 to 7, Table 3).

  error     mean squared error of a stopping rule's prediction of the final value of a
            running trial, at each interval, each method on the trials that it selects (Fig. 8)
  same      the same of regressions that are fitted to the same 30 trials and asked
            about the same 40 runs, when 1/10, ..., 9/10 of each has passed
  overhead  real time of a method for each trial: searching, and deciding about stops
            (Fig. 9 and 10); best with -j 1 on a quiet machine`,
		Example: `  assay-lab cello bench/studies/spl-dune.yaml
  assay-lab cello power.yaml --experiment error --limit power@10,50,90`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.experiment, "experiment", "error,same,overhead", "which: error, same, overhead")
	fl.StringVar(&f.methods, "methods", "rs,bo,bo-st,bo-tc,bo-im,bo-nn,bo-gb,bliss,cello-paper,cello",
		"methods of the experiments error and overhead")
	fl.Float64Var(&f.BudgetX, "budget-x", 20, "time of a search, in median run times of the table")
	fl.IntVar(&f.Seeds, "seeds", 10, "number of seeds, from 1")
	fl.StringArrayVar(&f.limits, "limit", nil,
		"`METRIC@P,...`: each study once for each P, with the metric at most its P-th percentile over the table")
	jobsFlag(fl, &f.Pool.Workers, "searches at once; the overhead is measured best with 1")
	fl.BoolVar(&f.json, "json", false, "print one JSON list")
	return cmd
}

func (f *celloFlags) run(ctx context.Context, s streams, files []string) (err error) {
	if f.Seeds < 1 || f.Pool.Workers < 1 || !(f.BudgetX > 0 && f.BudgetX <= 1e9) {
		return usagef("--seeds and --jobs are at least 1, --budget-x is a positive number")
	}
	f.Experiments = slices.Collect(bench.Items(f.experiment))
	if f.Methods, err = bench.Methods(f.methods); err != nil {
		return err
	}
	if f.Problems, err = bench.Problems(s.warn, "cello", files, f.limits); err != nil {
		return err
	}
	status := term.StatusOn(s.err)
	defer status.Close()
	f.Pool.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d searches", done, total)) }
	rows, err := lab.Run(ctx, f.Options)
	status.Close()
	return printed(err, f.json, s.out, rows, lab.Write)
}
