package trace

import (
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// TestNextflowRequestsAndLostAttempts: a task has its requests, and attempts that failed are kept apart from it,
// with the reason of their end if the trace has it.
func TestNextflowRequestsAndLostAttempts(t *testing.T) {
	const text = "task_id\tname\tstatus\texit\trealtime\tpeak_rss\tmemory\ttime\n" +
		"1\tA (x)\tFAILED\t137\t10s\t-\t2 GB\t1h\n" +
		"2\tA (x)\tCOMPLETED\t0\t20s\t3 GB\t4 GB\t2h\n" +
		"3\tB\tFAILED\t143\t60m\t1 GB\t2 GB\t1h\n" +
		"4\tB\tABORTED\t-\t-\t-\t2 GB\t1h\n" +
		"5\tC\tFAILED\t1\tnonsense\t-\t-\t-\n" +
		"6\tD\tFAILED\t140\t5s\t-\t-\t-\n"
	w, err := Read(workflow.FillOptions{}, Source{"trace.txt", strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Tasks) != 1 || w.Tasks[0].AskMemory != 4<<30 || w.Tasks[0].AskTime != 7200 {
		t.Errorf("%+v", w.Tasks)
	}
	want := []workflow.Lost{
		{Name: "A (x)", Kind: "A", Run: 10, AskMemory: 2 << 30, AskTime: 3600, Exit: 137, Killed: true},
		{
			Name: "B", Kind: "B", Run: 3600, Memory: 1 << 30, AskMemory: 2 << 30, AskTime: 3600, Exit: 143, Killed: true,
			Short: workflow.ShortOfTime,
		},
		{Name: "B", Kind: "B", AskMemory: 2 << 30, AskTime: 3600, Exit: -1},
		{Name: "C", Kind: "C", Exit: 1},
		{Name: "D", Kind: "D", Run: 5, Exit: 140, Killed: true, Short: workflow.ShortOfTime},
	}
	if len(w.Lost) != len(want) {
		t.Fatalf("%+v", w.Lost)
	}
	for i := range want {
		if w.Lost[i] != want[i] {
			t.Errorf("%+v, want %+v", w.Lost[i], want[i])
		}
	}
	if n := workflow.AttemptName(w.Tasks[0].ID); n != "A (x)" {
		t.Errorf("%q is not the name of its attempts", n)
	}
}

func TestTableRequests(t *testing.T) {
	w, err := Read(workflow.FillOptions{}, Source{"t", strings.NewReader("id,run_s,ask_memory_B,ask_time_s\na,1,5,7\n")})
	if err != nil || w.Tasks[0].AskMemory != 5 || w.Tasks[0].AskTime != 7 {
		t.Errorf("%+v %v", w, err)
	}
}
