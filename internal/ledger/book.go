package ledger

import (
	"time"

	"github.com/assay-run/assay"
)

// Book returns the end of an attempt to be booked. It returns false if there is nothing to book: the
// attempt has ended before, or it is to be lost, and was not given away or has reported within its
// lease. A lease of 0 means no lease.
func (r *Run[A]) Book(a A, b assay.AttemptEnd, now time.Time, lease time.Duration) (assay.AttemptEnd, bool) {
	e := a.Entry()
	lost := b.Why == assay.WhyLost
	switch {
	case e.State == Ended:
		return b, false
	case lost && (e.State == Open || e.State == Lost):
		return b, false
	case lost && lease > 0 && e.Silent(now) <= lease:
		return b, false // it has reported meanwhile
	}
	if e.Tainted && b.Counts() {
		b.Why = assay.WhyTainted
	}
	b.Worker, b.Extra = e.Worker, (r.Counts() || r.Closed) && !lost
	b.Measurement.Stdout, b.Measurement.Stderr = nil, nil
	return b, true
}

// End puts the booking of an attempt, which is on record, into effect. m is its measurement with the output.
func (r *Run[A]) End(a A, b assay.AttemptEnd, m assay.Measurement) {
	e := a.Entry()
	e.State = Ended
	if b.Why == assay.WhyLost {
		e.State = Lost
	}
	e.Why, e.Reason = b.Why, b.Reason
	if !r.Counts() {
		r.Stdout, r.Stderr = m.Stdout, m.Stderr
	}
	m.Stdout, m.Stderr = nil, nil
	switch b.Why {
	case assay.WhyTainted, assay.WhySetup, assay.WhyError: // the measurement before is worth more
	case assay.WhyCancel, assay.WhyDuplicate: // nothing is learned from the end
		before := e.Latest
		e.Before, e.Latest = &before, m
	default:
		e.Before, e.Latest = nil, m
	}
	if !b.Counts() {
		for _, o := range r.Attempts { // one that was to end for this one goes on
			if o := o.Entry(); o.Ahead && !o.Halted {
				o.Ahead = false
			}
		}
		return
	}
	r.Counted = a
}

// Recall puts a booking of an earlier session into effect.
func (r *Run[A]) Recall(a A, b assay.AttemptEnd) {
	r.End(a, b, b.Measurement)
	a.Entry().Past = true
}

// Tellable reports whether a worker may report this end of an attempt.
func Tellable(why string) bool {
	switch why {
	case "", assay.WhyLimit, assay.WhyStop, assay.WhyCancel, assay.WhyDuplicate, assay.WhyTainted, assay.WhySetup,
		assay.WhyError:
		return true
	}
	return false
}
