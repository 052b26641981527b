package queue

import (
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A state of an attempt. Those that are open or placing are not on record as begun.
type state uint8

const (
	open    state = iota // in the queue of its study
	placing              // Started is being written
	placed               // at a worker
	lost                 // booked as lost: it may come back
	ended                // booked with an outcome
)

// A run is what is known of one run: a trial's own, or one that repeats it.
type run struct {
	m        *member
	key      runKey
	job      assay.Job
	attempts []*attempt // in the order of their numbers
	counted  *attempt   // the one whose outcome counts, or nil
	// What the one that counts printed.
	stdout, stderr []byte
	over           bool    // the record has its result, or nobody wants one
	parted         bool    // whoever waited has let go of it, or has not come back yet
	want           Verdict // what whoever waited wants of it: "", Stop or Cancel
	idle           time.Time
	waiters        []*waiter
	busy           chan struct{} // an outcome is being written; closed when that is done
}

// An attempt is one attempt at a run.
type attempt struct {
	run   *run
	claim *claimed // that it was begun by; nil if that was in another session
	n     int
	state state
	index int // in the heap of what is open, or in the list of what is placed

	opened   int64 // since when it waits, as the record has it: the earlier one goes first
	priority int
	since    time.Time // of its state

	worker  string // the ID; "" if the record alone knows of the attempt and it was not heard of
	where   string
	class   string // of its machine
	heard   time.Time
	so      assay.Measurement
	seen    *assay.Measurement // of one that was cancelled or given up for another: so before it ended
	curve   Curve
	tail    [2][]byte // the ends of its outputs, as they were last heard of
	tainted bool      // the worker's machine or clock stood still
	ahead   bool      // another attempt at the run is ahead
	halted  bool      // the worker was told so
	past    bool      // it was booked before the study joined
	why     string    // it was booked with
	reason  string
}

// get returns the attempt of a number, a new one if there is none.
func (r *run) get(n int) *attempt {
	i, ok := slices.BinarySearchFunc(r.attempts, n, func(a *attempt, n int) int { return a.n - n })
	if !ok {
		r.attempts = slices.Insert(r.attempts, i, &attempt{run: r, n: n})
	}
	return r.attempts[i]
}

// find returns the attempt of a number, or nil.
func (r *run) find(n int) *attempt {
	for _, a := range r.attempts {
		if a.n == n {
			return a
		}
	}
	return nil
}

// id returns the name of an attempt.
func (a *attempt) id() assay.RunID {
	return assay.RunID{Study: a.run.m.Name, Trial: a.run.key.trial, Repeat: a.run.key.repeat, Attempt: a.n}
}

// alive reports whether the attempt runs, or will.
func (a *attempt) alive() bool { return a.state < lost }

// progress returns how long the attempt has run.
func (a *attempt) progress(now time.Time) time.Duration {
	if a.state != placed {
		return 0
	}
	return a.so.Elapsed + now.Sub(a.heard)
}

// alive returns an attempt at the run that is alive, or nil.
func (r *run) alive() *attempt {
	for _, a := range r.attempts {
		if a.alive() {
			return a
		}
	}
	return nil
}

// end puts the booking of an attempt, which is on record, into effect. m is its
// measurement with the output.
func (r *run) end(a *attempt, b assay.Booking, m assay.Measurement) {
	a.state = ended
	if b.Why == whyLost {
		a.state = lost
	}
	a.why, a.reason, a.tail = b.Why, b.Reason, [2][]byte{}
	if r.counted == nil {
		r.stdout, r.stderr = m.Stdout, m.Stderr
	}
	m.Stdout, m.Stderr = nil, nil
	switch b.Why {
	case whyTainted, whySetup, whyError: // what was seen before is worth more
	case whyCancel, whyDuplicate: // nothing is learned from the end
		so := a.so
		a.seen, a.so = &so, m
	default:
		a.seen, a.so = nil, m
	}
	if b.Counts() {
		r.counted = a
	}
}

// moot reports whether an attempt has ended in a way that says nothing of the run and
// uses up none of the attempts that whoever asks for it makes. So has one that could not be set up in an earlier
// session: somebody may have seen to it, and has the study go on.
func (a *attempt) moot() bool {
	return a.state == ended && (a.why == whyCancel || a.why == whyDuplicate || a.why == whySetup && a.past)
}

// answer returns the attempt that stands for the one that was asked for, or the number
// that the next one has: one that was cancelled or given up for another is passed over.
func (r *run) answer(asked int) (*attempt, int) {
	for n := asked; ; n++ {
		if a := r.find(n); a == nil || !a.moot() {
			return a, n
		}
	}
}

// forget gives up all but the names of a run's attempts, if all of them have ended.
func (r *run) forget() bool {
	if slices.ContainsFunc(r.attempts, func(a *attempt) bool { return a.state != ended }) || r.busy != nil ||
		len(r.waiters) > 0 {
		return false
	}
	for _, a := range r.attempts {
		r.m.told[attemptKey{r.key, a.n}] = a == r.counted
		if a.claim != nil { // which is remembered for longer
			a.claim.a = nil
		}
	}
	delete(r.m.runs, r.key)
	return true
}

// place puts an attempt among those at workers. The lock is held.
func (f *Fleet) place(a *attempt) {
	a.state, a.index = placed, len(f.placed)
	f.placed = append(f.placed, a)
	a.run.m.share.run(f.now(), 1)
	if w := f.workers[a.worker]; w != nil {
		w.running++
	}
}

// unplace takes an attempt out of those at workers. The lock is held.
func (f *Fleet) unplace(a *attempt) {
	f.placed = drop(f.placed, a.index)
	if a.index < len(f.placed) {
		f.placed[a.index].index = a.index
	}
	a.run.m.share.run(f.now(), -1)
	if w := f.workers[a.worker]; w != nil {
		w.running--
	}
}

// settle hands the outcome of a run to whoever waits, and opens the next attempt if
// there is none. The lock is held.
func (f *Fleet) settle(r *run) {
	if r.counted != nil {
		f.withdraw(r)
		for _, w := range slices.Clone(r.waiters) {
			w.finish(r.result(w))
			if len(r.waiters) == 0 {
				r.stdout, r.stderr = nil, nil
				f.handed(r)
			}
		}
		return
	}
	for _, w := range slices.Clone(r.waiters) {
		a, n := r.answer(w.asked)
		switch alive := r.alive(); {
		case a != nil && !a.alive():
			r.idle = f.now()
			if w.cause == nil {
				w.finish(a.so, a.err())
			} else {
				w.giveUp()
			}
		case alive != nil:
		case w.cause != nil:
			w.giveUp()
		default:
			f.open(r, max(n, r.next()))
		}
	}
}

// next returns the number of the next attempt at a run.
func (r *run) next() int {
	if len(r.attempts) == 0 {
		return 1
	}
	return r.attempts[len(r.attempts)-1].n + 1
}

// last returns what was last measured of a run; of what is kept as a result only that from which
// something is learned.
func (r *run) last(kept bool) assay.Measurement {
	if len(r.attempts) == 0 {
		return assay.Measurement{}
	}
	a := r.attempts[len(r.attempts)-1]
	m := a.so
	if kept && a.seen != nil {
		m = *a.seen
	}
	m.Stdout, m.Stderr = r.stdout, r.stderr
	return m
}
