package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/lab/pietri"
	"github.com/assay-run/assay/internal/report"
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
of an execution too, --hold app its whole application. Executions on grids are reported apart.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			holds := map[string][]pietri.HoldOut{"execution": {pietri.HoldExecution}, "config": {pietri.HoldConfig},
				"app": {pietri.HoldApp}, "both": {pietri.HoldExecution, pietri.HoldConfig}}[hold]
			if holds == nil {
				return usagef("--hold %q: want execution, config, app or both", hold)
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
			return writeBenchText(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	cmd.Flags().StringVar(&hold, "hold", "both",
		"what a prediction may not see: the `execution` itself, its config too, its whole app, "+
			"or both of the first")
	cmd.Flags().BoolVar(&table1, "table1", false,
		"Table I of the paper too, as published and calibrated: the share within 10, 15 and 20 % with random "+
			"errors of 5, 10 and 15 % in the run times")
	return cmd
}

func writeBenchText(out io.Writer, all []*pietri.Report) error {
	var b strings.Builder
	for i, r := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "leave-one-%s-out, %d executions (Alg. 1 with all cores and 25 s a level beside)\n", r.Hold,
			len(r.Runs))
		t := report.NewTable(report.Palette{}, "application", ">runs", ">median", ">75 %", ">90 %", ">max",
			">in 10 %", ">in 20 %", ">in interval", ">Alg. 1 median", ">in 20 %")
		rows := append(slices.Clone(r.Apps), r.All)
		if r.Grids != nil {
			rows = append(rows, *r.Grids)
		}
		for _, x := range rows {
			p := func(v float64) string {
				if math.IsNaN(v) {
					return ""
				}
				return fmt.Sprintf("%.1f %%", 100*v)
			}
			t.Add(x.App, fmt.Sprint(x.Executions), p(x.Median), p(x.P75), p(x.P90), p(x.Max), p(x.Within10),
				p(x.Within20), p(x.Covered), p(x.PaperMed), p(x.PaperIn20))
		}
		if err := t.Write(&b); err != nil {
			return err
		}
		if len(r.Table1) == 0 || i < len(all)-1 {
			continue
		}
		b.WriteString("\nTable I: share of predictions within 10, 15 and 20 %; published: Alg. 1 with all cores and 25 s a " +
			"level; calibrated: from all executions of the application and site\n")
		t = report.NewTable(report.Palette{}, "application", "model", "levels", ">run time error", ">in 10 %", ">in 15 %",
			">in 20 %")
		for _, e := range r.Table1 {
			t.Add(e.App, e.Model, e.Method, fmt.Sprintf("±%.0f %%", 100*e.Error), fmt.Sprintf("%.1f", 100*e.In10),
				fmt.Sprintf("%.1f", 100*e.In15), fmt.Sprintf("%.1f", 100*e.In20))
		}
		if err := t.Write(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
