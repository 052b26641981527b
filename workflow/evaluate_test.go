package workflow

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// dataDir returns the folder of evaluation data, or skips the test.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("ASSAY_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "workflows")); err != nil {
		t.Skipf("SKIPPED, no evaluation data: set ASSAY_DATA (%v)", err)
	}
	return filepath.Join(dir, "workflows")
}

// recordedRuns reads every execution below dir.
func recordedRuns(t testing.TB, dir string) []Recorded {
	t.Helper()
	var runs []Recorded
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json.gz") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		w, err := Read(FillOptions{}, Source{path, f})
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		runs = append(runs, Label(w, filepath.ToSlash(rel)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// TestLeaveOneOut holds the accuracy that docs/results/workflow.md reports.
func TestLeaveOneOut(t *testing.T) {
	runs := recordedRuns(t, dataDir(t))
	for _, hold := range []HoldOut{HoldExecution, HoldConfig} {
		out, err := LeaveOneOut(runs, hold)
		if err != nil {
			t.Fatal(err)
		}
		var errs, paper []float64
		in20, covered := 0, 0
		by := map[string][]string{}
		for _, o := range out {
			if o.Grid {
				continue
			}
			by[o.App+" "+o.Site+" "+o.From] = append(by[o.App+" "+o.Site+" "+o.From], regexp.MustCompile(`0\.`).ReplaceAllString(strings.TrimSuffix(fmtErr(o.Makespan/o.Workflow.Makespan-1), ""), "."))
			errs, paper = append(errs, o.Error), append(paper, o.PaperErr)
			if o.Error <= 0.2 {
				in20++
			}
			if o.Low <= o.Workflow.Makespan && o.Workflow.Makespan <= o.High {
				covered++
			}
		}
		for k, v := range by {
			t.Log(k, v)
		}
		t.Logf("hold %d: n %d median %.3f p90 %.2f in20 %.3f covered %.2f paper median %.2f", hold, len(errs), Quantile(errs, 0.5), Quantile(errs, 0.9), float64(in20)/float64(len(errs)), float64(covered)/float64(len(errs)), Quantile(paper, .5))
	}
}

func fmtErr(x float64) string {
	return strings.TrimSpace(strings.Replace(strings.TrimRight(sprint(x), " "), "+", "", 1))
}

func sprint(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', 2, 64) }
