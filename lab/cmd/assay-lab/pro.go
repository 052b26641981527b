package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/lab/pro"
)

type proFlags struct {
	pro.Options // set by flags directly
	experiment  string
	rho         string
	repeat      string
	noise       []string
	jobs        int
	json        bool
}

func proCommand(s streams) *cobra.Command {
	f := &proFlags{}
	cmd := &cobra.Command{
		Use:   "pro STUDY.yaml",
		Short: "the experiments of Tabatabaee et al. 2005: on-line tuning by parallel rank ordering in noise",
		Long: `pro simulates a parallel program that tunes itself for some time steps by parallel
rank ordering, on the recorded table of a study, and reports its total time:
every time step takes as long as its slowest processor. A point that was not
recorded has the weighted mean of its nearest neighbours.

  simplex   shape and size of the initial simplex without noise (Fig. 9); "grow" is
            2N vertices, the better of a pair moves out as long as that helps (§3.2.3)
  repeat    runs of each point, in successive time steps, for loads ρ of the machine
            with Pareto noise (Fig. 10), or with recorded noise (--noise)

Recorded noise has the load that it was recorded with, or with --rho is scaled, its
excess over the fastest run, to every load. "--noise table" is the noise of the
table itself, if it has several runs of each configuration.

Total times are normalized, (1 - ρ)·ΣT_k, and given as multiples of the time of all
steps at the optimum without noise. "auto" takes as many runs as the order needs.`,
		Example: `  assay-lab pro bench/studies/spl-dune.yaml
  assay-lab pro bench/studies/spl-dune.yaml --experiment repeat --noise run-times.txt`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Scale = cmd.Flags().Changed("rho")
			return f.run(cmd.Context(), s, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.experiment, "experiment", "simplex,repeat", "which: simplex, repeat")
	fl.IntVar(&f.Simulations, "simulations", 2000, "simulated programs for each cell")
	fl.IntVar(&f.Steps, "steps", 100, "time steps of a program")
	fl.IntVar(&f.Processors, "processors", 0, "processors of the program (default 2N, one for each vertex)")
	fl.Float64Var(&f.Alpha, "alpha", 1.7, "tail index of the Pareto noise")
	fl.StringVar(&f.rho, "rho", "0,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4", "loads of the machine, ρ")
	fl.StringVar(&f.repeat, "repeat", "1,2,3,4,5,auto", "runs of each point, K")
	fl.Float64Var(&f.Size, "size", 0.2, "size r of the initial simplex in the experiment repeat")
	fl.StringArrayVar(&f.noise, "noise", nil,
		"`FILE` of recorded run times of one configuration, a number a line, or table, "+
			"in place of Pareto noise; may be repeated")
	fl.Float64Var(&f.Correlated, "correlated", 0,
		"correlation of the processors' Pareto noise in one time step (of the normal scores)")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of the simulations")
	jobsFlag(fl, &f.jobs, "simulations at once")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *proFlags) run(ctx context.Context, s streams, file string) error {
	p, err := bench.Source{File: file, For: "pro", Warn: s.warn}.Table()
	if err != nil {
		return err
	}
	if p.Goal.Maximize {
		return usagef("%s: pro minimizes a time", file)
	}
	if err := f.read(); err != nil {
		return err
	}
	e, err := pro.New(p.Table, p.Goal, f.Options)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", file, err))
	}
	status := term.StatusOn(s.err)
	defer status.Close()
	cells, err := e.Run(ctx, f.jobs, func(done, total int) { status.Set(fmt.Sprintf("%d of %d cells", done, total)) })
	status.Close()
	return printed(err, f.json, s.out, cells, pro.Write)
}

// read fills the options from the flags that are lists.
func (f *proFlags) read() (err error) {
	if f.Simulations < 1 || f.Steps < 1 || f.jobs < 1 || f.Processors < 0 || !(f.Alpha > 1) ||
		!(f.Size > 0 && f.Size <= 1) || !(f.Correlated >= 0 && f.Correlated <= 1) {
		return usagef("--simulations, --steps and --jobs are at least 1, --alpha is above 1, --size in (0, 1], " +
			"--correlated in [0, 1]")
	}
	f.Experiments = slices.Collect(bench.Items(f.experiment))
	f.Loads, err = bench.Numbers("rho", f.rho, "a load from 0 to below 1", func(x float64) bool { return x >= 0 && x < 1 })
	if err != nil {
		return err
	}
	for text := range bench.Items(f.repeat) {
		n, err := strconv.Atoi(text)
		if text != "auto" && (err != nil || n < 1) {
			return usagef("--repeat %s: neither a number of runs from 1 nor auto", text)
		}
		f.Repeat = append(f.Repeat, n)
	}
	for _, name := range f.noise {
		n := pro.Noise{Name: name}
		if name != "table" {
			r, err := os.Open(name)
			if err != nil {
				return usage(err)
			}
			columns, err := abtest.ReadColumns(name, r)
			r.Close()
			if err != nil {
				return err
			}
			if len(columns) > 1 {
				return usagef("%s: %d numbers a line, want one", name, len(columns))
			}
			n.Times = columns[0]
		}
		f.Noise = append(f.Noise, n)
	}
	return nil
}
