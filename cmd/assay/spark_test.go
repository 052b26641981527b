package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSpark runs one workload once with Spark's defaults, and checks that a
// wrong result is a failure. It needs the programs that `make setup` installs.
func TestSpark(t *testing.T) {
	if _, err := os.Stat("../../examples/spark/.venv/bin/spark-submit"); err != nil {
		t.Skip("SKIPPED: Spark is not installed here: make -C examples/spark setup")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("SKIPPED: Spark needs java")
	}
	dir := t.TempDir()
	for _, name := range []string{"submit", "spark.conf", "workload.py", "generate.py", ".venv"} {
		here, err := filepath.Abs("../../examples/spark/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(here, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	sparkRun(t, dir, true, ".venv/bin/python", "generate.py", "wordcount")
	out := sparkRun(t, dir, true, "./submit", "workload.py", "wordcount")
	if !strings.Contains(out, "wordcount: the result is right") {
		t.Errorf("it says %q", out)
	}
	truth := filepath.Join(dir, "data/wordcount.json")
	text, err := os.ReadFile(truth)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(text), `"words": 3`, `"words": 4`, 1)
	if err := os.WriteFile(truth, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	out = sparkRun(t, dir, false, "./submit", "workload.py", "wordcount")
	if !strings.Contains(out, "words is 3000000, want 4000000") {
		t.Errorf("of a wrong result it says %q", out)
	}
}

// sparkRun runs a program in dir and returns its output.
func sparkRun(t *testing.T, dir string, ok bool, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if (err == nil) != ok {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
