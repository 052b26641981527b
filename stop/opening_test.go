package stop_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/stop"
)

func TestOpeningConformance(t *testing.T) {
	assaytest.TestStopper(t, func() assay.Stopper { return stop.Opening{Rule: stop.Incumbent{}, Limit: time.Hour} })
	assaytest.TestStopper(t, func() assay.Stopper { return stop.Opening{Rule: stop.Incumbent{}} })
}

// The limits before a trial has finished are 1, 1, 2, 4 and none; from then on
// the rule decides, whatever the time.
func TestOpeningLimits(t *testing.T) {
	rule := stop.Opening{Rule: stop.Incumbent{}, Limit: time.Minute}
	var h []assay.Trial
	for k, want := range []time.Duration{1, 1, 2, 4, 0, 0} {
		for _, at := range []time.Duration{1, 2, 3, 4, 5, 1000} {
			r := trial(99, assay.Running, 1e6)
			r.Measurement.Elapsed = at * time.Minute
			d := rule.Decide(h, r)
			if stops := want > 0 && at >= want; d.Stop != stops {
				t.Errorf("after %d stopped runs, %v: stop %v, want %v", k, r.Measurement.Elapsed, d.Stop, stops)
			} else if stops && !strings.Contains(d.Reason, fmt.Sprintf("taken %.3g s", r.Measurement.Elapsed.Seconds())) {
				t.Errorf("got reason %q", d.Reason)
			}
			if d := rule.Decide(append(slices.Clone(h), trial(98, assay.Done, 2e6)), r); d.Stop {
				t.Errorf("stopped at %v with a finished trial that took longer: %s", r.Measurement.Elapsed, d.Reason)
			}
		}
		h = append(h, trial(int64(k+1), assay.Censored, 1), trial(int64(k+20), assay.Failed, 1))
	}
}

// Whatever the runs take, no more than eight times the limit is spent on runs that
// are stopped before the first one finishes.
func TestOpeningLoses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := stop.Opening{Rule: stop.None{}, Limit: 100 * time.Second}
		var h []assay.Trial
		lost := 0
		for {
			length := rapid.IntRange(1, 2000).Draw(t, "seconds")
			r, stopped := trial(int64(len(h)+1), assay.Running, 1), false
			for s := 1; s < length && !stopped; s++ {
				r.Measurement.Elapsed = time.Duration(s) * time.Second
				if stopped = rule.Decide(h, r).Stop; stopped {
					lost += s
				}
			}
			if !stopped {
				break
			}
			r.State = assay.Censored
			h = append(h, r)
		}
		if lost > 800 {
			t.Fatalf("lost %d s with a limit of 100 s", lost)
		}
	})
}
