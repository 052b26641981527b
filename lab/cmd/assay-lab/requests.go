package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/planning"
	"github.com/assay-run/assay/internal/workflow/request"
	"github.com/assay-run/assay/lab/requests"
	"github.com/assay-run/assay/workflow"
)

// requestsCommand returns assay-lab requests.
func requestsCommand() *cobra.Command {
	var asJSON bool
	var hold, assume string
	failures := request.DefaultFailures
	cmd := &cobra.Command{
		Use:   "requests DIR...",
		Short: "size the tasks of recorded executions from the others, beside the rules of papers",
		Long: `The memory and the time of each task of an execution are requested by rules that
were fitted to the other executions of its application, as assay plan --write
writes them, and by the rules of Witt et al. and of Ponder. Waste is memory
requested and not used, over the time it was held, all of it for attempts that
fail; these are assumed to run their whole time. With --hold config the
repetitions of an execution are left out with it. Executions without the peak
memory of their tasks are passed over.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			byConfig, ok := map[string][]bool{"execution": {false}, "config": {true}, "both": {false, true}}[hold]
			if !ok {
				return usagef("--hold %q: want execution, config or both", hold)
			}
			memory, ok := workflow.ParseBytes(assume)
			if !ok || !(memory > 0) {
				return usagef("--assume %q: want an amount of memory, as 8GB", assume)
			}
			if !(failures > 0 && failures < 1) {
				return usagef("--failures %g: not a share between 0 and 1", failures)
			}
			runs, err := planning.Sized(planning.Disk, args)
			if err != nil {
				return usage(err)
			}
			var all []*requests.Report
			for _, by := range byConfig {
				r, err := requests.Evaluate(runs, requests.Methods(failures), by, request.Constant(memory))
				if err != nil {
					return usage(err)
				}
				all = append(all, r)
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", " ")
				return enc.Encode(all)
			}
			return requests.WriteText(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON on standard output")
	cmd.Flags().StringVar(&hold, "hold", "both",
		"left out of the fit: the `execution` itself, its config too, or both ways")
	cmd.Flags().StringVar(&assume, "assume", "8GB", "`MEMORY` asked for now, where the executions do not record it")
	cmd.Flags().Float64Var(&failures, "failures", failures, "`SHARE` of tasks that may fail")
	return cmd
}
