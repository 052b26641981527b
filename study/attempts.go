package study

import (
	"time"

	"github.com/assay-run/assay"
)

// attempts is what the record says of attempts that somebody else makes: see
// [assay.Event.Started] and [assay.Event.Booked]. Its zero value is that of an empty record.
type attempts struct {
	lost time.Duration // what the attempts cost that do not count
	// wasted is what each of them cost, for the case that one is booked again.
	wasted map[assay.RunID]time.Duration
	// cpuHours is what all attempts took of the processors that they had, those too that do not count, and uncounted
	// what each of the latter took.
	cpuHours  float64
	uncounted map[assay.RunID]float64
	// queued is how long all attempts waited in the queue of a batch system, and ran how long those took that were
	// in one.
	queued, ran time.Duration
	// begun has the trials of which an attempt has begun that may still count.
	begun map[int64]bool
	// ever has the trials of which an attempt was begun, unless they were told.
	ever map[int64]bool
	// opened has the trials that have no result, with the time since when they are to be run, or to be
	// run once more.
	opened map[int64]time.Time
}

// CPUHours is the metric of an attempt whose sum [Budget.CPUHours] limits.
const CPUHours = "cpu_hours"

// settle completes a booking that takes the place of an earlier one of the same attempt.
func (a *attempts) settle(b *assay.Booking) { b.Undo = a.wasted[b.RunID] }

// note takes in an event, the next on record.
func (a *attempts) note(e assay.Event) {
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
		b := e.Booked
		a.lost += b.Lost()
		delete(a.wasted, b.RunID)
		hours := b.Measurement.Metrics[CPUHours]
		a.cpuHours += hours - a.uncounted[b.RunID] // booked again
		delete(a.uncounted, b.RunID)
		if b.Queued > 0 { // each attempt at a job is booked once
			a.queued += b.Queued
			a.ran += b.Measurement.Elapsed
		}
		if hours > 0 && !b.Counts() {
			if a.uncounted == nil {
				a.uncounted = map[assay.RunID]float64{}
			}
			a.uncounted[b.RunID] = hours
		}
		if b.Counts() {
			return
		}
		if !b.Extra {
			delete(a.begun, b.Trial)
		}
		if _, open := a.opened[b.Trial]; open && b.Repeat == 0 {
			a.opened[b.Trial] = e.At
		}
		if a.wasted == nil {
			a.wasted = map[assay.RunID]time.Duration{}
		}
		a.wasted[b.RunID] = b.Measurement.Elapsed
	}
}

// Lost returns what the attempts cost that do not count: those that were lost, cancelled, or
// made twice. It is no part of the time of a study, which goes on meanwhile.
func Lost(events []assay.Event) time.Duration {
	var a attempts
	for _, e := range events {
		if e.Booked != nil {
			b := *e.Booked
			a.settle(&b)
			e.Booked = &b
		}
		a.note(e)
	}
	return a.lost
}
