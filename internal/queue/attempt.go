package queue

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// A run is the state of one run: the first of a trial, or a repeat of it.
type run struct {
	ledger.Run[*attempt]
	m    *member
	key  runKey
	job  assay.Job
	busy chan struct{} // an outcome is being written; closed when that is done
}

// An attempt is one attempt at a run.
type attempt struct {
	ledger.Attempt
	run   *run
	claim *claimed // that it was begun by; nil if that was in another session
	index int      // in the heap of open attempts, or in the list of placed ones

	opened   int64 // since when it waits, as the record has it: the earlier one goes first
	priority int

	worker string // the ID; "" if the attempt is known from the record only, and its worker has sent nothing yet
	curve  Curve
	tail   [2][]byte // the ends of its outputs, from the latest beat
}

// get returns attempt n, creating it if necessary.
func (r *run) get(n int) *attempt {
	if a, ok := r.Find(n); ok {
		return a
	}
	a := &attempt{run: r, Attempt: ledger.Attempt{N: n}}
	r.Add(a)
	return a
}

// id returns the name of an attempt.
func (a *attempt) id() assay.RunID {
	return assay.RunID{Study: a.run.m.Name, Trial: a.run.key.trial, Repeat: a.run.key.repeat, Attempt: a.N}
}

// forget reduces a run to the names of its attempts, if all of them have ended.
func (r *run) forget() bool {
	if !r.Forgettable() || r.busy != nil {
		return false
	}
	for _, a := range r.Attempts {
		r.m.told[attemptKey{r.key, a.N}] = a == r.Counted
		if a.claim != nil { // which is remembered for longer
			a.claim.a = nil
		}
	}
	delete(r.m.runs, r.key)
	return true
}

// settle hands the outcome of a run to its callers. Without an outcome it opens the next attempt. The lock is held.
func (f *Fleet) settle(r *run) {
	if r.Counts() {
		f.withdraw(r)
		for _, c := range slices.Clone(r.Calls) {
			m, err := r.result(c)
			r.Finish(c, m, err)
			if len(r.Calls) == 0 {
				r.Stdout, r.Stderr = nil, nil
				r.m.hand(r)
			}
		}
		return
	}
	for _, c := range slices.Clone(r.Calls) {
		a, n, ok := r.Answer(c.Asked)
		switch alive := r.Alive(); {
		case ok && !a.Alive():
			r.Idle = f.o.Now()
			if c.Cause == nil {
				r.Finish(c, a.Latest, a.err())
			} else {
				r.GiveUp(c)
			}
		case alive:
		case c.Cause != nil:
			r.GiveUp(c)
		default:
			f.open(r, max(n, r.Next()), f.o.Now())
		}
	}
}
