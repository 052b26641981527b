// This file has the reads. A reader takes no turn and no lock of a study: in WAL mode it sees the file as it was when
// its transaction began.

package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// read runs f in a transaction of one connection. f must not keep tx, and must not call back into the store: there
// are few connections. The error is in its class; the error of a context that has ended is the context's.
func (s *Store) read(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := cmp.Or(ctx.Err(), s.usable(ctx)); err != nil {
		return err
	}
	// heal may put other connections in place while f runs; then f fails on closed ones.
	reads := s.reads.Load()
	tx, err := reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err == nil {
		err = f(tx)
		// Nothing was written, so there is nothing that the end could lose.
		tx.Rollback()
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // rather than that the statement was interrupted
	}
	if err != nil && (s.broken.Load() != nil || s.reads.Load() != reads) {
		return cmp.Or(s.usable(ctx), ErrBroken) // the next call has other connections
	}
	return classify(err)
}

// each calls f for each row of the query. f must copy data that it keeps beyond the row, unless Scan has done so.
func each(ctx context.Context, tx *sql.Tx, f func(*sql.Rows) error, text string, args ...any) error {
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return scanError(err)
		}
	}
	return rows.Err()
}

// Spec implements [assay.Store]. It verifies record 0: name and specification in studies have no checksum of their own.
func (s *Store) Spec(ctx context.Context, study string) (spec []byte, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		var r store.Record
		var name string
		err := tx.QueryRowContext(ctx, `SELECT s.id, s.name, s.spec, e.payload, e.crc, e.hash FROM studies s
			LEFT JOIN events e ON e.study = s.id AND e.seq = 0 WHERE s.name = ?`, study).
			Scan(&r.Study, &name, &spec, &r.Payload, &r.CRC, &r.Hash)
		if errors.Is(err, sql.ErrNoRows) {
			return store.NotExist("read", study)
		}
		if err != nil {
			return scanError(err)
		}
		return store.CheckCreation(r, name, spec)
	})
	if err != nil {
		return nil, err
	}
	return spec, nil
}

// Studies implements [assay.Store].
func (s *Store) Studies(ctx context.Context) iter.Seq2[string, error] {
	return store.Paged("", 0, func(after string, most int) (page []string, err error) {
		err = s.read(ctx, func(tx *sql.Tx) error {
			return each(ctx, tx, func(rows *sql.Rows) error {
				var name string
				err := rows.Scan(&name)
				if err == nil {
					page = append(page, name)
				}
				return err
			}, `SELECT name FROM studies WHERE name > ? ORDER BY name LIMIT ?`, after, most)
		})
		return page, err
	}, func(name string) string { return name })
}

// A place is the point from which a list of one study continues. The number of the study identifies a study that was
// removed and made again under the same name: numbers are never used twice.
type place struct {
	// study is 0 until the first page was read.
	study int64
	after int64 // number of the event behind which the list begins
	*store.Verifier
}

// Events implements [assay.Store]. It yields at least the events that there are when the iteration begins, and verifies
// each. If the study is removed meanwhile, it ends with an error that matches fs.ErrNotExist.
func (s *Store) Events(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	return store.EventsOf(study, after, s.Records(ctx, study, max(int64(after), 0)))
}

// Records implements [store.Copier]. The hash of the first record is believed, unless it is record 0.
func (s *Store) Records(ctx context.Context, study string, first int64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		at := place{Verifier: store.NewVerifier(first), after: max(first, 0)}
		for more := true; more; {
			var page []store.Record
			err := s.read(ctx, func(tx *sql.Tx) (err error) {
				page, more, err = recordPage(ctx, tx, study, &at)
				return err
			})
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(store.Record{}, err)
				return
			}
		}
	}
}

// recordPage returns the verified records of the next page, those before an error included, and whether there are more.
// at moves on with each record, also if that is damaged; Records ends then. The end of the record is checked against
// the head as soon as a page is not full. That finds events that were cut off at the end, which the chain alone cannot.
func recordPage(ctx context.Context, tx *sql.Tx, study string, at *place) (page []store.Record, more bool, err error) {
	var id, last int64
	var head []byte
	err = tx.QueryRowContext(ctx, `SELECT s.id, h.seq, h.hash FROM studies s LEFT JOIN heads h ON h.study = s.id
		WHERE s.name = ?`, study).Scan(&id, &last, &head)
	if errors.Is(err, sql.ErrNoRows) || err == nil && at.study != 0 && at.study != id {
		return nil, false, store.NotExist("read", study)
	}
	if err != nil {
		return nil, false, scanError(err)
	}
	// The record is shorter than the caller thinks: it has no events there, and that is no damage.
	if at.study = id; at.after > last {
		return nil, false, nil
	}
	var n int
	err = each(ctx, tx, func(rows *sql.Rows) error {
		n++
		r := store.Record{Study: id}
		if err := rows.Scan(&r.Seq, &r.Payload, &r.CRC, &r.Hash); err != nil {
			return err
		}
		if err := at.Check(r); err != nil {
			return fmt.Errorf("study %q: %w", study, err)
		}
		page = append(page, r)
		return nil
	}, `SELECT seq, payload, crc, hash FROM events WHERE study = ? AND seq >= ? ORDER BY seq LIMIT ?`,
		id, at.Next, store.PageRows)
	if err == nil && n < store.PageRows && (at.Next != last+1 || !bytes.Equal(at.Hash, head)) {
		err = fmt.Errorf("%w: study %q: event %d is not the last appended one", ErrDamaged, study, at.Next-1)
	}
	return page, n == store.PageRows, err
}

