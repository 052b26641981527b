// This file says what events mean: the state of each trial and the summary. Both stores go
// through [Project], event by event, so that a projection kept in a file and one made anew
// cannot differ.

package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// NewSummary returns the summary of a study without events.
// The value of no best trial is +Inf, so that any finite one is better.
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
// Project must see the events in order, each once: the number of the row is sum.Events. It
// changes sum.Counts in place, so a copy of sum shares the map with it. row shares the memory
// of e and old.
//
// Best never has to go back: a trial that is done stays done.
func Project(sum *assay.Summary, e assay.Event, old assay.Trial, known bool) (row assay.TrialRow, changed bool) {
	sum.Events++
	if sum.Events == 1 {
		sum.First = e.At
	}
	sum.Last, sum.Spent = e.At, e.Spent
	if !aside(e) {
		sum.Ended = "" // an event behind the end of a study says that it goes on
	}
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
	case e.Steered != nil:
		switch e.Steered.Do {
		case "run", "pause", "stop":
			sum.Steered = e.Steered.Do
		case "priority":
			sum.Priority = e.Steered.Priority
		}
		return assay.TrialRow{}, false
	case e.Booked != nil:
		sum.Lost += e.Booked.Lost()
		return assay.TrialRow{}, false
	default:
		return assay.TrialRow{}, false
	}
	// A state without a trial has no entry, so that equal summaries have equal maps.
	if known {
		if sum.Counts[old.State]--; sum.Counts[old.State] == 0 {
			delete(sum.Counts, old.State)
		}
	}
	sum.Counts[row.Trial.State]++
	// Of equal values the first stays. NaN is never less.
	if row.Trial.State == assay.Done && row.Trial.Value < sum.Value {
		sum.Best, sum.Value = row.Trial.ID, row.Trial.Value
	}
	return row, true
}

// aside reports whether an event may come behind the end of a study that does not go on: the
// booking of a run that was late, a worker that goes on, or a decision for the next time.
func aside(e assay.Event) bool {
	return e.Booked != nil || e.Drifted != nil || e.Steered != nil && e.Steered.Do != "run"
}

// TrialOf returns the ID of the trial whose state e is about, if any.
// Started, checked and ordered name a trial too, but leave its state alone.
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

// projector is the [assay.Projector] of a store that keeps no projection: each call reads all events
// of a study. A store embeds it.
// It has no state of its own, and is as safe for concurrent use as its two functions.
type projector struct {
	// history returns when a study was made, and its events, which are the caller's.
	history func(ctx context.Context, study string) (created time.Time, events []assay.Event, err error)
	// The names must come sorted: Summaries goes on behind one by searching for it.
	studies func(ctx context.Context) iter.Seq2[string, error] // as Studies of the store
}

// rows returns the summary and the rows by trial ID.
// Both are of one moment, that of history. The map is the caller's.
func (r projector) rows(ctx context.Context, study string) (assay.Summary, map[int64]assay.TrialRow, error) {
	created, events, err := r.history(ctx, study)
	if err != nil {
		return assay.Summary{}, nil, err
	}
	sum := NewSummary(study, created)
	rows := map[int64]assay.TrialRow{}
	for _, e := range events {
		// Of an event that is not about a trial, id is 0, and Project does not look at what it
		// is given.
		id, _ := TrialOf(e)
		old, known := rows[id]
		if row, changed := Project(&sum, e, old.Trial, known); changed {
			rows[id] = row
		}
	}
	return sum, rows, nil
}

// Trials implements [assay.Projector].
// The rows are those of the moment at which the iteration begins.
func (r projector) Trials(ctx context.Context, study string, after int64, n int) iter.Seq2[assay.TrialRow, error] {
	return func(yield func(assay.TrialRow, error) bool) {
		_, rows, err := r.rows(ctx, study)
		if err != nil {
			yield(assay.TrialRow{}, err)
			return
		}
		for _, id := range behind(slices.Sorted(maps.Keys(rows)), after, n) {
			if !yield(rows[id], nil) {
				return
			}
		}
	}
}

// behind returns the sorted keys greater than after, the first n if n > 0.
// The result is part of keys. after need not be among them.
func behind[K cmp.Ordered](keys []K, after K, n int) []K {
	i, found := slices.BinarySearch(keys, after)
	if found {
		i++
	}
	if keys = keys[i:]; n > 0 {
		keys = keys[:min(n, len(keys))]
	}
	return keys
}

// Summary implements [assay.Projector].
// It costs as much as the study has events.
func (r projector) Summary(ctx context.Context, study string) (assay.Summary, error) {
	sum, _, err := r.rows(ctx, study)
	return sum, err
}

// Summaries implements [assay.Projector].
// Each summary is of its own moment. A study that is removed meanwhile is left out.
func (r projector) Summaries(ctx context.Context, after string, n int) iter.Seq2[assay.Summary, error] {
	return func(yield func(assay.Summary, error) bool) {
		var names []string
		for name, err := range r.studies(ctx) {
			if err != nil {
				yield(assay.Summary{}, err)
				return
			}
			names = append(names, name)
		}
		for _, name := range behind(names, after, n) {
			sum, err := r.Summary(ctx, name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have been removed since
				yield(assay.Summary{}, err)
				return
			}
			if err == nil && !yield(sum, nil) {
				return
			}
		}
	}
}
