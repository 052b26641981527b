package main

import (
	"github.com/spf13/cobra"
)

// runPlanRuns is assay plan --range and --average: the result of several recorded executions together (Fig. 3 and Fig.
// 4 of Pietri et al.).
func runPlanRuns(cmd *cobra.Command, args []string, f *planFlags) error {
	if !cmd.Flags().Changed("levels") {
		f.Levels = "tda"
	}
	p, err := newPlanner(cmd.InOrStdin(), f)
	if err != nil {
		return err
	}
	if f.ranges && f.average {
		return usagef("--range with --average: one of them")
	}
	r, err := p.Runs(args, f.ranges)
	if err != nil {
		return err
	}
	if f.svg != "" {
		if err := writeFile(f.svg, r.WriteSVG); err != nil {
			return err
		}
	}
	if f.json {
		return r.WriteJSON(cmd.OutOrStdout())
	}
	return r.WriteText(cmd.OutOrStdout())
}
