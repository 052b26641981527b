package main

import (
	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/planning"
	"github.com/assay-run/assay/workflow"
)

// workflowCommand returns assay workflow.
func workflowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "show a workflow, or learn the overhead of a site",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(workflowShowCommand(), workflowCalibrateCommand())
	return cmd
}

func workflowShowCommand() *cobra.Command {
	var svg, levels string
	var slots int
	var fill bool
	cmd := &cobra.Command{
		Use:   "show WORKFLOW",
		Short: "draw the levels of a workflow, and the schedule of a simulation",
		Long: `Show prints the levels of a workflow: how many tasks, how much work, the longest
task. With --svg it draws a simulated schedule on --slots slots into a file.`,
		Example: "  assay workflow show trace.json --slots 8 --svg schedule.svg",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := planning.ParseLevelers(levels)
			if err != nil {
				return err
			}
			if slots < 1 {
				return usagef("--slots %d: at least 1", slots)
			}
			if len(l) != 1 {
				return usagef("--levels %s: one way to count levels at a time", levels)
			}
			w, err := planning.Read(planning.Disk, args[0], cmd.InOrStdin(), workflow.FillOptions{Fill: fill})
			if err != nil {
				return usageError(err)
			}
			if svg != "" {
				s, err := workflow.Simulate(w, slots, workflow.SimOptions{})
				if err != nil {
					return usageError(err)
				}
				if err := writeFile(svg, planning.Gantt(w, s).WriteSVG); err != nil {
					return err
				}
			}
			return planning.WriteLevels(cmd.OutOrStdout(), w, l[0], slots)
		},
	}
	cmd.Flags().StringVar(&svg, "svg", "", "draw the schedule into `FILE`")
	cmd.Flags().StringVar(&levels, "levels", "tda", "how to count levels: `tda`, bua or slack")
	cmd.Flags().IntVar(&slots, "slots", 4, "slots of the schedule")
	cmd.Flags().BoolVar(&fill, "fill", false, "fill missing run times from the median of their kind")
	return cmd
}

func workflowCalibrateCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "calibrate RUN...",
		Short:   "learn the overhead of a site from recorded executions",
		Example: "  assay workflow calibrate runs/ -o site.json\n  assay plan new.json --calibrate site.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := planning.Calibration(planning.Disk, args)
			if err != nil {
				return usageError(err)
			}
			if out == "" {
				return c.Write(cmd.OutOrStdout())
			}
			return writeFile(out, c.Write)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the calibration to `FILE`")
	return cmd
}
