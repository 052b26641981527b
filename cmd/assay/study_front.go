package main

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
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
			ws, err := readWeights(weights)
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

// readWeights reads NAME=NUMBER,...
func readWeights(text string) (map[string]float64, error) {
	ws := map[string]float64{}
	for item := range bench.Items(text) {
		name, number, ok := strings.Cut(item, "=")
		x, err := strconv.ParseFloat(number, 64)
		if !ok || name == "" || err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return nil, usagef("--weights %s: a weight is written NAME=NUMBER, and is not below 0", item)
		}
		if _, twice := ws[name]; twice {
			return nil, usagef("--weights %s: the weight of %s is given twice", text, name)
		}
		ws[name] = x
	}
	return ws, nil
}
