// This file defines the meaning of events: the state of each trial and the summary of the study. All code that shows or
// keeps trials uses [Project], event by event, so that a projection kept in a file and a new one cannot differ.

package assay

import (
	"math"
	"time"
)

// NewSummary returns the summary of a study without events.
// The value of no best trial is +Inf, so that any finite one is better.
func NewSummary(study string, created time.Time) Summary {
	return Summary{Study: study, Created: created, Counts: map[State]int64{}, Value: math.Inf(1)}
}

// Project counts event e, the next of the study, in sum and returns the resulting row of its trial. old is the earlier
// trial, if it is known. Project needs the state of old, and to withdraw the trial also its proposal and its start.
//
// changed is false if the event leaves the row as it is: a trial asked again, a second result or a withdrawal of a
// final trial, and an event that is not about the state of a trial. No other code interprets events for the projection;
// a [Table] holds the values that depend on all events of a study. Project must see the events in order, each once: the
// number of the row is sum.Events. It changes sum.Counts in place, so a copy of sum shares the map with it. row shares
// the memory of e and old.
//
// Best never has to be recomputed: a trial that is done stays done.
func Project(sum *Summary, e Event, old Trial, known bool) (row TrialRow, changed bool) {
	sum.count(e)
	row.Seq = sum.Events
	switch {
	case e.Asked != nil && !known:
		row.Trial = Trial{Proposal: *e.Asked, Value: math.NaN(), Started: e.At}
	case e.Told != nil && !(known && old.State.Final()):
		row.Trial = *e.Told
	case e.Withdrawn != nil && known && !old.State.Final():
		row.Trial = Trial{
			Proposal: old.Proposal, State: Withdrawn, Value: math.Inf(1), Reason: e.Withdrawn.Reason,
			Started: old.Started, Ended: e.At,
		}
	default:
		return TrialRow{}, false
	}
	// A state without a trial has no entry, so that equal summaries have equal maps.
	if known {
		if sum.Counts[old.State]--; sum.Counts[old.State] == 0 {
			delete(sum.Counts, old.State)
		}
	}
	sum.Counts[row.Trial.State]++
	// Among equal values the first stays. NaN is never less.
	if row.Trial.State == Done && row.Trial.Value < sum.Value {
		sum.Best, sum.Value = row.Trial.ID, row.Trial.Value
	}
	return row, true
}

// count adds an event about the study as a whole.
func (s *Summary) count(e Event) {
	s.Events++
	if s.Events == 1 {
		s.First = e.At
	}
	s.Last, s.Spent = e.At, e.Spent
	if !e.aside() {
		s.Ended = "" // an event after the end of a study means that it has resumed
	}
	switch {
	case e.Checked != nil:
		s.Checks++
	case e.Ended != nil:
		s.Ended = e.Ended.By
	case e.Booked != nil:
		s.Lost += e.Booked.Lost()
	case e.Steered != nil:
		switch e.Steered.Do {
		case "run", "pause", "stop":
			s.Steered = e.Steered.Do
		case "priority":
			s.Priority = e.Steered.Priority
		}
	}
}

// aside reports whether an event may come behind the end of a study that does not go on: the
// booking of a run that was late, a worker that goes on, or a decision for the next time.
func (e Event) aside() bool {
	return e.Booked != nil || e.Drifted != nil || e.Steered != nil && e.Steered.Do != "run"
}

// TrialOf returns the ID of the trial whose state e is about, if any.
// Started, checked and ordered name a trial too, but leave its state alone: see [About].
func TrialOf(e Event) (id int64, ok bool) {
	switch {
	case e.Asked != nil:
		return e.Asked.ID, true
	case e.Told != nil:
		return e.Told.ID, true
	case e.Withdrawn != nil:
		return e.Withdrawn.Trial, true
	}
	return 0, false
}

// About returns the trials that an event names, other than in a proposal or a result.
func About(e Event) []int64 {
	switch {
	case e.Started != nil:
		return []int64{e.Started.Trial}
	case e.Booked != nil:
		return []int64{e.Booked.Trial}
	case e.Checked != nil:
		return []int64{e.Checked.ID}
	case e.Ordered != nil:
		return []int64{e.Ordered.Trial}
	case e.Withdrawn != nil:
		return []int64{e.Withdrawn.Trial}
	case e.Given != nil:
		return e.Given.Restores
	}
	return nil
}
