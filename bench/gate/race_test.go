package gate

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// The race costs next to nothing on a quiet machine: the recommended configuration is as good
// at the same time. The tables are recorded, so that the pairs differ in the race alone.
func TestQuietTables(t *testing.T) {
	var with, without, n float64
	for _, name := range []string{"flags", "sizes"} {
		def, _, err := spec.Load(filepath.Join("testdata", name+".yaml"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := setup.New(def, setup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		truth := bench.Truth(p.Table, p.Goal)
		budget := spec.Budget{Time: 15 * p.Table.MedianElapsed()}
		for seed := range uint64(testbed.Times(2, 20)) {
			for _, race := range []bool{false, true} {
				r := play(t, p, budget, seed+1, func(c *bench.Cell) { c.Race, c.Check = race, 5 })
				if race && len(r.Races) == 0 {
					t.Errorf("%s, seed %d: nothing was run again", name, seed+1)
				}
				best, _ := truth(r.Best.Config)
				if race {
					with += math.Log(best)
				} else {
					without += math.Log(best)
				}
			}
			n++
		}
	}
	t.Logf("%.0f pairs: the race makes the answer %.2f %% worse", n, 100*(with-without)/n)
	// A few pairs differ by a tenth either way: make system has enough of them to judge.
	if testbed.IsSystem() && (with-without)/n > 0.01 {
		t.Errorf("on quiet tables the answer is %.2f %% worse", 100*(with-without)/n)
	}
}
