package trace_test

import (
	"fmt"
	"strings"

	"github.com/assay-run/assay/internal/workflow/trace"
	"github.com/assay-run/assay/workflow"
)

// A table is the simplest trace. Every other format is read by the same call, which distinguishes
// them by their content.
func ExampleRead() {
	table := `id,kind,run_s,parents
fetch,fetch,30,
align1,align,120,fetch
align2,align,110,fetch
align3,align,130,fetch
report,report,20,align1 align2 align3
`
	w, err := trace.Read(workflow.FillOptions{}, trace.Source{Name: "run.csv", Reader: strings.NewReader(table)})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := workflow.MakePlan(w, workflow.PlanOptions{Slots: workflow.DefaultSlots(w)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(w.Tasks), "tasks in", w.Graph.Depth(), "levels")
	for _, e := range plan.Pareto {
		fmt.Println(e.Slots, "slots:", e.Makespan, "s")
	}
	fmt.Println("take", plan.Choice.Slots)
	// Output:
	// 5 tasks in 3 levels
	// 4 slots: 180 s
	// 2 slots: 230 s
	// 1 slots: 410 s
	// take 4
}

// A flaw of a trace is reported with its place.
func ExampleRead_error() {
	table := "id,run_s,parents\na,1,\nb,2,ghost\n"
	_, err := trace.Read(workflow.FillOptions{}, trace.Source{Name: "run.csv", Reader: strings.NewReader(table)})
	fmt.Println(err)
	// Output:
	// run.csv:3:1: a dependency names task "ghost", which is not defined
}
