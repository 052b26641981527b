package ledger

// This file checks records of runs that are made elsewhere, for the tests of queue and batch.

import (
	"fmt"

	"github.com/assay-run/assay"
)

// Record returns the first rule of attempts that a record breaks, in its order. Each attempt begins
// before it ends, ends with one outcome at most, after any number of losses, and is booked in the end.
// At most one outcome of each run counts.
func Record(events []assay.Event) error {
	begun := map[assay.RunID]bool{}
	last := map[assay.RunID]assay.AttemptEnd{}
	counts := map[assay.RunID]assay.AttemptEnd{} // by run: the attempt is 0
	for _, e := range events {
		switch {
		case e.Started != nil:
			begun[e.Started.RunID] = true
		case e.Booked != nil:
			b := *e.Booked
			old, again := last[b.RunID]
			switch {
			case !begun[b.RunID]:
				return fmt.Errorf("attempt %v is booked and was not begun", b.RunID)
			case again && old.Why != assay.WhyLost:
				return fmt.Errorf("attempt %v has ended with %q, and then with %q", b.RunID, old.Why, b.Why)
			}
			last[b.RunID] = b
			if !b.Counts() {
				continue
			}
			run := b.RunID
			run.Attempt = 0
			if old, twice := counts[run]; twice {
				return fmt.Errorf("attempts %d and %d of %v count", old.Attempt, b.Attempt, run)
			}
			counts[run] = b
		}
	}
	for id := range begun {
		if _, ok := last[id]; !ok {
			return fmt.Errorf("attempt %v was begun and never booked", id)
		}
	}
	return nil
}
