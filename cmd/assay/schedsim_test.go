package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// schedsimCopy copies the example into a module of its own, so that the products of its prepare
// command stay out of the repository, and returns the directory.
func schedsimCopy(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("SKIPPED: the example is built with go: %v", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/schedsim")); err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{"schedsim", "jobs.swf"} { // by an earlier tuning in the tree
		if err := os.RemoveAll(filepath.Join(dir, made)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module schedsim\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	return dir
}

func schedsimRun(t *testing.T, dir, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.String(), errs.String()
}

// Tuning the example end to end: it builds itself and makes its log, there are
// 495 configurations, and every value is the one that the simulator gives.
func TestSchedsimExample(t *testing.T) {
	testbed.Outside(t)
	dir := schedsimCopy(t)
	out, log := schedsimRun(t, dir, "assay", "tune", "assay.yaml", "--trials", "6", "--check", "0", "--json")
	if !strings.Contains(log, "minimize slowdown, 495 configurations") {
		t.Errorf("the study begins with %q", log[:min(len(log), 200)])
	}
	var result struct{ Best struct{ Value float64 } }
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	trials, _ := schedsimRun(t, dir, "assay", "study", "trials", "schedsim", "--json")
	least := math.Inf(1)
	n := 0
	for line := range strings.Lines(trials) {
		var trial struct {
			State  string
			Value  float64
			Config map[string]int
		}
		if err := json.Unmarshal([]byte(line), &trial); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		args := []string{"-log", "jobs.swf", "-json"}
		for _, q := range []string{"q1", "q2", "q3", "q4"} {
			args = append(args, "-"+q, strconv.Itoa(trial.Config[q]))
		}
		var direct struct{ Slowdown float64 }
		out, _ := schedsimRun(t, dir, "./schedsim", args...)
		if err := json.Unmarshal([]byte(out), &direct); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if trial.State != "done" || !(math.Abs(direct.Slowdown-trial.Value) <= 1e-4) {
			t.Errorf("trial %s: the simulator says %v", strings.TrimSpace(line), direct.Slowdown)
		}
		least = min(least, trial.Value)
		n++
	}
	if n != 6 || least != result.Best.Value {
		t.Errorf("%d trials, the least %v; want 6, the best is %v", n, least, result.Best.Value)
	}
}

// The table that the simulator writes is the one that bench/schedsim replays.
func TestSchedsimTable(t *testing.T) {
	testbed.Outside(t)
	dir := schedsimCopy(t)
	study, err := os.ReadFile("../../bench/schedsim/schedsim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "schedsim.yaml"), study, 0o600); err != nil {
		t.Fatal(err)
	}
	schedsimRun(t, dir, "go", "build", "-o", "schedsim", ".")
	schedsimRun(t, dir, "./schedsim", "-generate", "300", "-o", "made-up1.swf")
	schedsimRun(t, dir, "./schedsim", "-table", "-log", "made-up1.swf", "-slices", "2", "-o", "table.csv.gz")
	out, log := schedsimRun(t, dir, "assay", "tune", "schedsim.yaml", "--trials", "5")
	if !strings.Contains(log, "minimize slowdown, 495 configurations") || !strings.Contains(out, "5 done") {
		t.Errorf("the replay prints\n%s%s", log, out)
	}
}
