package assay

import "time"

// Attempts is the accounting of remote attempts at runs, computed from the events of a study: see [Event.Started] and
// [Event.Booked]. It keeps only sums of counted attempts and of ended trials. The zero value is an empty record. It is
// not safe for concurrent use.
type Attempts struct {
	// Lost is the cost of the attempts that do not count: lost, cancelled and duplicate ones. It is not part of the time
	// of a study, which continues meanwhile.
	Lost time.Duration
	// CPUHours is the sum of requested processors × hours over all attempts, including the ones that do not count.
	CPUHours float64
	// Queued is how long all attempts waited in the queue of a batch system, and Ran how long those took that were in
	// one.
	Queued, Ran time.Duration

	// wasted is the cost of each uncounted attempt, in case the attempt is booked again.
	wasted map[RunID]time.Duration
	// uncounted is the CPUHours of each uncounted attempt.
	uncounted map[RunID]float64
	// begun has the trials of which an attempt has begun that may still count.
	begun map[int64]bool
	// ever holds the trials with a begun attempt, until they have a result.
	ever map[int64]bool
	// opened has the trials that have no result, with the time since when they are to be run, or to be
	// run once more.
	opened map[int64]time.Time
}

// CPUHours is the metric of an attempt for its requested processors × hours.
const CPUHours = "cpu_hours"

// Settle completes a booking that takes the place of an earlier one of the same attempt.
func (a *Attempts) Settle(b *AttemptEnd) { b.Undo = a.wasted[b.RunID] }

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
func (a *Attempts) book(at time.Time, b AttemptEnd) {
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

// Ever reports whether an attempt at an untold trial has ever begun.
func (a *Attempts) Ever(trial int64) bool { return a.ever[trial] }

// Opened returns the time since when the run of a trial waits: when the trial was asked, or when the last attempt at it
// was booked that does not count. It is zero for a trial that has ended.
func (a *Attempts) Opened(trial int64) time.Time { return a.opened[trial] }
