package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/workbench"
)

// M(G, I, R) of Eq. 2 from one machine to another: two machines are emulated by the
// processor's share, 0.4 and 0.1; each writes its own profile; a model is learned on the fast one,
// and predicts the measurements of the slow one. Control: without the profiles it is several times
// off. An attempt does not count if the runs report a level that was off, or if the profiles do not
// show the two machines: then the machine is too busy to emulate others.
func TestTwoEmulatedMachines(t *testing.T) {
	testbed.System(t)
	for _, a := range workbench.Attributes() {
		if a.Name == workbench.CPU && a.Why != "" {
			testbed.Lacks(t, "cgroup", "no quota of a processor: ", a.Why)
		}
	}
	t.Parallel() // most of the time it waits for its share
	// Other work of the machine disturbs some attempts: the least disturbed counts.
	emulated := false
	for range 3 {
		by, without, ok := emulatedMachines(t)
		t.Logf("error on the slow machine: %.0f %% by its profile, %.0f %% without (emulated: %v)", by, without, ok)
		if ok && by <= without/2 {
			return
		}
		emulated = emulated || ok
	}
	if !emulated {
		t.Skip("SKIPPED, NOT TESTED: the machine is too busy to emulate two others")
	}
	t.Error("the profile does not halve the error on the slow machine in any of three attempts")
}

// emulatedMachines returns the error of the predictions for the slow machine in percent, by the
// profiles and without them; ok is false if not both were emulated.
func emulatedMachines(t *testing.T) (by, without float64, ok bool) {
	t.Helper()
	dir := t.TempDir()
	assay := func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command("assay", append(args, "--store", filepath.Join(dir, "s.db"))...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			text := ""
			if e, ok := err.(*exec.ExitError); ok {
				text = string(e.Stderr)
			}
			t.Fatalf("assay %v: %v\n%s", args, err, text)
		}
		return out
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("profile.yaml", `
command: [sh, -c, 'assay profile --time 1s --json >rho-$1.json', sh, '{cpu}']
workbench: {}
parameters: {cpu: [0.1, 0.4]}
`)
	for name, cpu := range map[string]string{"fast": "0.4", "slow": "0.1"} {
		write(name+".yaml", fmt.Sprintf(`
command: [sh, -c, 'i=0; while [ $i -lt $1 ]; do i=$((i+1)); done', sh, '{n}']
workbench: {}
parameters:
  n: [50000, 75000, 100000, 150000, 200000]
  cpu: [%s]
`, cpu))
	}
	assay("tune", "profile.yaml", "--search", "grid", "--check", "0")
	var l result.Learned
	out := assay("learn", "fast.yaml", "--trials", "5", "--learned-on", "rho-0.4.json", "--model", "m.json", "--json")
	if err := json.Unmarshal(out, &l); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if l.Verified != 5 {
		t.Logf("%d of 5 runs were verified", l.Verified)
		return 0, 0, false
	}
	assay("tune", "slow.yaml", "--search", "grid", "--stop", "none", "--check", "0")
	var m costmodel.Model
	if b, err := os.ReadFile(filepath.Join(dir, "m.json")); err != nil || json.Unmarshal(b, &m) != nil ||
		m.Machine()["integer_speed"] == 0 || m.Machine()["cpus"] != 0.4 {
		t.Fatalf("the model was learned on %v, %v", m.Machine(), err)
	}
	mape := func(args ...string) float64 {
		var c result.Compared
		out := assay(append([]string{"predict", "m.json", "--against", "slow", "--json"}, args...)...)
		if err := json.Unmarshal(out, &c); err != nil || len(c.Runs) != 5 {
			t.Fatalf("%v: %s", err, out)
		}
		return c.MAPE
	}
	b, err := os.ReadFile(filepath.Join(dir, "rho-0.1.json"))
	if err != nil {
		t.Fatal(err)
	}
	slow, err := costmodel.ReadMachine(b)
	if err != nil {
		t.Fatal(err)
	}
	ok = l.Off == 0 && m.Machine()["integer_speed"] > 2*slow["integer_speed"]
	return mape("--on", "rho-0.1.json"), mape(), ok
}
