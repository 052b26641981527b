package assay

import "time"

// Attempts are what the events of a study say of attempts at its runs that are made elsewhere: see [Event.Started] and
// [Event.Booked]. Of attempts that count and of trials that have ended it keeps sums alone. Its zero value is that of
// an empty record. It is not safe for concurrent use.
type Attempts struct {
	// Lost is what the attempts cost that do not count: those that were lost, cancelled, or made twice. It is no part of
	// the time of a study, which goes on meanwhile.
	Lost time.Duration
	// CPUHours is what all attempts took of the processors that they had, those too that do not count.
	CPUHours float64
	// Queued is how long all attempts waited in the queue of a batch system, and Ran how long those took that were in
	// one.
	Queued, Ran time.Duration

	// wasted is what each of them cost, for the case that one is booked again.
	wasted map[RunID]time.Duration
	// uncounted is what each attempt took of its processors that does not count.
	uncounted map[RunID]float64
	// begun has the trials of which an attempt has begun that may still count.
	begun map[int64]bool
	// ever has the trials of which an attempt was begun, unless they were told.
	ever map[int64]bool
	// opened has the trials that have no result, with the time since when they are to be run, or to be
	// run once more.
	opened map[int64]time.Time
}

// CPUHours is the metric of an attempt that says what it took of its processors.
const CPUHours = "cpu_hours"

// Settle completes a booking that takes the place of an earlier one of the same attempt.
func (a *Attempts) Settle(b *Booking) { b.Undo = a.wasted[b.RunID] }

// Take takes in the next event.
func (a *Attempts) Take(e Event) {
	switch {
	case e.Asked != nil:
		if a.opened == nil {
			a.opened = map[int64]time.Time{}
		}
		a.opened[e.Asked.ID] = e.At
	case e.Started != nil:
		if a.begun == nil {
			a.begun, a.ever = map[int64]bool{}, map[int64]bool{}
		}
		a.begun[e.Started.Trial], a.ever[e.Started.Trial] = true, true
	case e.Told != nil:
		delete(a.begun, e.Told.ID)
		delete(a.ever, e.Told.ID)
		delete(a.opened, e.Told.ID)
	case e.Withdrawn != nil:
		delete(a.begun, e.Withdrawn.Trial)
		delete(a.opened, e.Withdrawn.Trial)
	case e.Booked != nil:
		a.book(e.At, *e.Booked)
	}
}

// book takes in the end of an attempt.
func (a *Attempts) book(at time.Time, b Booking) {
	a.Lost += b.Lost()
	delete(a.wasted, b.RunID)
	hours := b.Measurement.Metrics[CPUHours]
	a.CPUHours += hours - a.uncounted[b.RunID] // booked again
	delete(a.uncounted, b.RunID)
	if b.Queued > 0 { // each attempt at a job is booked once
		a.Queued += b.Queued
		a.Ran += b.Measurement.Elapsed
	}
	if b.Counts() {
		return
	}
	if hours > 0 {
		if a.uncounted == nil {
			a.uncounted = map[RunID]float64{}
		}
		a.uncounted[b.RunID] = hours
	}
	if !b.Extra {
		delete(a.begun, b.Trial)
	}
	if _, open := a.opened[b.Trial]; open && b.Repeat == 0 {
		a.opened[b.Trial] = at
	}
	if a.wasted == nil {
		a.wasted = map[RunID]time.Duration{}
	}
	a.wasted[b.RunID] = b.Measurement.Elapsed
}

// Begun reports whether an attempt at a trial has begun that may still count.
func (a *Attempts) Begun(trial int64) bool { return a.begun[trial] }

// Ever reports whether an attempt at a trial that was not told has ever begun.
func (a *Attempts) Ever(trial int64) bool { return a.ever[trial] }

// Opened returns the time since when the run of a trial waits: when the trial was asked, or when the last attempt at it
// was booked that does not count. It is zero for a trial that has ended.
func (a *Attempts) Opened(trial int64) time.Time { return a.opened[trial] }
