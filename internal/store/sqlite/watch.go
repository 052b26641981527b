// This file watches a record by polling: SQLite does not notify about another process's writes.

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// watchInterval is how often a watcher looks whether a study has more events. A look costs one row. It is also the most
// by which an event comes late, apart from the reading.
const watchInterval = 100 * time.Millisecond

// Watch implements [assay.Watcher]: it looks at the end of the record ten times a second. Every event is verified, with
// the one before it. It ends without an error when ctx does. If the study is removed, or was never there, it ends with
// an error that matches fs.ErrNotExist, also if a study of that name was made again between two looks.
func (s *Store) Watch(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	return store.Poll(ctx, study, after, watchInterval, s.endOf, s.Events)
}

// endOf returns the number of a study and the end of its record. A study without a row of heads is damage.
func (s *Store) endOf(ctx context.Context, study string) (id int64, end assay.Position, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT s.id, h.seq FROM studies s LEFT JOIN heads h ON h.study = s.id
			WHERE s.name = ?`, study).Scan(&id, &end)
		if errors.Is(err, sql.ErrNoRows) {
			return store.NotExist("watch", study)
		}
		return scanError(err)
	})
	return id, end, err
}
