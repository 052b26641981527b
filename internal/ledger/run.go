package ledger

import (
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A Run is the state of one run: a trial's own, or one that repeats it.
type Run[A Entry] struct {
	Attempts []A  // in the order of their numbers
	Counted  A    // the one whose outcome counts, or the zero value
	Closed   bool // the record has its result, or none is wanted
	// Parted reports that its callers have let go of it, or have not come back yet.
	Parted bool
	Want   string // of its callers: "", Stop or Cancel
	// Idle is the time since which no caller has waited after an attempt that did not count; zero if not
	// idle.
	Idle  time.Time
	Calls []*Call
	// Stdout and Stderr are the outputs of the attempt that counts.
	Stdout, Stderr []byte
}

// Find returns the attempt of a number; false if it does not exist.
func (r *Run[A]) Find(n int) (a A, ok bool) {
	i, ok := r.index(n)
	if !ok {
		return a, false
	}
	return r.Attempts[i], true
}

func (r *Run[A]) index(n int) (int, bool) {
	return slices.BinarySearchFunc(r.Attempts, n, func(a A, n int) int { return a.Entry().N - n })
}

// Add adds an attempt, whose number no other one has.
func (r *Run[A]) Add(a A) {
	i, _ := r.index(a.Entry().N)
	r.Attempts = slices.Insert(r.Attempts, i, a)
}

// Remove removes an attempt that is not on record.
func (r *Run[A]) Remove(a A) {
	r.Attempts = slices.DeleteFunc(r.Attempts, func(o A) bool { return o == a })
}

// Next returns the number of the next attempt.
func (r *Run[A]) Next() int {
	if len(r.Attempts) == 0 {
		return 1
	}
	return r.Attempts[len(r.Attempts)-1].Entry().N + 1
}

// Alive reports whether an attempt runs, or will.
func (r *Run[A]) Alive() bool {
	return slices.ContainsFunc(r.Attempts, func(a A) bool { return a.Entry().Alive() })
}

// Counts reports whether the outcome of an attempt counts.
func (r *Run[A]) Counts() bool {
	var none A
	return r.Counted != none
}

// Answer returns the attempt that answers a request for the attempt asked. Without one, it returns the
// number of the next attempt. An ignorable attempt is passed over.
func (r *Run[A]) Answer(asked int) (a A, n int, ok bool) {
	for n := asked; ; n++ {
		if a, ok := r.Find(n); !ok || !a.Entry().Ignorable() {
			return a, n, ok
		}
	}
}

// Last returns the last measurement of the run. With keep it is a result: for an attempt that was
// cancelled or given up, only the measurement before counts.
func (r *Run[A]) Last(keep bool) assay.Measurement {
	if len(r.Attempts) == 0 {
		return assay.Measurement{}
	}
	a := r.Attempts[len(r.Attempts)-1].Entry()
	m := a.Latest
	if keep && a.Before != nil {
		m = *a.Before
	}
	m.Stdout, m.Stderr = r.Stdout, r.Stderr
	return m
}

// Startable reports whether an attempt that is about to begin is still wanted.
func (r *Run[A]) Startable(a A) bool {
	return !r.Counts() && r.Want == "" && !r.Closed && !a.Entry().Ahead && (len(r.Calls) > 0 || r.Parted)
}

// Revive takes back an attempt that was booked as lost and has reported: it is placed again. It reports
// whether it did.
func (r *Run[A]) Revive(a A, now time.Time) bool {
	e := a.Entry()
	if e.State != Lost || r.Counts() || r.Closed {
		return false
	}
	e.Heard, e.Ahead, e.Halted = now, false, false
	return true
}

// Forgettable reports whether all attempts have ended and no call waits.
func (r *Run[A]) Forgettable() bool {
	return len(r.Calls) == 0 && !slices.ContainsFunc(r.Attempts, func(a A) bool { return a.Entry().State != Ended })
}
