package store

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/assay-run/assay"
)

// A TrialRow is the present state of one trial of a study.
type TrialRow struct {
	Seq   int64 // number of the event that it comes from, counted from 1
	Trial assay.Trial
}

// A Summary is what there is to say about a study without its trials.
type Summary struct {
	Study   string
	Created time.Time
	Events  int64                 // number of events
	Counts  map[assay.State]int64 // trials by State; those of which there are none are left out
	Checks  int64                 // number of runs outside the search
	Best    int64                 // ID of the trial that [assay.Best] returns, or 0
	Value   float64               // its value, or +Inf
	Spent   time.Duration         // of the time budget, at the last event
	First   time.Time             // of the first event, or zero
	Last    time.Time             // of the last event, or zero
	Ended   string                // why the last session ended; "" if it has not said so
}

// Trials returns the number of trials in any state.
func (s Summary) Trials() int64 {
	var n int64
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// A Projector is a Store that keeps the state of each trial and each study
// beside the events, so that a list is quick. Reading needs no lock.
type Projector interface {
	// Trials yields the trials of a study in the order of their IDs. A trial
	// that was asked is Running since the event, with Value NaN, until it is
	// told; the first final state that is told stays.
	Trials(ctx context.Context, study string) iter.Seq2[TrialRow, error]
	// Summary returns the summary of one study.
	Summary(ctx context.Context, study string) (Summary, error)
	// Summaries yields those of all studies in lexical order of the names.
	Summaries(ctx context.Context) iter.Seq2[Summary, error]
}

// newSummary returns the summary of a study without events.
func newSummary(study string, created time.Time) Summary {
	return Summary{Study: study, Created: created, Counts: map[assay.State]int64{}, Value: math.Inf(1)}
}

// project counts event e, the next of the study, in sum and returns the row
// that it gives its trial, which is old if it is known already. Of old it needs
// the state, and to withdraw the trial the proposal and its start. changed is false if the event leaves the row as it is: a trial asked again,
// one told or withdrawn after its final state, and an event that is not about the state of a
// trial. This is the only place that knows what events mean to the projection.
func project(sum *Summary, e assay.Event, old assay.Trial, known bool) (row TrialRow, changed bool) {
	sum.Events++
	if sum.Events == 1 {
		sum.First = e.At
	}
	sum.Last, sum.Spent, sum.Ended = e.At, e.Spent, ""
	row.Seq = sum.Events
	switch {
	case e.Asked != nil && !known:
		row.Trial = assay.Trial{Proposal: *e.Asked, Value: math.NaN(), Started: e.At}
	case e.Told != nil && !(known && old.State.Final()):
		row.Trial = *e.Told
	case e.Withdrawn != nil && known && !old.State.Final():
		row.Trial = assay.Trial{
			Proposal: old.Proposal, State: assay.Withdrawn, Value: math.Inf(1), Reason: e.Withdrawn.Reason,
			Started: old.Started, Ended: e.At,
		}
	case e.Checked != nil:
		sum.Checks++
		return TrialRow{}, false
	case e.Ended != nil:
		sum.Ended = e.Ended.By
		return TrialRow{}, false
	default:
		return TrialRow{}, false
	}
	if known {
		if sum.Counts[old.State]--; sum.Counts[old.State] == 0 {
			delete(sum.Counts, old.State)
		}
	}
	sum.Counts[row.Trial.State]++
	if row.Trial.State == assay.Done && row.Trial.Value < sum.Value {
		sum.Best, sum.Value = row.Trial.ID, row.Trial.Value
	}
	return row, true
}

// eventTrial returns the ID of the trial whose state e is about, if any.
func eventTrial(e assay.Event) (id int64, ok bool) {
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
