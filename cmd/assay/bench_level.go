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

type benchLevelFlags struct {
	within  string
	method  string
	budgetX float64
	seeds   int
	first   uint64
	json    bool
	jobs    int
}

func benchLevelCommand(s streams) *cobra.Command {
	f := &benchLevelFlags{}
	cmd := &cobra.Command{
		Use:   "level STUDY.yaml...",
		Short: "what cheap levels are worth: the time to a good configuration, with them and without",
		Long: `level replays studies of recorded tables that have level: {parameter, full}, each
with its levels and at the full level alone, with the same time, and says how long
it took until a configuration was found that is at most --within above the best of
the table. A search that finds none counts with its whole budget.`,
		Example: `  assay bench level x264.yaml --within 5% --budget-x 50 --seeds 20`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.within, "within", "5%", "how far above the best is good enough")
	fl.StringVar(&f.method, "method", setup.DefaultSearcher, "how the studies search, by `name`")
	fl.Float64Var(&f.budgetX, "budget-x", 50, "time, in median run times at the full level")
	fl.IntVar(&f.seeds, "seeds", 20, "number of seeds, from 2")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first of them")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "studies at once")
	return cmd
}

func (f *benchLevelFlags) run(cmd *cobra.Command, s streams, files []string) error {
	number, ok := strings.CutSuffix(f.within, "%")
	within, err := strconv.ParseFloat(number, 64)
	switch {
	case !ok || err != nil || !(within > 0 && within <= 1000):
		return usagef("--within %s: per cent, such as 5%%", f.within)
	case f.seeds < 2 || f.jobs < 1 || f.first < 1 || !(f.budgetX > 0 && f.budgetX <= 1e9):
		return usagef("--seeds is at least 2, --first-seed and --jobs 1, --budget-x above 0")
	}
	methods, err := benchMethods(f.method)
	if err != nil {
		return err
	}
	if len(methods) > 1 {
		return usagef("--method %s: one method", f.method)
	}
	o := bench.LevelOptions{
		Method: methods[0], Within: within / 100, Times: f.budgetX, Seeds: f.seeds, First: f.first, Workers: f.jobs,
	}
	if o.Problems, err = benchProblems(s.err, "bench level", files, nil); err != nil {
		return err
	}
	status := newStatus(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d seeds", done, total)) }
	rep, err := bench.Levels(cmd.Context(), o)
	status.Close()
	return printed(err, f.json, s.out, rep, bench.LevelReport.Write)
}
