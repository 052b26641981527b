package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// noiseFlags are the flags of `assay study noise`.
type noiseFlags struct {
	abtest.Options
	json bool
}

func noiseCommand(s streams, sf *studyFlags) *cobra.Command {
	f := &noiseFlags{}
	cmd := &cobra.Command{
		Use:   "noise STUDY|-",
		Short: "measure the noise of the runs, and recommend repeats and an estimator",
		Long: `noise looks at repeated runs of one configuration: how heavy the tail of their
distribution is, and how many runs of which estimator put two configurations in
order. With - it reads run times of one configuration from standard input, one
number a line. With several numbers a line, the run times of several processors
(ranks) at one time, it also reports how alike their noise is, and how good the
minimum of simultaneous runs is.

A straight tail in the plot is a heavy one; its slope is the tail index. Below 2
the variance is infinite and averages do not settle, below 1 neither does the mean.`,
		Example: `  assay study noise zstd
  for i in $(seq 100); do /usr/bin/time -f %e ./program; done 2>&1 | assay study noise -`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: sf.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(f.Difference > 0 && f.Difference < 1) || !(f.Error > 0 && f.Error < 1) {
				return usagef("--difference and --error are between 0 and 1")
			}
			if args[0] == "-" {
				columns, err := abtest.ReadColumns(standardInput, s.in)
				if err != nil {
					return err
				}
				n, err := abtest.NoiseOfColumns(columns, f.Options)
				if err != nil {
					return usageError(fmt.Errorf("%s: %w", standardInput, err))
				}
				return f.print(s.out, n)
			}
			return sf.with(cmd.Context(), args, func(ctx context.Context, h *setup.Store, args []string) error {
				n, err := studyNoise(ctx, h, args[0], f.Options)
				if err != nil {
					return err
				}
				return f.print(s.out, n)
			})
		},
	}
	cmd.Flags().Float64Var(&f.Difference, "difference", 0.05,
		"least relative `difference` between configurations that matters")
	cmd.Flags().Float64Var(&f.Error, "error", 0.05, "`probability` of being farther off than that")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// studyNoise returns the noise of the repeated runs of a study.
func studyNoise(ctx context.Context, h *setup.Store, name string, o abtest.Options) (*abtest.NoiseReport, error) {
	r, err := result.Read(ctx, h, name)
	if err != nil {
		return nil, err
	}
	samples, err := abtest.Samples(r.Runs(ctx), r.Params.Text)
	if err != nil {
		return nil, err
	}
	o.Maximize = r.Goal.Maximize
	n, err := abtest.NoiseOf(samples, r.Goal.Unit, o)
	if errors.Is(err, assay.ErrTooFew) {
		return nil, usagef("study %q has no configuration with 3 runs or more: repeat them (assay tune --repeat 5)", name)
	}
	if n != nil {
		n.Study = name
	}
	return n, err
}

// standardInput is the name of the standard input in messages.
const standardInput = "standard input"

func (f *noiseFlags) print(w io.Writer, n *abtest.NoiseReport) error {
	if f.json {
		return writeJSON(w, n)
	}
	return n.Write(w, f.Difference)
}
