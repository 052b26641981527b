package assay_test

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// The processor time of each attempt is counted once, also if the attempt does not count.
func TestCPUHoursOfAttempts(t *testing.T) {
	var a assay.Attempts
	book := func(trial int64, attempt int, why string, hours float64) {
		b := &assay.AttemptEnd{
			RunID: assay.RunID{Trial: trial, Attempt: attempt}, Why: why,
			Measurement: assay.Measurement{Metrics: map[string]float64{assay.CPUHours: hours}},
		}
		a.Settle(b)
		a.Take(assay.Event{Booked: b})
	}
	book(1, 1, "", 2)
	book(2, 1, "lost", 1)
	book(2, 2, "stop", 0.5)
	book(3, 1, "lost", 1)
	book(3, 1, "lost", 1.5) // the same attempt, of which more is known
	if want := 2 + 1 + 0.5 + 1.5; a.CPUHours != want {
		t.Errorf("%g hours, want %g", a.CPUHours, want)
	}
}

// How long jobs waited and ran is summed over all attempts at jobs, those too that do not count, and of nothing else.
func TestQueuedOfAttempts(t *testing.T) {
	var a assay.Attempts
	for i, b := range []assay.AttemptEnd{
		{Queued: 3 * time.Minute, Measurement: assay.Measurement{Elapsed: time.Minute}},
		{Queued: 2 * time.Minute, Why: "lost", Measurement: assay.Measurement{Elapsed: 30 * time.Second}},
		{Queued: time.Minute, Why: "cancel"},
		{Measurement: assay.Measurement{Elapsed: time.Hour}}, // of a fleet
	} {
		b.Trial, b.Attempt = int64(i), 1
		a.Take(assay.Event{Booked: &b})
	}
	if a.Queued != 6*time.Minute || a.Ran != 90*time.Second {
		t.Errorf("waited %v, ran %v", a.Queued, a.Ran)
	}
}
