package workbench_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/workbench"
)

// levelsWork is a program that computes, reads and waits enough for each level to show.
const levelsWork = `cat in >/dev/null; for i in 1 2 3 4 5; do test -e no$i; done; ` +
	`i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done`

// Every run reports its levels, and that they were in force.
func TestLevelsInForce(t *testing.T) {
	dir := dataSet(t, 2<<20)
	b := newBench(t, workbench.Options{Data: dir})
	asked := map[string]float64{"cpu": 0.5, "rtt": 0.005, "bandwidth": 50e6, "disk": 5e6, "memory": 512 << 20}
	m := sh(t, b, dir, levelsWork, asked)
	for name, bound := range map[string]float64{"cpu": 0.6, "bandwidth": 55e6} {
		if got := m.Metrics[name+"_seen"]; !(got > 0 && got <= bound) {
			t.Errorf("%s_seen is %g, want at most %g", name, got, bound)
		}
	}
	if got := m.Metrics["rtt_seen"]; got < 0.005 {
		t.Errorf("rtt_seen is %g", got)
	}
	if off, ok := m.Metrics[workbench.LevelsOff]; !ok || off > 2 { // a busy machine may be late
		t.Errorf("levels_off is %g, %v", off, ok)
	}
	if m := sh(t, b, dir, `true`, nil); m.Metrics["rtt_seen"] != 0 || m.Metrics[workbench.LevelsOff] != 0 {
		t.Errorf("levels of a run that asks for none: %v", m.Metrics)
	}
}

// A level that silently is not in force is an error of the run that names it, and
// the third in succession ends the study (control: the same run with all in force is no error).
func TestLevelsNotInForce(t *testing.T) {
	dir := dataSet(t, 3<<20)
	asked := map[string]float64{"cpu": 0.5, "rtt": 0.02, "bandwidth": 20e6, "disk": 2e6}
	for _, name := range []string{"cpu", "rtt", "bandwidth", "disk"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, workbench.Options{Data: dir})
			job := assay.Job{
				Argv: []string{"/bin/sh", "-c", levelsWork}, Dir: dir, Resources: map[string]float64{name: asked[name]},
			}
			m, err := b.Run(t.Context(), job, nil)
			if err != nil {
				t.Fatalf("control: %v", err)
			}
			t.Logf("%s_seen is %g, %g levels off", name, m.Metrics[name+"_seen"], m.Metrics[workbench.LevelsOff])
			workbench.Loosen(b, name)
			row, wanted := 0, 3
			if name != "cpu" && !testbed.IsSystem() {
				wanted = 1
			}
			// A run that other work on the machine slows down may keep to a level that is off: the row begins again.
			for n := 0; row < wanted; n++ {
				if n == 20 {
					t.Fatalf("a level that is off is not noticed in %d runs", n)
				}
				_, err := b.Run(t.Context(), job, nil)
				if err == nil {
					row = 0
					continue
				}
				row++
				if !errors.Is(err, workbench.ErrLevels) || errors.Is(err, assay.ErrSetup) != (row == 3) {
					t.Fatalf("run %d, %d in a row: %v", n+1, row, err)
				}
				if !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "cgroup") {
					t.Errorf("the error does not name %s: %v", name, err)
				}
			}
		})
	}
}
