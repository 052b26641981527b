package stop_test

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/stop"
)

func TestAuditConformance(t *testing.T) {
	assaytest.TestStopper(t, func() assay.Stopper { return stop.Audit{Rule: stop.Incumbent{}, Share: 0.5, Seed: 3} })
}

// The share of the trials that the rule would stop goes on, with the reason in its decision; all others are
// decided by the rule. The same trials are audited whenever they are asked about, other
// ones with another seed, and not those that a rule spares with the same seed.
func TestAudit(t *testing.T) {
	h := []assay.Trial{trial(1, assay.Done, 10)}
	rule := stop.Incumbent{}
	space := integers(t, 20, 20)
	spares := stop.NewPredictive(space, stop.PredictiveOptions{Learner: constant{mean: 1e6}, Spare: 0.2, Seed: 7})
	slow := finishedSlope(40, 5)
	const n = 5000
	count, both, other := 0, 0, 0
	for id := int64(2); id < 2+n; id++ {
		a := stop.Audit{Rule: rule, Share: 0.2, Seed: 7}
		if d := a.Decide(h, trial(id, assay.Running, 9)); d.Stop || d.Audited || !math.IsNaN(d.Predicted) {
			t.Fatalf("a run below the best: %+v", d)
		}
		want := rule.Decide(h, trial(id, assay.Running, 11))
		d := a.Decide(h, trial(id, assay.Running, 11))
		if d.Stop == d.Audited || !strings.HasSuffix(d.Reason, want.Reason) {
			t.Fatalf("a run above the best: %+v, the rule has %+v", d, want)
		}
		if later := a.Decide(h, trial(id, assay.Running, 12)); later.Audited != d.Audited {
			t.Fatalf("trial %d is audited at one time and not at another", id)
		}
		if d.Stop {
			continue
		}
		count++
		if (stop.Audit{Rule: rule, Share: 0.2, Seed: 8}).Decide(h, trial(id, assay.Running, 11)).Audited {
			other++
		}
		if !spares.Decide(slow, runningAt(id, assay.Config{1, 1}, 0.1)).Stop {
			both++
		}
	}
	// Four standard deviations: 1,000 ± 113 of 5,000, and 200 ± 51 of the 1,000.
	if count < 887 || count > 1113 {
		t.Errorf("%d of %d trials were audited, want about a fifth", count, n)
	}
	if both < 149 || both > 251 || other < 149 || other > 251 {
		t.Errorf("of %d audited trials, %d are spared too and %d audited with another seed, want about a fifth",
			count, both, other)
	}
}