// Trials implements [assay.Projector].
// A study that is removed meanwhile ends the list with an error that matches fs.ErrNotExist.
func (s *Store) Trials(ctx context.Context, study string, after int64, n int) iter.Seq2[assay.TrialRow, error] {
	return func(yield func(assay.TrialRow, error) bool) {
		var id int64 // of the study, once it is known
		store.Paged(after, n, func(after int64, most int) (page []assay.TrialRow, err error) {
			err = s.read(ctx, func(tx *sql.Tx) (err error) {
				page, err = trialPage(ctx, tx, study, &id, after, most)
				return err
			})
			return page, err
		}, func(row assay.TrialRow) int64 { return row.Trial.ID })(yield)
	}
}

// trialPage returns the trials after that ID, read from the events they come from: those are exact and have a checksum.
// The checksum alone is verified, not the chain: that the row points to its trial's last event is for Fsck to find out.
func trialPage(
	ctx context.Context, tx *sql.Tx, study string, id *int64, after int64, most int,
) (page []assay.TrialRow, err error) {
	var now int64
	err = tx.QueryRowContext(ctx, `SELECT id FROM studies WHERE name = ?`, study).Scan(&now)
	if errors.Is(err, sql.ErrNoRows) || err == nil && *id != 0 && *id != now {
		return nil, store.NotExist("read", study)
	}
	*id = now
	if err != nil {
		return nil, err
	}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		r := store.Record{Study: now}
		var trial int64
		var state, config, started string
		if err := rows.Scan(&trial, &state, &config, &started, &r.Seq, &r.Payload, &r.CRC); err != nil {
			return err
		}
		// If the event is missing, its payload is "" and its checksum 0, which is not the checksum of an empty payload.
		row, err := store.DecodeRow(r, func() (assay.Trial, error) {
			return store.AskedBefore(trial, assay.Running, config, started)
		})
		if err == nil && (row.Trial.ID != trial || row.Trial.State.String() != state) {
			err = fmt.Errorf("it is not the event of a trial that is %s", state)
		}
		if err != nil {
			return fmt.Errorf("%w: study %q: trial %d: event %d: %w", ErrDamaged, study, trial, r.Seq, err)
		}
		page = append(page, row)
		return nil
	}, `SELECT t.id, t.state, t.config, t.started, t.seq, ifnull(e.payload, ''), ifnull(e.crc, 0) FROM trials t
		LEFT JOIN events e ON e.study = t.study AND e.seq = t.seq
		WHERE t.study = ? AND t.id > ? ORDER BY t.id LIMIT ?`, now, after, most)
	return page, err
}

// Summary implements [assay.Projector]. It costs the same for any number of trials.
// It reads the row of heads, and verifies no event.
func (s *Store) Summary(ctx context.Context, study string) (assay.Summary, error) {
	sums, err := s.summaries(ctx, `s.name = ?`, study, 1)
	if err == nil && len(sums) == 0 {
		err = store.NotExist("read", study)
	}
	if err != nil {
		return assay.Summary{}, err
	}
	return sums[0], nil
}

// Summaries implements [assay.Projector]. It costs the same for any number of trials.
func (s *Store) Summaries(ctx context.Context, after string, n int) iter.Seq2[assay.Summary, error] {
	return store.Paged(after, n, func(after string, most int) ([]assay.Summary, error) {
		return s.summaries(ctx, `s.name > ?`, after, most)
	}, func(sum assay.Summary) string { return sum.Study })
}

// summaries returns the first summaries of the studies that match. where is SQL with one placeholder, for name, and
// must be a constant. A study without a row of heads is damage, and ends the page.
func (s *Store) summaries(ctx context.Context, where, name string, most int) (page []assay.Summary, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			_, _, _, sum, err := store.ScanHead(rows)
			if err == nil {
				page = append(page, sum)
			}
			return err
		}, `SELECT s.id, s.name, s.created, h.seq, h.hash, h.hash, `+store.SummaryColumns+`
			FROM studies s LEFT JOIN heads h ON h.study = s.id WHERE `+where+` ORDER BY s.name LIMIT ?`, name, most)
	})
	return page, err
}
