package batch_test

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay/internal/batch"
)

// saidCases are the cases in which Debian's Slurm 22.05.8 was seen to report something untrue, as a
// stand-in repeats them. TestRealSlurm tries them on Slurm itself.
func saidCases() []scenario {
	timedOut := errors.New("Socket timed out on send/recv operation")
	says := func(s batch.State, said string) func(*cluster) {
		return func(c *cluster) { c.lies, c.said = s, said }
	}
	away := func(c *cluster, _ func(), n int) { // the controller dies soon after a submission
		if n > 2 {
			return
		}
		c.set2(func() { c.down = true })
		time.Sleep(90 * time.Second)
		c.set2(func() { c.down = false })
	}
	return []scenario{
		{name: "codes 0 to 7: COMPLETED and FAILED, in whole seconds", lie: says(batch.Over, "COMPLETED")},
		{name: "a signal: 11:0 FAILED", lie: says(batch.Over, "FAILED")},
		{
			name: "scancel: 0:0 CANCELLED, the program dies first", lie: every(2, fault{group: 5 * time.Second, code: 143}),
			more: true,
		},
		{
			name: "scancel: 15:0 FAILED, the program ends well first", lie: every(2, fault{group: 5 * time.Second, code: 0}),
			more: true,
		},
		{name: "controller killed, the job ends meanwhile: no such job, PENDING for ever", lie: func(c *cluster) {
			c.forgets, c.pending = true, true
		}, chaos: away},
		{name: "the next job has the same number", lie: every(2, fault{reuse: true})},
		{name: "that job is cancelled: its node knows the number", lie: func(c *cluster) {
			c.onSubmit = func(n int) fault { return fault{reuse: n%2 == 0, drop: n%2 == 0} }
		}, more: true},
		{
			name: "controller killed at once: PENDING, then it runs", lie: every(2, fault{late: 2 * time.Minute, err: timedOut}),
			chaos: away,
		},
		{name: "slurmd killed: RUNNING, COMPLETING, FAILED 5:0", lie: says(batch.Going, "COMPLETING")},
		{name: "requeued all the same", lie: every(1, fault{twice: true})},
		{
			name: "sacct knows nothing right after sbatch",
			lie:  func(c *cluster) { c.noRecord = true; every(2, fault{err: timedOut})(c) },
		},
		{name: "cancelled while it waits: no row in sacct", lie: func(c *cluster) {
			c.noRecord = true
			every(2, fault{drop: true})(c)
		}, more: true},
		{name: "after MinJobAge: no such job", lie: func(c *cluster) { c.forgets, c.noRecord = true, true }},
		{name: "submitted, and an error returned", lie: every(1, fault{err: timedOut})},
	}
}

// Each run has its true outcome, once, whatever Slurm reports in these cases. The controls are a claim that
// is taken away, so that a run is made twice, and a reader that believes Slurm's reports.
func TestSaid(t *testing.T) {
	rounds := 1
	if os.Getenv("ASSAY_SOAK") != "" {
		rounds = 10
	}
	all, control := &tally{}, &tally{}
	believed := 0
	for _, sc := range saidCases() {
		t.Run(sc.name, func(t *testing.T) {
			for round := range rounds {
				synctest.Test(t, func(t *testing.T) {
					y := sc.run(t, round)
					all.add(t, y, true)
					believed += y.misled
				})
			}
		})
	}
	for round := range rounds {
		synctest.Test(t, func(t *testing.T) {
			control.add(t, scenario{lie: every(1, fault{again: true})}.run(t, round), false)
		})
	}
	if control.twice < 4*rounds {
		t.Errorf("the control: without claims %v", control)
	}
	if believed < 20*rounds {
		t.Errorf("the control: %d outcomes are wrong for who believes Slurm", believed)
	}
	t.Logf("counted: %d cases: %v; the controls: %d of %d made twice without claims, %d of %d outcomes wrong by Slurm's "+
		"word",
		len(saidCases()), all, control.twice, control.trials, believed, all.trials)
}
