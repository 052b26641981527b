package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/traces"
	"github.com/assay-run/assay/workflow"
)

// workflowCommand returns assay workflow.
func workflowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "show a workflow, or learn what a site adds to its run times",
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
			l, err := parseLevelers(levels)
			if err != nil {
				return err
			}
			if slots < 1 {
				return usagef("--slots %d: at least 1", slots)
			}
			if len(l) != 1 {
				return usagef("--levels %s: one way to count levels at a time", levels)
			}
			w, err := traces.Read(args[0], cmd.InOrStdin(), workflow.FillOptions{Fill: fill})
			if err != nil {
				return inputError(err)
			}
			if svg != "" {
				s, err := workflow.Simulate(w, slots, workflow.SimOptions{})
				if err != nil {
					return inputError(err)
				}
				if err := writeFile(svg, gantt(w, s).WriteSVG); err != nil {
					return err
				}
			}
			return showLevels(cmd.OutOrStdout(), w, l[0], slots)
		},
	}
	cmd.Flags().StringVar(&svg, "svg", "", "draw the schedule into `FILE`")
	cmd.Flags().StringVar(&levels, "levels", "tda", "how to count levels: `tda`, bua or slack")
	cmd.Flags().IntVar(&slots, "slots", 4, "slots of the schedule")
	cmd.Flags().BoolVar(&fill, "fill", false, "fill missing run times from the median of their kind")
	return cmd
}

// gantt returns the drawing of a schedule.
func gantt(w *workflow.Workflow, s *workflow.Schedule) *report.Gantt {
	g := &report.Gantt{
		Title: fmt.Sprintf("%s on %d slots: %s", w.Name, s.Slots, clock(s.Makespan)),
		Row:   "slot", Rows: s.Slots, Span: s.Makespan, Time: clock,
	}
	for t := range w.Tasks {
		g.Bars = append(g.Bars, report.GanttBar{
			Row: int(s.Slot[t]), From: s.Start[t], To: s.End[t], Name: w.Tasks[t].ID, Kind: w.Tasks[t].Kind,
		})
	}
	return g
}

// showLevels writes one line a level.
func showLevels(out io.Writer, w *workflow.Workflow, l workflow.NamedLeveler, slots int) error {
	level := l.Level(w.Graph, w.Runs(), slots)
	levels := workflow.Profile(w, nil, level)
	kinds := make([]map[string]int, len(levels))
	for t, n := range level {
		if kinds[n] == nil {
			kinds[n] = map[string]int{}
		}
		kinds[n][w.Tasks[t].Kind]++
	}
	widest := 1
	for _, x := range levels {
		widest = max(widest, x.Tasks)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d tasks, %d dependencies, %d levels, %s of work (%s)\n", w.Name, len(w.Tasks), w.Graph.Edges(), len(levels), clock(w.Work()), w.Format)
	if w.Makespan > 0 {
		fmt.Fprintf(&b, "recorded: %s on %d cores of %d machines (%s)\n", clock(w.Makespan), w.Cores(), len(w.Machines), w.System)
	}
	t := report.NewTable(report.Palette{}, ">level", ">tasks", "", ">work", ">longest", "kinds")
	for i, x := range levels {
		bar := strings.Repeat("█", max(1, 24*x.Tasks/widest))
		t.Add(fmt.Sprint(i), fmt.Sprint(x.Tasks), bar, clock(x.Sum), clock(x.Max), kindList(kinds[i]))
	}
	if err := t.Write(&b); err != nil {
		return err
	}
	bound := workflow.Bounds(w, workflow.Overhead{}, slots)
	fmt.Fprintf(&b, "critical path %s; on %d slots at least %s\n", clock(bound.Path), slots, clock(bound.Makespan()))
	_, err := io.WriteString(out, b.String())
	return err
}

// kindList names the kinds of a level, most tasks first, at most four.
func kindList(n map[string]int) string {
	var names []string
	for k := range n {
		names = append(names, k)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	var out []string
	for i, k := range names {
		if i == 4 {
			out = append(out, fmt.Sprintf("and %d more", len(names)-4))
			break
		}
		if k == "" {
			k = "?"
		}
		out = append(out, k)
	}
	return strings.Join(out, ", ")
}

func workflowCalibrateCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "calibrate RUN...",
		Short:   "learn what a site adds to run times from recorded executions",
		Example: "  assay workflow calibrate runs/ -o site.json\n  assay plan new.json --calibrate site.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := traces.Calibration(args)
			if err != nil {
				return inputError(err)
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
