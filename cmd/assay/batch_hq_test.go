package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A study of 24 jobs on a real HyperQueue, whose server is killed with its worker, and then assay itself: each trial counts once.
func TestHyperQueueExample(t *testing.T) {
	t.Parallel()
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("SKIPPED: it takes minutes; set ASSAY_SOAK=1. Stand-ins are tried by TestScripts and package batch")
	}
	python := hyperQueue()
	if python == "" {
		t.Skip("SKIPPED, NO REAL HYPERQUEUE IS TRIED: no python3 has the package hyperqueue (scripts/deps.sh test)")
	}
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

// hyperQueue returns a python3 that has HyperQueue's package, or "".
func hyperQueue() string {
	cache, _ := os.UserCacheDir()
	for _, python := range []string{"python3", filepath.Join(cache, "assay", "hyperqueue", "bin", "python")} {
		if exec.Command(python, "-c", "import hyperqueue.cluster").Run() == nil {
			return python
		}
	}
	return ""
}
