package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// tuned runs assay tune on a recorded table of three whole numbers from 0 to 11, and
// returns the configurations and values of the trials in the order in which they began.
func tuned(t *testing.T, flags ...string) (configs [][3]int, values []float64) {
	t.Helper()
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("a,b,c,t1,t2,t3\n")
	for i := range 12 * 12 * 12 {
		a, b, c := i/144, i/12%12, i%12
		bowl := 5 + math.Pow(float64(a-3), 2) + math.Pow(float64(b-9), 2) + math.Pow(float64(c-5), 2)
		rough := float64(i*7919%97) / 20
		fmt.Fprintf(&table, "%d,%d,%d,%.2f,%.2f,%.2f\n", a, b, c, bowl+rough, bowl+rough+.5, bowl+rough+.1)
	}
	for name, text := range map[string]string{
		"t.csv":  table.String(),
		"s.yaml": "replay: {file: t.csv, parameters: [a, b, c], metrics: {elapsed: [t1, t2, t3]}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		if code := execute(streams{strings.NewReader(""), &out, &errs}, args); code != 0 {
			t.Fatalf("assay %q: exit code %d\n%s", args, code, errs.String())
		}
		return out.String()
	}
	db := filepath.Join(dir, "s.db")
	run(append([]string{
		"tune", filepath.Join(dir, "s.yaml"), "--store", db, "--study", "s", "--check", "0", "--stop", "none",
	}, flags...)...)
	for line := range strings.Lines(run("study", "trials", "s", "--store", db, "--json")) {
		var trial struct {
			Config struct{ A, B, C int }
			Value  float64
		}
		if err := json.Unmarshal([]byte(line), &trial); err != nil {
			t.Fatal(err)
		}
		configs = append(configs, [3]int{trial.Config.A, trial.Config.B, trial.Config.C})
		values = append(values, trial.Value)
	}
	return configs, values
}

// Runs of one configuration are not made back to back, so that a disturbance of the
// machine falls on more than one; unless a direct search waits for that one alone, as
// pro does for a probe.
func TestTuneAlternatesRepetitions(t *testing.T) {
	testbed.Long(t)
	for _, search := range []string{"pro", "auto", "random"} {
		for _, parallel := range []string{"1", "4"} {
			configs, _ := tuned(t, "--repeat", "3", "--search", search, "--parallel", parallel, "--trials", "36", "--seed", "1")
			runs := map[[3]int]int{}
			back := 0
			for i, c := range configs {
				runs[c]++
				if i > 0 && configs[i-1] == c {
					back++
				}
			}
			whole := 0
			for _, n := range runs {
				if n == 3 {
					whole++
				}
			}
			alone := 0
			if search == "pro" {
				alone = 2 * len(runs) / 4
			}
			if back > alone || whole < 10 {
				t.Errorf("--search %s --parallel %s: %d runs repeat the one before, %d configurations have 3: %v",
					search, parallel, back, whole, configs)
			}
		}
	}
}

// With more processors than a direct search has points, each point gets ⌊P/points⌋
// samples at once. Reference: Tabatabaee et al. 2005, section 5.2
func TestTuneUsesSpareProcessors(t *testing.T) {
	count := func(parallel string) (first int) {
		configs, _ := tuned(t, "--repeat", "auto", "--search", "pro", "--parallel", parallel, "--trials", "24", "--seed", "2")
		for _, c := range configs {
			if c == configs[0] {
				first++
			}
		}
		return first
	}
	// The initial simplex of three parameters has 2N = 6 vertices.
	if got := count("24"); got != 4 {
		t.Errorf("with 24 processors for 6 points a point has %d samples, want 4", got)
	}
	if got := count("6"); got > 3 {
		t.Errorf("with 6 processors for 6 points the first has %d samples of 24", got)
	}
}

// The stopping test of PRO looks in every direction before the search goes on from it, also if runs
// are asked for one at a time. The remaining points span the space.
// Reference: Tabatabaee et al. 2005, section 3.2.3
func TestTunePollsInEveryDirection(t *testing.T) {
	testbed.Long(t)
	polls := 0
	for seed := range 6 {
		configs, values := tuned(t, "--search", "pro", "--parallel", "1", "--trials", "150", "--seed", fmt.Sprint(seed))
		best := 0
		for i := 0; i < len(configs); i++ {
			// A poll: at least two runs in a row at distance 1 of the best before them.
			var directions []int
			k := i
			for ; k < len(configs) && axisOf(configs[best], configs[k]) >= 0; k++ {
				directions = append(directions, axisOf(configs[best], configs[k]))
			}
			if len(directions) >= 2 && k < len(configs) {
				polls++
				slices.Sort(directions)
				if got := slices.Compact(directions); len(got) < 3 && !tried(configs[:k], configs[best], got) {
					t.Errorf("seed %d: trials %d to %d look around %v along %v alone", seed, i+1, k, configs[best], got)
				}
			}
			for j := i; j < max(k, i+1); j++ {
				if values[j] < values[best] {
					best = j
				}
			}
			i = max(k, i+1) - 1
		}
	}
	if polls < 6 {
		t.Errorf("%d polls: too few to say something", polls)
	}
}

// axisOf returns the parameter in which two configurations differ by 1, if they
// differ in nothing else; -1 otherwise.
func axisOf(a, b [3]int) int {
	axis := -1
	for i := range a {
		switch d := a[i] - b[i]; {
		case d == 0:
		case axis >= 0 || d*d != 1:
			return -1
		default:
			axis = i
		}
	}
	return axis
}

// tried reports whether a neighbour of c along each other direction was run before.
func tried(before [][3]int, c [3]int, directions []int) bool {
	for _, b := range before {
		if axis := axisOf(c, b); axis >= 0 && !slices.Contains(directions, axis) {
			directions = append(slices.Clone(directions), axis)
		}
	}
	return len(directions) >= 3
}
