package api

import (
	"context"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// CopyRecord copies the current record of a study, so that code that reads a store can read a study of a server. The
// outputs of runs are not part of a record.
func CopyRecord(ctx context.Context, c *Client, study string, m *store.Mem) error {
	d, err := c.Study(ctx, study)
	if err != nil {
		return err
	}
	if err := m.CreateAt(ctx, study, d.Spec, d.Study.Created); err != nil {
		return err
	}
	events := make([]assay.Event, 0, d.Study.Events)
	for s := (&eventStream{client: c, study: study}); s.after < d.Study.Events; {
		before := s.after
		err := s.read(ctx, func(n Numbered) bool {
			events = append(events, n.Event)
			return n.Seq < d.Study.Events
		})
		// A stream that ends is asked for the rest, unless it had nothing.
		if s.after < d.Study.Events && (err != nil || s.after == before) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err == nil {
				err = assay.Errorf(assay.ClassUnavailable, "%s ended before event %d of %d", c.address, s.after+1, d.Study.Events)
			}
			return err
		}
	}
	_, err = m.Append(ctx, study, 0, events...)
	return err
}
