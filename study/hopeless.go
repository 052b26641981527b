package study

import (
	"fmt"
	"regexp"

	"github.com/assay-run/assay"
)

// numerals matches the parts of a failure's text that differ from run to run: times, process ids, addresses, the
// values of parameters.
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
