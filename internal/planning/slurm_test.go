package planning

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/workflow/request"
)

// The script for Slurm on a real one: a job that had too little memory, and one that had too little time, are submitted
// with twice as much and pass; one that fails by itself is not submitted again.
func TestSbatchScriptOnSlurm(t *testing.T) {
	testbed.Slurm(t, "scontrol", "python3")
	rig := func(args ...string) {
		cmd := exec.Command("sh", append([]string{"../../scripts/slurm.sh"}, args...)...)
		cmd.Env = append(os.Environ(), "EXTRA=SelectTypeParameters=CR_CPU_Memory\nJobAcctGatherFrequency=1\n"+
			"JobAcctGatherParams=OverMemoryKill\nOverTimeLimit=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	slurm := filepath.Join(t.TempDir(), "slurm")
	t.Cleanup(func() { rig("down", slurm) })
	rig("up", slurm, "1")
	t.Setenv("PATH", filepath.Join(slurm, "bin")+":"+os.Getenv("PATH"))
	for idle := false; !idle; {
		out, _ := exec.CommandContext(t.Context(), "sinfo", "-h", "-o", "%T").Output()
		if idle = strings.TrimSpace(string(out)) == "idle"; !idle {
			time.Sleep(time.Second)
		}
	}
	p := hostilePlan()
	p.Kinds[0].Memory.Rule = request.Constant(100 << 20)
	p.Kinds[0].Time.Rule = request.Constant(60)
	dir, file := written(t, "sbatch", p)
	for _, c := range []struct {
		name, body string
		code       int
		asked      string
	}{
		{
			"memory", "exec python3 -c 'import time; b = bytes([1]) * (150 << 20); time.sleep(6); print(len(b))'", 0,
			"100M 1,200M 2",
		},
		{"time", "sleep 100", 0, "100M 1,200M 2"},
		{"fails", "exit 3", 3, "100M 1"},
	} {
		job := filepath.Join(dir, c.name)
		if err := os.WriteFile(job, []byte("#!/bin/sh\n"+c.body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(slurm, "calls")); err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", file, "submit", p.Kinds[0].Name, "--", job)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%s: exit %d, want %d: %v\n%s", c.name, code, c.code, err, out)
		}
		calls, _ := os.ReadFile(filepath.Join(slurm, "calls"))
		var asked []string
		for l := range strings.Lines(string(calls)) {
			if _, args, ok := strings.Cut(l, " sbatch "); ok {
				f := strings.Fields(args) // --parsable --wait --mem=… --time=… JOB
				asked = append(asked, strings.TrimPrefix(f[2], "--mem=")+" "+strings.TrimPrefix(f[3], "--time="))
			}
		}
		if got := strings.Join(asked, ","); got != c.asked {
			t.Errorf("%s: asked %q, want %q", c.name, got, c.asked)
		}
	}
}
