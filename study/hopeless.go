package study

import (
	"fmt"
	"regexp"

	"github.com/assay-run/assay"
)

// hopeless reports whether the first trials of this session, Hopeless of them, all failed for
// one reason, and no trial on record ever did anything but fail. Then it is not the
// configurations that are at fault: a metric that never appears, a server that is not
// installed. A session that goes on tries as many again, since somebody may have seen to it.
func (l *loop) hopeless() bool {
	if l.Hopeless <= 0 || len(l.history)-l.replayed != l.Hopeless {
		return false
	}
	for t := range l.all(0) {
		if t.State != assay.Failed {
			return false
		}
	}
	first := sameReason(l.told(l.replayed))
	for t := range l.all(l.replayed) {
		if sameReason(t) != first {
			return false
		}
	}
	return true
}

// numerals are what differs in the words of one failure from run to run: times, process ids,
// addresses, the values of parameters.
var numerals = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+([.][0-9]+)?`)

// sameReason returns a text that is equal for trials which failed for the same reason: at the
// same step, with the same exit code and the same words but for the numbers in them.
func sameReason(t assay.Trial) string {
	step := ""
	if f := t.Measurement.Failure; f != nil {
		step = f.Step
	}
	return fmt.Sprint(step, t.Measurement.ExitCode, numerals.ReplaceAllString(t.Reason, "#"))
}
