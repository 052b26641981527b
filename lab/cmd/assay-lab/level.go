package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/lab/recorded"
)

type levelFlags struct {
	goodFlags
	budgetX float64
}

func levelCommand(s streams) *cobra.Command {
	f := &levelFlags{}
	cmd := &cobra.Command{
		Use:   "level STUDY.yaml...",
		Short: "the value of cheap levels: the time to a good configuration, with them and without",
		Long: `level replays studies of recorded tables that have level: {parameter, full}, each
with its levels and at the full level alone, with the same time, and reports the
time until a configuration was found that is at most --within above the best of
the table. A search that finds none counts with its whole budget.`,
		Example: `  assay-lab level x264.yaml --within 5% --budget-x 50 --seeds 20`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	f.add(fl)
	fl.Float64Var(&f.budgetX, "budget-x", 50, "time, in median run times at the full level")
	return cmd
}

func (f *levelFlags) run(cmd *cobra.Command, s streams, files []string) error {
	if !(f.budgetX > 0 && f.budgetX <= 1e9) {
		return usagef("--budget-x is above 0")
	}
	method, within, err := f.read()
	if err != nil {
		return err
	}
	o := recorded.LevelOptions{
		Method: method, Within: within, Times: f.budgetX, Seeds: f.seeds, First: f.first, Workers: f.jobs,
	}
	if o.Problems, err = bench.Problems(s.warn, "level", files, nil); err != nil {
		return err
	}
	status := term.StatusOn(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d seeds", done, total)) }
	rep, err := recorded.Levels(cmd.Context(), o)
	status.Close()
	return printed(err, f.json, s.out, rep, recorded.LevelReport.Write)
}
