package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// frontCommand adds the command that shows the result of a study with several objectives.
func frontCommand(s streams, f *studyFlags, add func(
	use, short string, args cobra.PositionalArgs, do func(context.Context, *setup.Store, []string) error,
) *cobra.Command,
) *cobra.Command {
	weights := ""
	c := add("front STUDY", "the Pareto front of a study with several objectives", cobra.ExactArgs(1),
		func(ctx context.Context, h *setup.Store, args []string) error {
			ws, err := result.ParseWeights(weights)
			if err != nil {
				return err
			}
			r, err := result.Read(ctx, h, args[0])
			if err != nil {
				return err
			}
			front, err := r.Front(ctx, ws)
			if err != nil {
				return err
			}
			if f.json {
				return writeJSON(s.out, front)
			}
			return front.Write(s.out, columns(s.out), palette(s.out), r.Params)
		})
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	c.Flags().StringVar(&weights, "weights", "",
		"how much each objective counts for the balanced trial: `elapsed=2,energy=1` (default 1 each)")
	return c
}
