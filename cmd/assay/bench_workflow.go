package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/lab/pietri"
	"github.com/assay-run/assay/internal/traces"
)

// benchWorkflowCommand returns assay bench workflow.
func benchWorkflowCommand() *cobra.Command {
	var asJSON, table1 bool
	var hold string
	cmd := &cobra.Command{
		Use:   "workflow DIR...",
		Short: "predict recorded executions from each other, and say how far off it is",
		Long: `Each execution in the folders is predicted from its own run times and the
calibration of the others: those of its application and site; if there are none,
those of its application elsewhere and of its site; if there are none either,
with the delay that the paper found. --hold config leaves out the repetitions
of an execution too. Executions on grids are reported apart.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			holds := map[string][]pietri.HoldOut{
				"execution": {pietri.HoldExecution}, "config": {pietri.HoldConfig},
				"both": {pietri.HoldExecution, pietri.HoldConfig},
			}[hold]
			if holds == nil {
				return usagef("--hold %q: want execution, config or both", hold)
			}
			runs, skipped, err := traces.Recorded(args)
			if err != nil {
				return inputError(err)
			}
			var all []*pietri.Report
			for _, h := range holds {
				r, err := pietri.Evaluate(runs, h)
				if err != nil {
					return inputError(err)
				}
				r.Skipped = skipped
				if table1 {
					r.Table1 = pietri.TableOne(runs)
				}
				all = append(all, r)
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
		"what a prediction may not see: the `execution` itself, its config too, or both, one after the other")
	cmd.Flags().BoolVar(&table1, "table1", false,
		"Table I of the paper too, as published and calibrated: the share within 10, 15 and 20 % with random "+
			"errors of 5, 10 and 15 % in the run times")
	return cmd
}
