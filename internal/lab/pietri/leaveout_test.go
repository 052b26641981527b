package workflow

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// eachRecorded reads every execution below dir; path is relative to that.
func eachRecorded(t testing.TB, dir string, f func(path string, w *Workflow)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json.gz") {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		w, err := Read(FillOptions{}, Source{path, in})
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(rel), w)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// recordedRuns returns every execution below dir.
func recordedRuns(t testing.TB, dir string) []Recorded {
	t.Helper()
	var runs []Recorded
	eachRecorded(t, dir, func(path string, w *Workflow) { runs = append(runs, Label(w, path)) })
	return runs
}

// TestLeaveOneOut holds the accuracy that docs/results/workflow.md reports, with
// one execution in ninety to spare.
func TestLeaveOneOut(t *testing.T) {
	runs := recordedRuns(t, testbed.Data(t, "workflows"))
	for _, tt := range []struct {
		name         string
		hold         HoldOut
		median, in20 float64
	}{
		{"execution", HoldExecution, 0.08, 0.84},
		{"config", HoldConfig, 0.10, 0.77},
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
		median := Quantile(errs, 0.5)
		t.Logf("%s left out: %v executions, median %.3f, within 20 %% %.3f, in the interval %.3f; Alg. 1 with all cores %.3f", tt.name, n, median, in20/n, covered/n, Quantile(paper, 0.5))
		if median > tt.median || in20/n < tt.in20 {
			t.Errorf("%s left out: median %.3f, want at most %v; within 20 %% %.3f, want at least %v", tt.name, median, tt.median, in20/n, tt.in20)
		}
	}
}
