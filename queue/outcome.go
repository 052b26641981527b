package queue

import (
	"fmt"

	"github.com/assay-run/assay"
)

// Why an attempt did not end by itself: see [Outcome] and [assay.Booking].
const (
	whyLimit     = "limit"
	whyStop      = "stop"
	whyCancel    = "cancel"
	whyLost      = "lost"
	whyDuplicate = "duplicate"
	whyTainted   = "tainted"
	whySetup     = "setup"
	whyError     = "error"
)

// tellable reports whether a worker may say so.
func tellable(why string) bool {
	switch why {
	case "", whyLimit, whyStop, whyCancel, whyDuplicate, whyTainted, whySetup, whyError:
		return true
	}
	return false
}

// err returns the error of Run for an attempt that has ended and does not count.
func (a *attempt) err() error {
	switch why := a.why; why {
	case whyTainted:
		return fmt.Errorf("attempt %d of trial %d, on %s: the machine stood still meanwhile: %w", a.n, a.run.key.trial,
			a.where, assay.ErrLost)
	case whySetup:
		return fmt.Errorf("%s: %w: %s", a.where, assay.ErrSetup, a.reason)
	case whyError:
		return fmt.Errorf("on %s: %s", a.where, a.reason)
	}
	return fmt.Errorf("attempt %d of trial %d, on %s: %w", a.n, a.run.key.trial, a.where, assay.ErrLost)
}

// result returns what Run returns of a run that counts.
//
// The error of a run that was stopped is the cause of whoever stopped it. Nobody knows it
// any more after a restart: the run has come to a limit then, as far as can be told.
func (r *run) result(w *waiter) (assay.Measurement, error) {
	a := r.counted
	m := a.so
	m.Stdout, m.Stderr = r.stdout, r.stderr
	m.Where, m.Class = a.where, a.class
	switch {
	case a.why == whyLimit:
		return m, assay.ErrLimit
	case a.why == whyStop && w.cause != nil:
		return m, w.cause
	case a.why == whyStop:
		return m, fmt.Errorf("stopped before (%s): %w", a.reason, assay.ErrLimit)
	}
	return m, nil
}
