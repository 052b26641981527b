package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// projector is the [assay.Projector] of a store that keeps no projection: each call reads all events
// of a study. A store embeds it.
// It has no state of its own, and is as safe for concurrent use as its two functions.
type projector struct {
	// history returns when a study was made, and its events, which are the caller's.
	history func(ctx context.Context, study string) (created time.Time, events []assay.Event, err error)
	// The names must come sorted: Summaries goes on behind one by searching for it.
	studies func(ctx context.Context) iter.Seq2[string, error] // as Studies of the store
}

// rows returns the summary and the rows by trial ID, both at the moment of history. The map is the caller's.
func (r projector) rows(ctx context.Context, study string) (assay.Summary, map[int64]assay.TrialRow, error) {
	created, events, err := r.history(ctx, study)
	if err != nil {
		return assay.Summary{}, nil, err
	}
	sum := assay.NewSummary(study, created)
	rows := map[int64]assay.TrialRow{}
	for _, e := range events {
		// For an event that is not about a trial, id is 0, and Project ignores its argument.
		id, _ := assay.TrialOf(e)
		old, known := rows[id]
		if row, changed := assay.Project(&sum, e, old.Trial, known); changed {
			rows[id] = row
		}
	}
	return sum, rows, nil
}

// Trials implements [assay.Projector]. The rows are from the moment at which the iteration begins.
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
