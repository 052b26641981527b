package study

import (
	"testing"

	"github.com/assay-run/assay"
)

// What all attempts took of their processors is counted once for each, those too that do not count.
func TestCPUHoursOfAttempts(t *testing.T) {
	var a attempts
	book := func(trial int64, attempt int, why string, hours float64) {
		b := &assay.Booking{
			RunID: assay.RunID{Trial: trial, Attempt: attempt}, Why: why,
			Measurement: assay.Measurement{Metrics: map[string]float64{CPUHours: hours}},
		}
		a.settle(b)
		a.note(assay.Event{Booked: b})
	}
	book(1, 1, "", 2)
	book(2, 1, "lost", 1)
	book(2, 2, "stop", 0.5)
	book(3, 1, "lost", 1)
	book(3, 1, "lost", 1.5) // the same attempt, of which more is known
	if want := 2 + 1 + 0.5 + 1.5; a.cpuHours != want {
		t.Errorf("%g hours, want %g", a.cpuHours, want)
	}
}
