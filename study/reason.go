package study

import (
	"fmt"

	"github.com/assay-run/assay"
)

// exitReason describes how a run failed: its exit code or signal, and its [assay.Measurement.LastWords]. The text is
// for people: it is stored, and never read back.
func exitReason(m assay.Measurement) string {
	r := fmt.Sprintf("exit code %d", m.ExitCode)
	if m.Signal != "" {
		r = "ended by " + m.Signal
	}
	return r + m.LastWords()
}
