package planning

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/workflow"
)

// clock returns a length of time, to the digit below a thousand seconds.
func clock(s float64) string {
	if s < 1000 {
		return strconv.FormatFloat(s, 'g', 5, 64) + " s"
	}
	return report.Seconds(s)
}

// percentText returns a share as per cent with three digits.
func percentText(x float64) string { return strconv.FormatFloat(100*x, 'g', 3, 64) + " %" }

// Gantt returns the drawing of a schedule.
func Gantt(w *workflow.Workflow, s *workflow.Schedule) *report.Gantt {
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

// WriteLevels writes a workflow level by level, for people.
func WriteLevels(out io.Writer, w *workflow.Workflow, l workflow.NamedLeveler, slots int) error {
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
	fmt.Fprintf(&b, "%s: %d tasks, %d dependencies, %d levels, %s of work (%s)\n", w.Name, len(w.Tasks),
		w.Graph.Edges(), len(levels), clock(w.Work()), w.Format)
	if w.Makespan > 0 {
		fmt.Fprintf(&b, "recorded: %s on %d cores of %d machines (%s)\n", clock(w.Makespan), w.Cores(),
			len(w.Machines), w.System)
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
