package study

import (
	"fmt"

	"github.com/assay-run/assay"
)

// exitReason says how a run failed: its exit code or signal, and the last line
// of its error output, or of its output if that is empty. Programs most often say
// last what ended them. The text is for people: it is stored, and never read back.
func exitReason(m assay.Measurement) string {
	r := fmt.Sprintf("exit code %d", m.ExitCode)
	if m.Signal != "" {
		r = "ended by " + m.Signal
	}
	last := assay.LastLine(m.Stderr)
	if last == "" {
		last = assay.LastLine(m.Stdout)
	}
	if last != "" {
		r += ": " + last
	}
	return r
}
