package planning

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// executions is a chain recorded twice on two cores, the second twice as slow, and
// once without a makespan.
func executions(t *testing.T) []*workflow.Workflow {
	t.Helper()
	var runs []*workflow.Workflow
	for _, makespan := range []float64{40, 90, 0} {
		w := chain(t, "w")
		if makespan > 0 {
			w.Makespan, w.Machines = makespan, []workflow.Machine{{Cores: 2}}
		}
		runs = append(runs, w)
	}
	runs[1] = runs[1].WithRuns([]float64{20, 60})
	return runs
}

func TestRunsRange(t *testing.T) {
	r := &Runs{Runs: executions(t), Method: "tda"}
	var err error
	byLevels := workflow.ByLevels(workflow.TopDown{}, workflow.Overhead{})
	if r.Ranges, err = workflow.Range(r.Runs, []int{1}, byLevels); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "w: 3 executions, 2 with a recorded makespan (tda)\n", "1 to 1.12  1 of 2",
		"Of 2 recorded makespans 1 are inside the range.")
	b.Reset()
	if err := r.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "w: range of the predictions", "greatest", "least", "recorded", "makespan / sum of run times")
	b.Reset()
	var got runsJSON
	if err := r.WriteJSON(&b); err != nil || json.Unmarshal([]byte(b.String()), &got) != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if len(got.Ranges) != 2 || got.Ranges[1].Inside != 1 || len(got.Ranges[1].Real) != 2 || got.Take != 0 {
		t.Errorf("%+v", got)
	}
}

func TestRunsAverage(t *testing.T) {
	r := &Runs{Runs: executions(t), Method: "tda", Error: 0.1}
	r.Runs[2].Name = "v"
	var err error
	if r.Average, err = workflow.Average(r.Runs, workflow.TopDown{}, workflow.Overhead{}, []int{1, 2, 4},
		workflow.VaryOptions{}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "w and 2 more: 3 executions", "53.333 s  40 s to 80 s  40 s, 90 s", "300 predictions",
		"run times ±10 %.", "Take 1 slots: more, up to 4, save 0.0 % of the mean of 53.333 s.")
	b.Reset()
	if err := r.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "average of the executions", "mean, 5 % to 95 %", ">take 1: 53.333 s<")
	b.Reset()
	var got runsJSON
	if err := r.WriteJSON(&b); err != nil || json.Unmarshal([]byte(b.String()), &got) != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if got.Take != 1 || len(got.Average) != 3 || len(got.Average[1].Real) != 2 || got.Average[0].Max != 80 {
		t.Errorf("%+v", got)
	}
	r.Average = r.Average[:1]
	b.Reset()
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "Take 1 slots: every step up to them still saves time.")
}
