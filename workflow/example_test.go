package workflow_test

import (
	"fmt"

	"github.com/assay-run/assay/workflow"
)

// Three maps of 10 s wait for a split of 2 s, and a merge of 4 s for all of them. The
// site takes 5 s between levels.
func ExampleNewLevelModel() {
	var b workflow.Builder
	add := func(id string, run workflow.Seconds, after ...string) {
		if _, err := b.Task(workflow.Task{ID: id, Run: run, Machine: -1}, workflow.Pos{}); err != nil {
			fmt.Println(err)
		}
		for _, p := range after {
			b.Edge(p, id, workflow.Pos{})
		}
	}
	add("split", 2)
	add("map1", 10, "split")
	add("map2", 10, "split")
	add("map3", 10, "split")
	add("merge", 4, "map1", "map2", "map3")
	w, err := b.Build(workflow.FillOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	m, err := workflow.NewLevelModel(w, workflow.TopDown{}, workflow.Overhead{Level: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, slots := range []int{1, 2, 3, 4} {
		makespan, err := m.Makespan(slots)
		fmt.Println(slots, makespan, err)
	}
	// Output:
	// 1 51 <nil>
	// 2 36 <nil>
	// 3 31 <nil>
	// 4 31 <nil>
}

// A machine costs one for each hour that is started; there is an hour to be done in.
func ExamplePlan() {
	var b workflow.Builder
	for i := range 8 {
		task := workflow.Task{ID: fmt.Sprint("render", i), Run: 1200, Machine: -1}
		if _, err := b.Task(task, workflow.Pos{}); err != nil {
			fmt.Println(err)
		}
	}
	w, err := b.Build(workflow.FillOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	price, err := workflow.ParsePrice("1/node-hour")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := workflow.MakePlan(w, workflow.PlanOptions{
		Slots: []int{1, 2, 4, 8}, Price: price, Deadline: 3600,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Choice.Slots, "slots:", plan.Choice.Why)
	// Output:
	// 4 slots: the cheapest of 8 that keeps the deadline of 3600 s: 2400 s for 4
}
