package ledger

import (
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// Each rule that is broken is seen, and a record that keeps them all passes.
func TestRecord(t *testing.T) {
	start := func(n int) assay.Event {
		return assay.Event{Started: &assay.Start{RunID: assay.RunID{Study: "s", Trial: 1, Attempt: n}}}
	}
	end := func(n int, why string, extra bool) assay.Event {
		id := assay.RunID{Study: "s", Trial: 1, Attempt: n}
		return assay.Event{Booked: &assay.AttemptEnd{RunID: id, Why: why, Extra: extra}}
	}
	for _, tt := range []struct {
		events []assay.Event
		want   string
	}{
		{[]assay.Event{start(1), end(1, assay.WhyLost, false), start(2), end(1, "", false), end(2, "", true)}, ""},
		{[]assay.Event{end(1, "", false), start(1)}, "was not begun"},
		{[]assay.Event{start(1), end(1, assay.WhyError, false), end(1, assay.WhyLost, false)}, "and then with"},
		{[]assay.Event{start(1), start(2), end(1, "", false), end(2, assay.WhyStop, false)}, "1 and 2 of"},
		{[]assay.Event{start(1), start(2), end(1, "", false)}, "never booked"},
	} {
		err := Record(tt.events)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}
