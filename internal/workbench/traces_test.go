package workbench_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/workbench"
)

// traced is a job whose resource is at one level for a while and at another one after it.
func traced(dir, script, name string, first, then float64, after time.Duration) assay.Job {
	return assay.Job{
		Argv: []string{"/bin/sh", "-c", script}, Dir: dir, Resources: map[string]float64{name: (first + then) / 2},
		Traces: map[string]assay.Trace{name: {Points: []assay.TracePoint{{Level: first}, {At: after, Level: then}}}},
	}
}

// reading is a program that makes requests and computes all the time, for some seconds.
const reading = `end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do cat in >/dev/null; ` +
	`rm -f x; echo >x; test -e no$$; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; head -c 600000 /dev/zero >x; ` +
	`done; rm x`

// A resource follows its trace while the run goes on. The run reports the mean of the levels that were in force, and is
// verified against each at its time. Control: if the levels are silently not set anew, the run fails. On a busy machine
// only the control of the round trip is sure to fail, since it does not depend on how far the program gets; the others
// have their control in make system.
func TestTraced(t *testing.T) {
	busy := !testbed.Quiet(t)
	for _, c := range []struct {
		name        string
		first, then float64
	}{
		{"cpu", 0.8, 0.1}, {"rtt", 0.001, 0.03}, {"bandwidth", 100e6, 2e6}, {"disk", 4e6, 400e3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := dataSet(t, 1<<20)
			b := newBench(t, workbench.Options{Data: dir})
			job := traced(dir, reading, c.name, c.first, c.then, 600*time.Millisecond)
			m, err := b.Run(t.Context(), job, nil)
			if err != nil {
				t.Fatal(err)
			}
			part := 0.6 / m.Elapsed.Seconds()
			want := part*c.first + (1-part)*c.then
			got, most := m.Metrics[c.name+"_mean"], max(c.first, c.then)
			if !(got > min(c.first, c.then) && got < most) || !busy && !(math.Abs(got-want) <= 0.1*most) {
				t.Errorf("%s_mean is %g, want about %g", c.name, got, want)
			}
			t.Logf("%s: mean %.4g, seen %.4g, %g levels off, %v",
				c.name, m.Metrics[c.name+"_mean"], m.Metrics[c.name+"_seen"], m.Metrics[workbench.LevelsOff], m.Elapsed)
			if c.name != workbench.RTT && !testbed.IsSystem() {
				return
			}
			workbench.Deafen(b)
			_, err = b.Run(t.Context(), job, nil)
			if sure := !busy || c.name == workbench.RTT; sure && !errors.Is(err, workbench.ErrLevels) {
				t.Errorf("levels that were not set anew: %v", err)
			}
		})
	}
}

// A trace that cannot be followed is refused before anything is set up.
func TestTraceRefused(t *testing.T) {
	dir := dataSet(t, 1)
	b := newBench(t, workbench.Options{Data: dir})
	for _, job := range []assay.Job{
		traced(dir, "touch ran", "memory", 1e8, 2e8, time.Second),
		traced(dir, "touch ran", "bandwidth", 1e8, 1, time.Second),
		traced(dir, "touch ran", "cpu", 0.5, 0.4, 0),
	} {
		if m, err := b.Run(t.Context(), job, nil); err == nil {
			t.Errorf("%v: %v", job.Traces, m)
		}
	}
}
