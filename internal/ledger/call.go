package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A Call is one caller that waits for the outcome of a run.
type Call struct {
	Asked    int               // the attempt
	Interval time.Duration     // at which it observes
	Seen     time.Duration     // up to where it has observed the run
	Observed assay.Measurement // last
	Beats    chan Observation  // nil if it does not observe
	Cause    error             // of its context, once that is done
	Left     chan struct{}     // closed by the caller when it has gone
	Done     chan struct{}     // closed when M and Err are known
	M        assay.Measurement
	Err      error
}

// An Observation is a measurement so far on its way to a caller.
type Observation struct {
	M    assay.Measurement
	Seen chan struct{} // closed when it was observed; nil if no caller waits for that
}

// Wait adds a call that waits for the outcome.
func (r *Run[A]) Wait(asked int, interval time.Duration, observes bool) *Call {
	c := &Call{Asked: asked, Interval: interval, Left: make(chan struct{}), Done: make(chan struct{})}
	if observes && interval > 0 {
		c.Beats = make(chan Observation)
	}
	r.Calls = append(r.Calls, c)
	return c
}

// Over reports whether the outcome of a call is known.
func (c *Call) Over() bool {
	select {
	case <-c.Done:
		return true
	default:
		return false
	}
}

// Due reports whether the call is to observe a measurement, and notes that it does: at most once an interval of the
// run's own time.
func (c *Call) Due(m assay.Measurement) bool {
	if c.Beats == nil || c.Cause != nil || m.Elapsed < c.Seen-c.Seen%c.Interval+c.Interval {
		return false
	}
	c.Seen, c.Observed = m.Elapsed, m
	return true
}

// Finish lets a call return.
func (r *Run[A]) Finish(c *Call, m assay.Measurement, err error) {
	r.Calls = slices.DeleteFunc(r.Calls, func(o *Call) bool { return o == c })
	c.M, c.Err = m, err
	close(c.Done)
}

// Leave ends the waiting of a call whose context is done. A detached call returns, and so does one of
// several: the run continues for the others. The last one has the run stopped or cancelled, and waits
// for its outcome.
func (r *Run[A]) Leave(c *Call, cause error) {
	c.Cause = cause
	switch keep := Keeps(cause); {
	case errors.Is(cause, assay.ErrDetached):
		r.Finish(c, assay.Measurement{}, cause)
		r.Parted = true
	case len(r.Calls) > 1:
		r.Finish(c, r.Last(keep), cause)
	case keep && r.Want != Cancel:
		r.Want = Stop
	default:
		r.Want = Cancel
	}
}

// GiveUp ends a call that is to end, with the measurement so far. No outcome of the run counts any more.
func (r *Run[A]) GiveUp(c *Call) {
	r.Closed = true
	m := r.Last(Keeps(c.Cause))
	if m.Elapsed < c.Observed.Elapsed {
		m = c.Observed
	}
	r.Finish(c, m, c.Cause)
}

// Result returns the result of a call, for a run that counts. who names the attempt that counts, for
// people.
//
// The error of a run that was stopped is the cause of its caller. It is not known after a restart: the
// run is assumed to have reached a limit then.
func (r *Run[A]) Result(c *Call, who string) (assay.Measurement, error) {
	e := r.Counted.Entry()
	m := e.Latest
	m.Stdout, m.Stderr = r.Stdout, r.Stderr
	if e.Why == assay.WhyStop && c.Cause != nil {
		return m, c.Cause
	}
	return m, e.Err(who)
}

// Keeps reports whether the cause that ends a run keeps the measurement so far. An error with a method
// Stops() bool decides itself. Among other errors, [context.Canceled], [context.DeadlineExceeded] and
// errors of the class conflict cancel the run, and nothing is learned from it; the rest stop it.
func Keeps(cause error) bool {
	var s interface{ Stops() bool }
	switch {
	case errors.As(cause, &s):
		return s.Stops()
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return false
	}
	return assay.ClassOf(cause) != assay.ClassConflict
}
