package main

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// The example of Slurm, on a Slurm that is brought up for it: each of its 40 trials ends once, though the controller is
// killed twice and a node goes down.
func TestSlurmExample(t *testing.T) {
	t.Parallel()
	testbed.Slurm(t, "zstd")
	// The stand-ins of other tests have the names of Slurm's commands: the commands of the rig precede them.
	out, err := exec.CommandContext(t.Context(), "sh", "../../examples/slurm/run.sh", t.TempDir()).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	number := func(pattern string) int {
		m := regexp.MustCompile(pattern).FindSubmatch(out)
		if m == nil {
			t.Fatalf("nothing like %s", pattern)
		}
		n, _ := strconv.Atoi(string(m[1]))
		return n
	}
	if n := number(`trials +(\d+): \d+ done`); n != 40 {
		t.Errorf("%d trials", n)
	}
	begun, lost := number(`(\d+) runs begun`), number(`(\d+) attempts lost`)
	if most := 40 + 6 + lost; begun < 40 || begun > most { // six run on a node at most when it goes down
		t.Errorf("%d runs were begun, with %d attempts lost", begun, lost)
	}
	if n := number(`(\d+) jobs left`); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}
