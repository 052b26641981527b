package main

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/planning"
	"github.com/assay-run/assay/lab/pietri"
)

// workflowCommand returns assay-lab workflow.
func workflowCommand() *cobra.Command {
	var asJSON, table1 bool
	var hold string
	var known []int
	cmd := &cobra.Command{
		Use:   "workflow DIR...",
		Short: "predict recorded executions from each other, and report the error",
		Long: `Each execution in the folders is predicted from its own run times and the
calibration of the others: the executions of its application and site; without
any, the executions of its application elsewhere and of its site; without these
too, with the delay that the paper found. --hold config leaves out the repetitions
of an execution too, --hold app its whole application. Executions on grids are
reported apart. With --known 1,2 executions are predicted from one and from two
configurations of their application and site alone, drawn at random.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			holds := map[string][]pietri.HoldOut{
				"execution": {pietri.HoldExecution}, "config": {pietri.HoldConfig},
				"app": {pietri.HoldApp}, "both": {pietri.HoldExecution, pietri.HoldConfig},
			}[hold]
			if holds == nil {
				return usagef("--hold %q: want execution, config, app or both", hold)
			}
			if slices.ContainsFunc(known, func(n int) bool { return n < 1 }) {
				return usagef("--known %d: at least 1", slices.Min(known))
			}
			runs, skipped, err := planning.Recorded(planning.Disk, args)
			if err != nil {
				return usage(err)
			}
			var all []*pietri.Report
			add := func(r *pietri.Report, err error) error {
				if err != nil {
					return usage(err)
				}
				r.Skipped = skipped
				if table1 {
					r.Table1 = pietri.TableOne(runs)
				}
				all = append(all, r)
				return nil
			}
			for _, n := range known {
				if err := add(pietri.EvaluateKnown(runs, n)); err != nil {
					return err
				}
			}
			if len(known) > 0 && !cmd.Flags().Changed("hold") {
				holds = nil
			}
			for _, h := range holds {
				if err := add(pietri.Evaluate(runs, h)); err != nil {
					return err
				}
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", " ")
				if len(all) == 1 {
					return enc.Encode(all[0])
				}
				return enc.Encode(all)
			}
			return pietri.WriteText(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	cmd.Flags().StringVar(&hold, "hold", "both",
		"left out of the calibration: the `execution` itself, its config too, its whole app, "+
			"or both of the first")
	cmd.Flags().IntSliceVar(&known, "known", nil,
		"from `N` configurations of the application and site alone, instead of --hold, or before it if that is given")
	cmd.Flags().BoolVar(&table1, "table1", false,
		"Table I of the paper too, as published and calibrated: the share within 10, 15 and 20 % with random "+
			"errors of 5, 10 and 15 % in the run times")
	return cmd
}
