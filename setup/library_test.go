package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// A module outside of this one tunes a command, reads the answer and resumes the study.
func TestLibraryExample(t *testing.T) {
	testbed.Outside(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "library"))); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	// Each run of the command leaves a line.
	file := filepath.Join(dir, "study.yaml")
	study, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(dir, "ran")
	text := strings.Replace(string(study), "'echo cost", "'echo ran >>"+ran+"; echo cost", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run("go", "mod", "edit", "-replace", "github.com/assay-run/assay="+root)
	run("go", "build", "-o", "library", ".")
	var runs []byte
	for _, first := range []string{"9 trials, 0 of them", "9 trials, 9 of them"} {
		out := run(filepath.Join(dir, "library"))
		for _, want := range []string{first, "\nn=7\n", "\ncost 0, median of "} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		now, err := os.ReadFile(ran)
		if err != nil || len(now) == 0 || runs != nil && len(now) != len(runs) {
			t.Errorf("%d bytes of runs, then %d, %v", len(runs), len(now), err)
		}
		runs = now
	}
}
