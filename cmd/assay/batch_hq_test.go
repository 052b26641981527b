package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// A study of 24 jobs on a real HyperQueue, whose server is killed with its worker, and then assay itself: each trial
// counts once.
func TestHyperQueueExample(t *testing.T) {
	t.Parallel()
	testbed.System(t)
	python := testbed.Module(t, "hyperqueue.cluster", "hyperqueue")
	cmd := exec.CommandContext(t.Context(), "sh", "../../examples/batch/run.sh", t.TempDir())
	cmd.Env = append(os.Environ(), "PYTHON="+python)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "trials     24: 24 done") ||
		!regexp.MustCompile(`exit 0, 24 trials of 24 configurations, `).Match(out) {
		t.Error("not each of 24 trials counts once")
	}
}
