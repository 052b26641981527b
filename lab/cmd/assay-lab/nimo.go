package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
	lab "github.com/assay-run/assay/lab/nimo"
)

type nimoFlags struct {
	lab.Options
	experiment string
	data       string
	tables     string
	machines   bool
	json       bool
}

func nimoCommand(s streams) *cobra.Command {
	f := &nimoFlags{}
	cmd := &cobra.Command{
		Use:   "nimo [--experiment LIST] [--data DIR]",
		Short: "the experiments of Shivam, Babu and Chase 2006: learning cost models actively",
		Long: `nimo learns cost models of programs and reports their error (MAPE) on assignments
that are not learned from, against the time that the runs have taken.

On a simulated workbench of 150 assignments, with 30 as external test set that
have at least two attributes between their ends (--random-set: 30 of all at random), ` +
			`the alternatives of Table 1 one at a time:

  reference    min, max, rand (Fig. 4)
  predictors   round-robin, improvement-based, dynamic (Fig. 5)
  attributes   by relevance, by a wrong static order (Fig. 6)
  samples      Lmax-I1, L2-I2, Lmax-Imax, Lmax-I2 (Fig. 7)
  error        cross-validation, random set, designed set (Fig. 8)
  regression   auto with several kinds of predictor functions
  table2       the four programs, until the estimated error is below 10 %: auto, the
               paper's defaults, and all at once (Table 2)

With --data, on recorded tables in DIR (c3o, scout-aws, lotaru, perfevo-brotli):
auto against random sampling with the same regression at equal time spent. With
--machines too, tasks of lotaru learned on one machine are predicted for another, by
the profiles of both.`,
		Example: `  assay-lab nimo
  assay-lab nimo --experiment table2 --seeds 20`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	fl := cmd.Flags()
	const all = "reference,predictors,attributes,samples,error,regression,table2"
	fl.StringVar(&f.experiment, "experiment", all, "which")
	fl.StringVar(&f.data, "data", "", "recorded tables in `DIR`, in place of the simulated workbench")
	fl.StringVar(&f.tables, "tables", "c3o,scout-aws,lotaru,perfevo-brotli", "which of the recorded tables")
	fl.BoolVar(&f.machines, "machines", false, "with --data: from one recorded machine to another")
	fl.IntVar(&f.Seeds, "seeds", 10, "repetitions, each with noise and a test set of its own")
	fl.Uint64Var(&f.Seed, "seed", 1, "first seed")
	jobsFlag(fl, &f.Pool.Workers, "repetitions at once")
	fl.BoolVar(&f.Random, "random-set", false, "draw the external test set from all assignments")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *nimoFlags) run(ctx context.Context, s streams) error {
	if f.Seeds < 1 || f.Pool.Workers < 1 {
		return usagef("--seeds and --jobs are at least 1")
	}
	status := term.StatusOn(s.err)
	defer status.Close()
	if f.machines {
		if f.data == "" {
			return usagef("--machines needs --data: the recorded runs")
		}
		status.Set("machines")
		cells, err := lab.Machines(ctx, f.data, f.Options)
		status.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return usage(err)
		}
		return printed(err, f.json, s.out, cells, lab.WriteMachines)
	}
	if f.data != "" {
		tables, err := lab.Open(f.data, slices.Collect(bench.Items(f.tables)))
		if err != nil {
			return usage(err)
		}
		f.Pool.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d searches", done, total)) }
		cells, err := lab.Compare(ctx, tables, f.Options)
		status.Close()
		return printed(err, f.json, s.out, cells, lab.WriteData)
	}
	entries, err := lab.Experiments(slices.Collect(bench.Items(f.experiment)))
	if err != nil {
		return usage(err)
	}
	var cells []lab.Cell
	for _, e := range entries {
		status.Set(fmt.Sprintf("%s: %s, %s", e.Experiment, e.Program(), e.Method))
		c, err := e.Measure(ctx, f.Options)
		if err != nil {
			return err
		}
		cells = append(cells, c)
	}
	status.Close()
	return printed(nil, f.json, s.out, cells, lab.Write)
}
