package stop_test

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/stop"
)

func TestMiddle(t *testing.T) {
	assaytest.TestStopper(t, func() assay.Stopper { return stop.Middle{} })
}

func TestMiddleDecides(t *testing.T) {
	history := []assay.Trial{
		trial(1, assay.Done, 30), trial(2, assay.Failed, math.Inf(1)),
		trial(3, assay.Done, 10), trial(4, assay.Done, 20),
	}
	for _, c := range []struct {
		history []assay.Trial
		value   float64
		reason  string // "" means go on
	}{
		{history, 19.9, ""},
		{history, 20, "20 so far, the median is 20 (trial 4)"},
		{history[:3], 1e9, ""},
	} {
		d := stop.Middle{}.Decide(c.history, trial(9, assay.Running, c.value))
		if d.Stop != (c.reason != "") || d.Reason != c.reason {
			t.Errorf("at %v: got %+v, want the reason %q", c.value, d, c.reason)
		}
	}
}
