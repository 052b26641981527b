package pietri

import (
	"math"
	"testing"

	"github.com/assay-run/assay/internal/workflow/trace"
	"github.com/assay-run/assay/workflow"
)

// family is four configurations of a at s, one of which was repeated, one of b, and one on a grid.
func family(t *testing.T) []trace.Recorded {
	runs := []trace.Recorded{
		recorded(t, "a", "s", "c1", 4), recorded(t, "a", "s", "c1", 4), recorded(t, "a", "s", "c2", 8),
		recorded(t, "a", "s", "c3", 12), recorded(t, "a", "s", "c4", 16), recorded(t, "b", "s", "c5", 8),
		recorded(t, "a", "s", "c6", 8),
	}
	runs[6].Grid = true
	return runs
}

// TestFromKnown checks the known and the predicted executions: with one configuration each has its turn and
// predicts the executions of the others; with more, as many as are drawn; never itself, nor a group that has no more.
func TestFromKnown(t *testing.T) {
	out, err := FromKnown(family(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, o := range out {
		if count[o.Config]++; o.App != "a" || o.Grid {
			t.Errorf("%s of %s is predicted", o.Config, o.App)
		}
		if want := map[bool]int{true: 1, false: 2}[o.Config == "c1"]; o.Trained > want {
			t.Errorf("%s from %d executions, want at most %d", o.Config, o.Trained, want)
		}
	}
	// Three others for each: c1 has two executions.
	if len(out) != 15 || count["c1"] != 6 || count["c2"] != 3 || count["c4"] != 3 {
		t.Errorf("%d predictions: %v", len(out), count)
	}
	three, err := FromKnown(family(t), 3)
	if err != nil || len(three) < draws || len(three) > 2*draws {
		t.Errorf("%d predictions from three of four, %v; want one or two for each of %d draws", len(three), err, draws)
	}
	for _, o := range three {
		if want := map[bool]int{true: 3, false: 4}[o.Config == "c1"]; o.Trained != want {
			t.Errorf("%s from %d executions, want %d", o.Config, o.Trained, want)
		}
		// 60 s are added everywhere.
		if o.Error > 0.1 || !(math.Abs(o.Error-workflow.RelError(o.Workflow.Makespan, o.Makespan)) <= 1e-12) {
			t.Errorf("%s: %v for %v s", o.Config, o.Makespan, o.Workflow.Makespan)
		}
	}
	for _, n := range []int{0, 4, 9} {
		if out, err := FromKnown(family(t), n); err != nil || len(out) != 0 {
			t.Errorf("%d known: %d predictions, %v", n, len(out), err)
		}
	}
	if r, err := EvaluateKnown(family(t), 1); err != nil || r.Known != 1 || r.All.Executions != 15 || len(r.Apps) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRepeats checks the error of a repetition by the other: 160 s and 200 s are 25 and 20 % off.
func TestRepeats(t *testing.T) {
	runs := family(t)
	w := *runs[1].Workflow
	w.Makespan = 200
	runs[1].Workflow = &w
	r := repeats(runs)
	if r == nil || r.Executions != 2 || !(math.Abs(r.Median-0.225) <= 1e-12) || r.Within20 != 0 {
		t.Errorf("%+v, want 2 executions with a median of 22.5 %%", r)
	}
	w.Makespan = 176 // 10 and 9 %
	if r := repeats(runs); r.Within20 != 1 {
		t.Errorf("%+v, want all within 20 %%", r)
	}
	if r := repeats(runs[2:]); r != nil {
		t.Errorf("no repetitions, but %+v", r)
	}
}
