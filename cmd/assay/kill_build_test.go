package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
)

// A build takes until the file go is there. It is whole at its end only.
const slowBuild = `
setup:
  command: 'echo build $N >>log; echo half >$SETUP/prog; until test -e go; do sleep 0.01; done; echo whole >$SETUP/prog'
  inputs: s.yaml
command: [sh, -c, 'test "$(cat "$0")" = whole', "{setup}/prog"]
parameters: {n: [1]}
search: grid
`

// TestKilledBuild kills the tool with SIGKILL in the middle of a build. The remains are not taken for a
// build. Then two studies ask for it at once: one builds, and the other waits.
func TestKilledBuild(t *testing.T) {
	testbed.Outside(t)
	exe, err := exec.LookPath("assay")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(slowBuild), 0o600); err != nil {
		t.Fatal(err)
	}
	tune := func(study string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(exe, "tune", "s.yaml", "--check", "0", "--study", study)
		out := &bytes.Buffer{}
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, out
	}
	builds := func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "log"))
		return strings.Count(string(text), "\n")
	}
	await := func(n int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); builds() < n; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d builds have begun, want %d", builds(), n)
			}
		}
	}
	killed, _ := tune("a")
	await(1)
	killed.Process.Kill()
	killed.Wait()
	first, out1 := tune("a") // ends the build that the killed one has left
	await(2)
	second, out2 := tune("b")
	time.Sleep(100 * time.Millisecond) // for the second to reach its build; it may be late
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cmd *exec.Cmd
		out *bytes.Buffer
	}{{first, out1}, {second, out2}} {
		if err := c.cmd.Wait(); err != nil || !strings.Contains(c.out.String(), "trials     1: 1 done") {
			t.Errorf("%v\n%s", err, c.out)
		}
	}
	if n := builds(); n != 2 {
		t.Errorf("%d builds, want that of the killed study and one more", n)
	}
}
