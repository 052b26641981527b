// This file has the reads that all stores in a database share: lists in pages, and the rows of trials from their
// events.

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// PageRows is how long a page is. A list is read in pages, each in its own short
// transaction: a caller that takes its time, stops early or appends meanwhile holds
// nothing, and a log can be folded into its file behind it.
// So a list is not of one moment: each page is of its own.
const PageRows = 256

// Paged yields values in pages of at most PageRows, each page after the key of the last value: the first n values
// after the key after, or all if n is 0. Values of a page before its error are yielded first. n is 0 or more. No
// transaction is open while the caller has a value, so that the caller may append or read in its loop. The iterator
// can be ranged over again: after and the count begin anew in each round.
func Paged[T, K any](after K, n int, page func(after K, most int) ([]T, error), key func(T) K) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		after, left := after, n
		for {
			most := PageRows
			if n > 0 {
				most = min(most, left)
			}
			values, err := page(after, most)
			for _, v := range values {
				if !yield(v, nil) {
					return
				}
				after = key(v)
			}
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			left -= len(values)
			// A page that is not full was the last. A full one may have been: then the next is
			// empty.
			if len(values) < most || n > 0 && left == 0 {
				return
			}
		}
	}
}

// mostAhead is how many records are decoded at once at most.
const mostAhead = 2048

// EventsOf returns the events after a position, from the records at that position on. Decoding is costly, so all
// processors decode many records at once: first one record, then twice as many each time. A caller that needs only
// the first event pays little more.
func EventsOf(study string, after assay.Position, records iter.Seq2[Record, error]) iter.Seq2[assay.Event, error] {
	return func(yield func(assay.Event, error) bool) {
		var ahead []Record
		most := 1
		// pass yields the events of the records ahead, and reports whether more are wanted.
		pass := func() bool {
			for i, d := range decodeAll(ahead) {
				err := d.err
				if err != nil {
					err = fmt.Errorf("%w: study %q: event %d: %w", ErrDamaged, study, ahead[i].Seq, err)
				}
				if !yield(d.event, err) || err != nil {
					return false
				}
			}
			ahead, most = ahead[:0], min(2*most, mostAhead)
			return true
		}
		for r, err := range records {
			if err != nil {
				if pass() {
					yield(assay.Event{}, err)
				}
				return
			}
			if r.Seq <= max(int64(after), 0) {
				continue // the creation, or the event before, whose hash is the next one's
			}
			if ahead = append(ahead, r); len(ahead) >= most && !pass() {
				return
			}
		}
		pass()
	}
}

// decoded is the result of decoding a record.
type decoded struct {
	event assay.Event
	err   error
}

// decodeAll decodes records, each on its own.
func decodeAll(records []Record) []decoded {
	out := make([]decoded, len(records))
	part := func(from, to int) {
		for i := from; i < to; i++ {
			out[i].event, out[i].err = DecodeEvent(records[i].Payload)
		}
	}
	// Less than this is done before another goroutine has begun.
	const least = 32
	n := min(runtime.GOMAXPROCS(0), len(records)/least)
	var wg sync.WaitGroup
	for k := 1; k < n; k++ {
		wg.Go(func() { part(k*len(records)/n, (k+1)*len(records)/n) })
	}
	part(0, len(records)/max(n, 1))
	wg.Wait()
	return out
}

// Poll is the Watch of a store that looks at the end of a record at an interval. end returns the number of a study,
// which identifies one that was made again under the same name, and the end of its record. It ends without an error
// when ctx does. Each round of the iterator begins after the position after.
func Poll(
	ctx context.Context, study string, after assay.Position, interval time.Duration,
	end func(ctx context.Context, study string) (id int64, end assay.Position, err error),
	events func(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error],
) iter.Seq2[assay.Event, error] {
	return func(yield func(assay.Event, error) bool) {
		var first int64 // number of the study
		tick := time.NewTicker(interval)
		defer tick.Stop()
		// after counts the events that were yielded.
		for after := max(after, 0); ctx.Err() == nil; {
			id, last, err := end(ctx, study)
			if err == nil && first != 0 && id != first {
				err = NotExist("watch", study)
			}
			if first = id; err == nil && after < last {
				for e, failed := range events(ctx, study, after) {
					if err = failed; err != nil {
						break
					}
					if !yield(e, nil) {
						return
					}
					after++
				}
			}
			if err != nil && ctx.Err() == nil {
				yield(assay.Event{}, err)
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}
}

// DecodeRow returns the row that the record gives a trial. A withdrawal does not contain the withdrawn proposal:
// asked returns it, from columns without a checksum. asked is called for a withdrawal only.
func DecodeRow(r Record, asked func() (assay.Trial, error)) (assay.TrialRow, error) {
	if r.CRC != Checksum(r.Study, r.Seq, r.Payload) {
		return assay.TrialRow{}, errors.New("wrong checksum")
	}
	e, err := DecodeEvent(r.Payload)
	if err != nil {
		return assay.TrialRow{}, err
	}
	sum := assay.NewSummary("", time.Time{})
	sum.Events = r.Seq - 1
	var old assay.Trial
	if e.Withdrawn != nil {
		if old, err = asked(); err != nil {
			return assay.TrialRow{}, err
		}
	}
	// The summary is thrown away: Project is asked for the row. A withdrawal needs a known
	// trial that runs.
	row, _ := assay.Project(&sum, e, old, e.Withdrawn != nil)
	return row, nil
}

// CheckCreation returns an error that matches [ErrDamaged] unless r is the
// creation of that study.
// A payload that decodes to an impossible name is damage too.
func CheckCreation(r Record, name string, spec []byte) error {
	if err := NewVerifier(0).Check(r); err != nil {
		return fmt.Errorf("study %q: %w", name, err)
	}
	c, err := DecodeCreation(r.Payload)
	if err != nil || c.Study != name || !bytes.Equal(c.Spec, spec) {
		return fmt.Errorf("%w: study %q: name or specification differs from its creation", ErrDamaged, name)
	}
	return nil
}
