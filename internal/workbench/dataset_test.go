package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/workbench"
)

// Each job may have a data set of its own: the program sees it at the one mount, and the run has its size.
func TestDataOfTheJob(t *testing.T) {
	at := t.TempDir()
	b := newBench(t, workbench.Options{Mount: at})
	for _, n := range []int{1000, 300_000} {
		dir := dataSet(t, n)
		if err := os.WriteFile(filepath.Join(dir, "second"), []byte("abc"), 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := b.Run(t.Context(), assay.Job{Argv: []string{"/bin/sh", "-c", "cat in"}, Dir: at, Data: dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Stdout) == 0 || m.Metrics["read_bytes"] != float64(n) {
			t.Errorf("of %d bytes %g were read", n, m.Metrics["read_bytes"])
		}
		if m.Metrics["data_bytes"] != float64(n+3) || m.Metrics["data_files"] != 2 {
			t.Errorf("the data set has %g bytes in %g files", m.Metrics["data_bytes"], m.Metrics["data_files"])
		}
	}
	_, err := b.Run(t.Context(), assay.Job{Argv: []string{"true"}, Data: filepath.Join(at, "gone")}, nil)
	if err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a data set that is not there: %v", err)
	}
	// A job without one, such as a setup, is run as if there was no workbench.
	m, err := b.Run(t.Context(), assay.Job{Argv: []string{"true"}}, nil)
	if _, has := m.Metrics["data_flow"]; err != nil || has {
		t.Errorf("without data: %v, %v", m.Metrics, err)
	}
}
