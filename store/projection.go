package store

import (
	"math"
	"time"

	"github.com/assay-run/assay"
)

// NewSummary returns the summary of a study without events.
func NewSummary(study string, created time.Time) assay.Summary {
	return assay.Summary{Study: study, Created: created, Counts: map[assay.State]int64{}, Value: math.Inf(1)}
}

// Project counts event e, the next of the study, in sum and returns the row that
// it gives its trial, which is old if it is known already. Of old it needs the
// state, and to withdraw the trial the proposal and its start too.
//
// changed is false if the event leaves the row as it is: a trial asked again, one
// told or withdrawn after its final state, and an event that is not about the
// state of a trial. This is the only place that knows what events mean to the
// projection.
func Project(sum *assay.Summary, e assay.Event, old assay.Trial, known bool) (row assay.TrialRow, changed bool) {
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
		return assay.TrialRow{}, false
	case e.Ended != nil:
		sum.Ended = e.Ended.By
		return assay.TrialRow{}, false
	default:
		return assay.TrialRow{}, false
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

// TrialOf returns the ID of the trial whose state e is about, if any.
func TrialOf(e assay.Event) (id int64, ok bool) {
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
