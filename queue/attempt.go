package queue

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// A run is what is known of one run: a trial's own, or one that repeats it.
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
	index int      // in the heap of what is open, or in the list of what is placed

	opened   int64 // since when it waits, as the record has it: the earlier one goes first
	priority int

	worker string // the ID; "" if the record alone knows of the attempt and it was not heard of
	curve  Curve
	tail   [2][]byte // the ends of its outputs, as they were last heard of
}

// get returns the attempt of a number, a new one if there is none.
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

// forget gives up all but the names of a run's attempts, if all of them have ended.
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

// settle hands the outcome of a run to whoever waits, and opens the next attempt if
// there is none. The lock is held.
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
			r.Idle = f.now()
			if c.Cause == nil {
				r.Finish(c, a.Latest, a.err())
			} else {
				r.GiveUp(c)
			}
		case alive:
		case c.Cause != nil:
			r.GiveUp(c)
		default:
			f.open(r, max(n, r.Next()), f.now())
		}
	}
}
