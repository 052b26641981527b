package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// The value of a secret reaches the run, its hooks and commands of metrics, and nothing else has it: not the job, and
// no error.
func TestSecrets(t *testing.T) {
	const canary = "c4n4ry-value"
	dir := t.TempDir()
	t.Setenv("ASSAY_TEST_SECRET", canary)
	t.Setenv("HOME", dir)
	for name, text := range map[string]string{
		"key": canary + "\n", "two": canary + "\n\n", "nul": canary + "\x00",
		"long": canary + strings.Repeat("x", mostSecret),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{
		"env:ASSAY_TEST_SECRET": canary, "file:" + filepath.Join(dir, "key"): canary, "file:~/key": canary,
		"file:~/two": canary + "\n",
	} {
		job := assay.Job{
			Argv:    []string{"sh", "-c", `printf %s "$S" >run`},
			Prepare: []string{"sh", "-c", `printf %s "$S" >prepare`}, Cleanup: []string{"sh", "-c", `printf %s "$S" >cleanup`},
			Secrets: []string{"S=" + from}, Env: []string{"S=wrong"}, Dir: t.TempDir(),
		}
		b, err := json.Marshal(job)
		if err != nil || strings.Contains(string(b), canary) || !strings.Contains(string(b), from) {
			t.Errorf("the job is %s, %v", b, err)
		}
		m, err := WithHooks(newLocal(t, LocalOptions{})).Run(t.Context(), job, nil)
		if err != nil || m.ExitCode != 0 {
			t.Fatalf("%s: %+v, %v", from, m, err)
		}
		for _, name := range []string{"run", "prepare", "cleanup"} {
			if got, err := os.ReadFile(filepath.Join(job.Dir, name)); err != nil || string(got) != want {
				t.Errorf("%s of %s: got %q, %v, want %q", name, from, got, err, want)
			}
		}
	}
	for from, says := range map[string]string{
		"env:ASSAY_TEST_NONE": "ASSAY_TEST_NONE is not set", "file:~/none": "no such file", "file:~/nul": "NUL",
		"file:~/long": "longer", "file:": "neither", canary: "neither", "x:" + canary: "neither",
	} {
		_, err := newLocal(t, LocalOptions{}).Run(t.Context(),
			assay.Job{Argv: []string{"true"}, Secrets: []string{"S=" + from}}, nil)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: got %v, want %q", from, err, says)
		}
	}
}
