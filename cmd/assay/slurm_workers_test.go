package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Workers in jobs of a real Slurm: many short runs in one job, a run that its job was too short for, a job that is cancelled.
func TestSlurmWorkers(t *testing.T) {
	t.Parallel()
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("SKIPPED: it takes minutes; set ASSAY_SOAK=1. Stand-ins are tried by TestScripts and package batch")
	}
	for _, p := range []string{"slurmctld", "slurmd", "sbatch", "srun", "ip", "nsenter"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("SKIPPED, NO REAL SLURM IS TRIED: %v (scripts/deps.sh test)", err)
		}
	}
	if os.Getuid() != 0 || exec.Command("ip", "netns", "add", "assay-try-workers").Run() != nil {
		t.Skip("SKIPPED, NO REAL SLURM IS TRIED: it needs root, and network namespaces")
	}
	if err := exec.Command("ip", "netns", "del", "assay-try-workers").Run(); err != nil {
		t.Error(err)
	}
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
