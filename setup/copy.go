package setup

import (
	"context"
	"errors"

	"github.com/assay-run/assay/store"
)

// Copy copies a study to another store as it is: the bytes of its record, and so its hashes. It resumes after an
// earlier copy that was interrupted, and verifies the whole. No process may run the study in that store meanwhile.
// Outputs of runs, which are no part of a record, are not copied.
func Copy(ctx context.Context, from, to *Store, study string) (c store.Copied, err error) {
	a, is := from.Store.(store.Copier)
	b, are := to.Store.(store.Copier)
	if !is || !are {
		return c, usagef("a store in memory cannot be copied, nor copied to")
	}
	release, err := to.Lock(ctx, study)
	if err != nil {
		return c, err
	}
	c, err = store.Copy(ctx, a, b, study)
	return c, errors.Join(err, release())
}
