package study

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/assay-run/assay"
)

// Delays between attempts at an Append that failed: the first, and the longest.
// Each is twice the one before. The first is short, since most stores that fail are
// busy; the longest keeps a store that comes back from being missed for long.
const (
	firstDelay = 10 * time.Millisecond
	lastDelay  = 5 * time.Second
)

// defaultPatience is the longest time that the loop waits for its store.
const defaultPatience = 2 * time.Minute

// append adds events to the record, all or none, made now. What cannot be
// recorded does not happen: an error is final, and the same for all later calls.
// Otherwise a store that fails once would leave a gap, and the record of a study
// with a gap cannot be replayed.
func (l *loop) append(ctx context.Context, events ...assay.Event) error {
	return l.record(ctx, ctx, events)
}

// keep is append of something that has happened already: it is recorded even if
// ctx is done, as long as the store does so at the first attempt.
func (l *loop) keep(ctx context.Context, events ...assay.Event) error {
	return l.record(ctx, context.WithoutCancel(ctx), events)
}

// record appends events with the context write, until wait is done. The times are
// set once, before the first attempt: all attempts append the same events, which is
// how the store tells a repetition from a conflict.
func (l *loop) record(wait, write context.Context, events []assay.Event) error {
	if l.unrecorded != nil {
		return l.unrecorded
	}
	for i := range events {
		events[i].At, events[i].Spent = l.clock.Now(), l.spent()
	}
	at, err := l.insist(wait, func() (assay.Position, error) { return l.Store.Append(write, l.Name, l.at, events...) })
	if err != nil {
		l.unrecorded = fmt.Errorf("study %q: recording: %w", l.Name, err)
		return l.unrecorded
	}
	l.at = at
	return nil
}

// insist calls try, an Append, until it succeeds, another attempt is of no use,
// ctx is done, or the patience of the study is at its end. An attempt whose
// outcome is unknown needs no reading back: the same events at the same position
// are no error if the attempt has added them (see [assay.Store]).
func (l *loop) insist(ctx context.Context, try func() (assay.Position, error)) (assay.Position, error) {
	patience := l.Patience
	if patience == 0 {
		patience = defaultPatience
	}
	began := time.Now() // the store lives in real time, whatever the study does
	for delay := firstDelay; ; delay = min(2*delay, lastDelay) {
		at, err := try()
		if err == nil || final(err) || ctx.Err() != nil {
			return at, err
		}
		if waited := time.Since(began); waited+delay > patience {
			if waited > 0 {
				err = fmt.Errorf("%w (after %v of attempts)", err, waited.Round(time.Millisecond))
			}
			return at, err
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return at, err
		}
	}
}

// final reports whether another attempt at an Append is of no use. Any other error,
// one without a class included, may be of a disk or a connection that comes back.
func final(err error) bool {
	switch assay.ClassOf(err) {
	case assay.ClassConflict, assay.ClassNotFound, assay.ClassUsage, assay.ClassLocked:
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fs.ErrClosed)
}

// end records why the session ended, whatever has become of ctx.
func (l *loop) end(ctx context.Context) error {
	return l.keep(ctx, assay.Event{Ended: &assay.End{By: l.endedBy, Short: l.short}})
}
