package study

import (
	"context"
	"fmt"

	"github.com/assay-run/assay"
)

// append adds events to the record, all or none, made now.
func (l *loop) append(ctx context.Context, events ...assay.Event) error {
	for i := range events {
		events[i].At, events[i].Spent = l.clock.Now(), l.spent()
	}
	at, err := l.Store.Append(ctx, l.Name, l.at, events...)
	if err != nil {
		return fmt.Errorf("study %q: recording: %w", l.Name, err)
	}
	l.at = at
	return nil
}

// end records why the session ended.
func (l *loop) end(ctx context.Context) error {
	return l.append(ctx, assay.Event{Ended: &assay.End{By: l.endedBy}})
}
