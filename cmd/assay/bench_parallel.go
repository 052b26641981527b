package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/setup"
)

type benchParallelFlags struct {
	within string
	method string
	runs   int
	trials int
	seeds  int
	first  uint64
	json   bool
	jobs   int
}

func benchParallelCommand(s streams) *cobra.Command {
	f := &benchParallelFlags{}
	cmd := &cobra.Command{
		Use:   "parallel STUDY.yaml...",
		Short: "what runs at once cost: the runs to a good configuration, several at once and one at a time",
		Long: `parallel replays studies of recorded tables one run at a time, and with --runs at
once, and says how many runs it took until a configuration was found that is at most
--within above the best of the table, and how long. Runs end in the order of their
recorded times, and the next one begins as soon as one ends. A search that finds
none counts with its whole budget.`,
		Example: `  assay bench parallel x264.yaml dune.yaml --runs 8 --within 5% --trials 200`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.within, "within", "5%", "how far above the best is good enough")
	fl.StringVar(&f.method, "method", setup.DefaultSearcher, "how the studies search, by `name`")
	fl.IntVar(&f.runs, "runs", 8, "runs at once")
	fl.IntVar(&f.trials, "trials", 200, "number of trials")
	fl.IntVar(&f.seeds, "seeds", 20, "number of seeds, from 2")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first of them")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "studies at once")
	return cmd
}

func (f *benchParallelFlags) run(cmd *cobra.Command, s streams, files []string) error {
	number, ok := strings.CutSuffix(f.within, "%")
	within, err := strconv.ParseFloat(number, 64)
	switch {
	case !ok || err != nil || !(within > 0 && within <= 1000):
		return usagef("--within %s: per cent, such as 5%%", f.within)
	case f.seeds < 2 || f.jobs < 1 || f.first < 1 || f.runs < 2 || f.trials < 2:
		return usagef("--seeds, --runs and --trials are at least 2, --first-seed and --jobs 1")
	}
	methods, err := benchMethods(f.method)
	if err != nil {
		return err
	}
	if len(methods) > 1 {
		return usagef("--method %s: one method", f.method)
	}
	o := bench.ParallelOptions{
		Method: methods[0], Within: within / 100, Runs: f.runs, Trials: f.trials, Seeds: f.seeds, First: f.first, Workers: f.jobs,
	}
	if o.Problems, err = benchProblems(s.err, "bench parallel", files, nil); err != nil {
		return err
	}
	status := newStatus(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d seeds", done, total)) }
	rep, err := bench.Parallel(cmd.Context(), o)
	status.Close()
	return printed(err, f.json, s.out, rep, bench.ParallelReport.Write)
}
