package study

import (
	"context"

	"github.com/assay-run/assay"
)

// append adds events to the record, all or none, made now. What cannot be
// recorded does not happen: an error is final, and the same for all later calls of
// this session. See [Journal].
func (l *loop) append(ctx context.Context, events ...assay.Event) error {
	return l.record(ctx, ctx, events)
}

// keep is append of something that has happened already: it is recorded even if
// ctx is done, as long as the store does so at the first attempt.
func (l *loop) keep(ctx context.Context, events ...assay.Event) error {
	return l.record(ctx, context.WithoutCancel(ctx), events)
}

// record appends events with the context write, until wait is done.
func (l *loop) record(wait, write context.Context, events []assay.Event) error {
	if l.unrecorded == nil {
		l.unrecorded = l.journal.keep(wait, write, events)
	}
	return l.unrecorded
}

// end records why the session ended, whatever has become of ctx.
func (l *loop) end(ctx context.Context) error {
	e := assay.End{By: l.endedBy, Short: l.short}
	if e.By == byGain {
		e.Why, e.Gain = l.enough.Why, l.enough.Gain
	}
	return l.keep(ctx, assay.Event{Ended: &e})
}
