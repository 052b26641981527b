package api

import (
	"context"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// Record copies the record of a study as it is now: what looks at a store looks at a study of a
// server so. The outputs of runs are no part of a record.
func (c *Client) Record(ctx context.Context, study string, m *store.Mem) error {
	d, err := c.Study(ctx, study)
	if err != nil {
		return err
	}
	if err := m.CreateAt(ctx, study, d.Spec, d.Study.Created); err != nil {
		return err
	}
	events := make([]assay.Event, 0, d.Study.Events)
	for at := int64(0); at < d.Study.Events; {
		before := at
		err := c.events(ctx, study, &at, func(string) {}, func(n Numbered) bool {
			events = append(events, n.Event)
			return n.Seq < d.Study.Events
		})
		// A stream that ends is asked for the rest, unless it had nothing.
		if at < d.Study.Events && (err != nil || at == before) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err == nil {
				err = assay.Errorf(assay.ClassUnavailable, "%s ended before event %d of %d", c.address, at+1, d.Study.Events)
			}
			return err
		}
	}
	_, err = m.Append(ctx, study, 0, events...)
	return err
}
