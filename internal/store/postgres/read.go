// This file has the reads. Each page is one statement, so of one moment, and takes no lock.

package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// each calls f for each row of the query, whose first columns belong to the study: no row means that the study does
// not exist, which is fs.ErrNotExist.
func (s *Store) each(
	ctx context.Context, op, study string, f func(*sql.Rows) error, text string, args ...any,
) error {
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		if err := f(rows); err != nil {
			return scanError(err)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n == 0 && op != "" {
		return store.NotExist(op, study)
	}
	return nil
}

// Spec implements [assay.Store]. It verifies record 0: name and specification in studies have no checksum of their own.
func (s *Store) Spec(ctx context.Context, study string) (spec []byte, err error) {
	err = s.retry(ctx, away, func(ctx context.Context) error {
		return s.each(ctx, "read", study, func(rows *sql.Rows) error {
			var r store.Record
			var name string
			if err := rows.Scan(&r.Study, &name, &spec, &r.Payload, &r.CRC, &r.Hash); err != nil {
				return err
			}
			return store.CheckCreation(r, name, spec)
		}, `SELECT s.id, s.name, s.spec, e.payload, e.crc, e.hash FROM studies s
			LEFT JOIN events e ON e.study = s.id AND e.seq = 0 WHERE s.name = $1`, study)
	})
	if err != nil {
		return nil, err
	}
	return spec, nil
}

// Studies implements [assay.Store].
func (s *Store) Studies(ctx context.Context) iter.Seq2[string, error] {
	return store.Paged("", 0, func(after string, most int) (page []string, err error) {
		err = s.retry(ctx, away, func(ctx context.Context) error {
			page = nil
			return s.each(ctx, "", "", func(rows *sql.Rows) error {
				var name string
				err := rows.Scan(&name)
				page = append(page, name)
				return err
			}, `SELECT name FROM studies WHERE name > $1 ORDER BY name LIMIT $2`, after, most)
		})
		return page, err
	}, func(name string) string { return name })
}

// A mark is the place from which a list of one study continues. The number of the study identifies a study that was
// removed and made again under the same name.
type mark struct {
	study int64 // 0 until the first page was read
	store.Verifier
}

// Events implements [assay.Store]. It yields at least the events that there are when the iteration begins, and verifies
// each. If the study is removed meanwhile, it ends with an error that matches fs.ErrNotExist.
func (s *Store) Events(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	return store.EventsOf(study, after, s.Records(ctx, study, max(int64(after), 0)))
}

// Records implements [store.Copier]. The hash of the first record is believed, unless it is record 0.
func (s *Store) Records(ctx context.Context, study string, first int64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		at := mark{Verifier: *store.NewVerifier(first)}
		for more := true; more; {
			var page []store.Record
			err := s.retry(ctx, away, func(ctx context.Context) (err error) {
				try := at // a page that is read again begins where it did
				if page, more, err = s.recordPage(ctx, study, max(first, 0), &try); err == nil || !away(classify(err)) {
					at = try
				}
				return err
			})
			if away(err) || ctx.Err() != nil {
				page = nil // of a page that came in part nothing is known
			}
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
// The end of the record is checked against the head as soon as a page is not full. That finds events that were cut off
// at the end, which the chain alone cannot.
func (s *Store) recordPage(
	ctx context.Context, study string, after int64, at *mark,
) (page []store.Record, more bool, err error) {
	var n, last int64
	var head []byte
	err = s.each(ctx, "read", study, func(rows *sql.Rows) error {
		var id int64
		var seq, crc sql.NullInt64
		r := store.Record{}
		if err := rows.Scan(&id, &last, &head, &seq, &r.Payload, &crc, &r.Hash); err != nil {
			return err
		}
		if at.study != 0 && at.study != id {
			return store.NotExist("read", study)
		}
		if at.study = id; !seq.Valid {
			return nil // of the study alone: there are no events in this page
		}
		n++
		r.Study, r.Seq, r.CRC = id, seq.Int64, uint32(crc.Int64)
		if err := at.Check(r); err != nil {
			return fmt.Errorf("study %q: %w", study, err)
		}
		page = append(page, r)
		return nil
	}, `SELECT s.id, h.seq, h.hash, e.seq, e.payload, e.crc, e.hash FROM studies s
		LEFT JOIN heads h ON h.study = s.id
		LEFT JOIN LATERAL (SELECT seq, payload, crc, hash FROM events WHERE study = s.id AND seq >= $2
			ORDER BY seq LIMIT $3) e ON true
		WHERE s.name = $1 ORDER BY e.seq`, study, at.Next, store.PageRows)
	switch {
	case err != nil:
		return page, false, err
	// The record is shorter than the caller thinks: it has no events there, and that is no damage.
	case after > last && n == 0:
		return nil, false, nil
	case n < store.PageRows && (at.Next != last+1 || !bytes.Equal(at.Hash, head)):
		return page, false, fmt.Errorf("%w: study %q: event %d is not the last appended one", ErrDamaged, study,
			at.Next-1)
	}
	return page, n == store.PageRows, nil
}

// Trials implements [assay.Projector].
// A study that is removed meanwhile ends the list with an error that matches fs.ErrNotExist.
func (s *Store) Trials(ctx context.Context, study string, after int64, n int) iter.Seq2[assay.TrialRow, error] {
	return func(yield func(assay.TrialRow, error) bool) {
		var id int64 // of the study, once it is known
		store.Paged(after, n, func(after int64, most int) (page []assay.TrialRow, err error) {
			err = s.retry(ctx, away, func(ctx context.Context) (err error) {
				page, err = s.trialPage(ctx, study, &id, after, most)
				return err
			})
			return page, err
		}, func(row assay.TrialRow) int64 { return row.Trial.ID })(yield)
	}
}

// trialPage returns the trials after that ID, read from the events they come from: those are
// exact and have a checksum. The checksum alone is verified, not the chain.
func (s *Store) trialPage(
	ctx context.Context, study string, id *int64, after int64, most int,
) (page []assay.TrialRow, err error) {
	err = s.each(ctx, "read", study, func(rows *sql.Rows) error {
		var now int64
		var trial, seq, crc sql.NullInt64
		var state, config, started sql.NullString
		r := store.Record{}
		if err := rows.Scan(&now, &trial, &state, &config, &started, &seq, &r.Payload, &crc); err != nil {
			return err
		}
		if *id != 0 && *id != now {
			return store.NotExist("read", study)
		}
		if *id = now; !trial.Valid {
			return nil
		}
		r.Study, r.Seq, r.CRC = now, seq.Int64, uint32(crc.Int64)
		// A missing event has a checksum of 0, which is not the checksum of an empty payload.
		row, err := store.DecodeRow(r, func() (assay.Trial, error) {
			return store.AskedBefore(trial.Int64, assay.Running, config.String, started.String)
		})
		if err == nil && (row.Trial.ID != trial.Int64 || row.Trial.State.String() != state.String) {
			err = fmt.Errorf("it is not the event of a trial that is %s", state.String)
		}
		if err != nil {
			return fmt.Errorf("%w: study %q: trial %d: event %d: %w", ErrDamaged, study, trial.Int64, r.Seq, err)
		}
		page = append(page, row)
		return nil
	}, `SELECT s.id, t.id, t.state, t.config, t.started, t.seq, t.payload, t.crc FROM studies s
		LEFT JOIN LATERAL (SELECT t.id, t.state, t.config, t.started, t.seq, e.payload, e.crc FROM trials t
			LEFT JOIN events e ON e.study = t.study AND e.seq = t.seq
			WHERE t.study = s.id AND t.id > $2 ORDER BY t.id LIMIT $3) t ON true
		WHERE s.name = $1 ORDER BY t.id`, study, after, most)
	return page, err
}

// Summary implements [assay.Projector]. It costs the same for any number of trials.
// It reads the row of heads, and verifies no event.
func (s *Store) Summary(ctx context.Context, study string) (assay.Summary, error) {
	sums, err := s.summaries(ctx, `s.name = $1`, study, 1)
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
		return s.summaries(ctx, `s.name > $1`, after, most)
	}, func(sum assay.Summary) string { return sum.Study })
}

// summaries returns the first summaries of the studies that match.
// where is SQL with one placeholder, for name, and must be a constant.
func (s *Store) summaries(ctx context.Context, where, name string, most int) (page []assay.Summary, err error) {
	err = s.retry(ctx, away, func(ctx context.Context) error {
		page = nil
		return s.each(ctx, "", "", func(rows *sql.Rows) error {
			_, _, _, sum, err := store.ScanHead(rows)
			if err == nil {
				page = append(page, sum)
			}
			return err
		}, `SELECT s.id, s.name, s.created, h.seq, h.hash, h.hash, `+store.SummaryColumns+`
			FROM studies s LEFT JOIN heads h ON h.study = s.id WHERE `+where+` ORDER BY s.name LIMIT $2`, name, most)
	})
	return page, err
}

// watchInterval is the interval at which a watcher looks for more events of a study. The server could notify
// (NOTIFY), at a price for all writers: it takes one lock for the whole server until the commit is on the disk.
const watchInterval = 250 * time.Millisecond

// Watch implements [assay.Watcher]: it looks at the end of the record four times a second. Every
// event is verified, with the one before it.
func (s *Store) Watch(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	return store.Poll(ctx, study, after, watchInterval, s.endOf, s.Events)
}

// endOf returns the number of a study and the end of its record.
func (s *Store) endOf(ctx context.Context, study string) (id int64, end assay.Position, err error) {
	err = s.retry(ctx, away, func(ctx context.Context) error {
		err := s.db.QueryRowContext(ctx, `SELECT s.id, h.seq FROM studies s LEFT JOIN heads h ON h.study = s.id
			WHERE s.name = $1`, study).Scan(&id, &end)
		if errors.Is(err, sql.ErrNoRows) {
			return store.NotExist("watch", study)
		}
		return scanError(err)
	})
	return id, end, err
}

// Fsck verifies checksum and hash of every event, makes the states of all trials from the events
// again and compares them row by row. The problems of the database are in the report; an error
// means that the check itself could not be done. It sees one moment, and keeps others from
// writing only to repair. Damage that PostgreSQL itself finds is an error too.
func (s *Store) Fsck(ctx context.Context, opts store.FsckOptions) (r store.Report, err error) {
	err = classify(s.fsck(ctx, opts, &r))
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return r, err
}

func (s *Store) fsck(ctx context.Context, opts store.FsckOptions, r *store.Report) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: !opts.Repair})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, behind a commit
	if opts.Repair {
		// Every write moves a head; those who read go on.
		if _, err := tx.ExecContext(ctx, `LOCK TABLE heads IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
	}
	f := &store.Checker{
		DB: tx, Report: r, Repair: opts.Repair, Text: text,
		Damage: func(err error) error { return scanError(classify(err)) },
		PutTrial: func(ctx context.Context, study int64, c store.TrialColumns) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO trials
				(study, id, seq, state, value, config, metrics, reason, started, ended, attempts)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, append([]any{study}, c.In(text).Args()...)...)
			return err
		},
		PutHead: func(ctx context.Context, study int64, hash []byte, sum assay.Summary) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO heads (study, seq, hash, `+headColumns+`)
				VALUES ($1, $2, $3, `+headFrom(4)+`) ON CONFLICT (study) DO UPDATE
				SET (seq, hash, `+headColumns+`) = ROW($2, $3, `+headFrom(4)+`)`,
				append([]any{study, sum.Events, hash}, store.NewHeadColumns(sum).In(text).Args()...)...)
			return err
		},
	}
	if err := f.Orphans(ctx); err != nil {
		return err
	}
	if err := f.Studies(ctx); err != nil || !opts.Repair {
		return err
	}
	return tx.Commit()
}
