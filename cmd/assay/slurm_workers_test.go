package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// Workers in jobs of a real Slurm: many short runs in one job, a run that its job was too short for, a job that is
// cancelled.
func TestSlurmWorkers(t *testing.T) {
	t.Parallel()
	testbed.Slurm(t, "srun")
	out, err := exec.CommandContext(t.Context(), "sh", "../../examples/slurm/workers.sh", t.TempDir()).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"trials     24: 24 done", "short runs on n1 n2 in 1 job", "long/1.1             error", "long/1.2             done",
		"all as it should be: 4 jobs",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it prints no %q", want)
		}
	}
}
