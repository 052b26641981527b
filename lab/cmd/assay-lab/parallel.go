package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/lab/recorded"
)

type parallelFlags struct {
	goodFlags
	runs   int
	trials int
}

func parallelCommand(s streams) *cobra.Command {
	f := &parallelFlags{}
	cmd := &cobra.Command{
		Use:   "parallel STUDY.yaml...",
		Short: "the cost of runs at once: the runs to a good configuration, several at once and one at a time",
		Long: `parallel replays studies of recorded tables one run at a time, and with --runs at
once, and reports the runs and the time until a configuration was found that is at
most --within above the best of the table. Runs end in the order of their
recorded times, and the next one begins as soon as one ends. A search that finds
none counts with its whole budget. "1 after N" is one run at a time after N proposals
without a result: a part of the cost that several at once cannot avoid.`,
		Example: `  assay-lab parallel x264.yaml dune.yaml --runs 8 --within 5% --trials 200`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	f.add(fl)
	fl.IntVar(&f.runs, "runs", 8, "runs at once")
	fl.IntVar(&f.trials, "trials", 200, "number of trials")
	return cmd
}

func (f *parallelFlags) run(cmd *cobra.Command, s streams, files []string) error {
	if f.runs < 2 || f.trials < 2 {
		return usagef("--runs and --trials are at least 2")
	}
	method, within, err := f.read()
	if err != nil {
		return err
	}
	o := recorded.ParallelOptions{
		Method: method, Within: within, Runs: f.runs, Trials: f.trials, Seeds: f.seeds, First: f.first, Workers: f.jobs,
	}
	if o.Problems, err = bench.Problems(s.warn, "parallel", files, nil); err != nil {
		return err
	}
	status := term.StatusOn(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d seeds", done, total)) }
	rep, err := recorded.Parallel(cmd.Context(), o)
	status.Close()
	return printed(err, f.json, s.out, rep, recorded.ParallelReport.Write)
}
