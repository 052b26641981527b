package pietri

import (
	"testing"

	"github.com/assay-run/assay/internal/planning"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/workflow"
)

// TestLeaveOneOut holds the accuracy that docs/results/workflow.md reports, with
// one execution in ninety to spare.
func TestLeaveOneOut(t *testing.T) {
	testbed.System(t)
	runs, skipped, err := planning.Recorded(planning.Disk, []string{testbed.Data(t, "workflows")})
	if err != nil || skipped > 0 {
		t.Fatalf("%v, %d executions without a makespan", err, skipped)
	}
	for _, tt := range []struct {
		name                  string
		hold                  HoldOut
		median, in20, covered float64
	}{
		{"execution", HoldExecution, 0.075, 0.83, 0.93},
		{"config", HoldConfig, 0.095, 0.78, 0.93},
		{"application", HoldApp, 0.32, 0.35, 0.93},
	} {
		out, err := LeaveOneOut(runs, tt.hold)
		if err != nil {
			t.Fatal(err)
		}
		var errs, paper []float64
		in20, covered := 0.0, 0.0
		for _, o := range out {
			if o.Grid {
				continue
			}
			errs, paper = append(errs, o.Error), append(paper, o.PaperErr)
			if o.Error < 0.2 {
				in20++
			}
			if o.Low <= o.Workflow.Makespan && o.Workflow.Makespan <= o.High {
				covered++
			}
		}
		n := float64(len(errs))
		median := workflow.Quantile(errs, 0.5)
		t.Logf("%s left out: %v executions, median %.3f, within 20 %% %.3f, in the interval %.3f; Alg. 1 with "+
			"all cores %.3f", tt.name, n, median, in20/n, covered/n, workflow.Quantile(paper, 0.5))
		if median > tt.median || in20/n < tt.in20 || covered/n < tt.covered {
			t.Errorf("%s left out: median %.3f, want at most %v; within 20 %% %.3f, want at least %v; in the interval %.3f, "+
				"want at least %v", tt.name, median, tt.median, in20/n, tt.in20, covered/n, tt.covered)
		}
	}
}
