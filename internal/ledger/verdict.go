package ledger

import "time"

// Words for whether an attempt goes on. They are stored in the spool and sent on the wire.
const (
	Go        = "go"        // go on
	Stop      = "stop"      // end it: the value so far is a lower bound
	Cancel    = "cancel"    // end it: nothing is learned
	Duplicate = "duplicate" // end it: another attempt is ahead
)

// Abandoned reports whether no caller has waited for the run for a lease, since an attempt at it did not
// count.
func (r *Run[A]) Abandoned(now time.Time, lease time.Duration) bool {
	return r.Idling() && now.Sub(r.Idle) > lease
}

// Idling reports whether no caller waits for the run since an attempt at it did not count.
func (r *Run[A]) Idling() bool { return len(r.Calls) == 0 && !r.Parted && !r.Idle.IsZero() }

// Verdict decides whether an attempt goes on. evicted means that its worker is to run nothing.
//
// If two are placed, the one that has run longer goes on, since these runs are costly. The verdict on
// the other is final, so that not both end.
func (r *Run[A]) Verdict(a A, now time.Time, lease time.Duration, evicted bool) string {
	e := a.Entry()
	switch {
	case r.Closed, evicted:
		return Cancel
	case r.Counts():
		return Duplicate
	case e.State != Placed:
		return Cancel
	case r.Want != "":
		return r.Want
	case r.Abandoned(now, lease):
		return Cancel
	}
	return r.race(e, now)
}

// race decides between an attempt and another one that is placed.
func (r *Run[A]) race(e *Attempt, now time.Time) string {
	var rival *Attempt
	for _, o := range r.Attempts {
		o := o.Entry()
		if o != e && (o.State == Placed || o.State == Placing) && !o.Ahead && !o.Tainted {
			rival = o
		}
	}
	switch {
	case e.Tainted && rival == nil:
		return Cancel
	case e.Ahead, e.Tainted:
		return Duplicate
	case rival == nil:
		return Go
	}
	if p, q := e.Progress(now), rival.Progress(now); p < q || p == q && e.N > rival.N {
		e.Ahead = true
		return Duplicate
	}
	rival.Ahead = true
	return Go
}
