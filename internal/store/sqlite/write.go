// This file has the writes. Every write is one transaction between two gates, in this order:
//   - the turn, a channel, among the goroutines of this store
//   - BEGIN IMMEDIATE, SQLite's own lock, among processes
//
// So a process has one writer at the second gate, and waiting for the first ends with a context. The writer that
// passes both also does the writes that wait at the first: see group.go.

package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// turnLength is how long SQLite itself waits for another process before we
// look whether the caller still wants to wait: it does not look at a context.
const turnLength = 250 * time.Millisecond

// statements are prepared once on the connection that writes. The holder of the turn uses them. heal makes them anew
// with the connection.
type statements struct {
	head, trialBefore, payloads, event, trial, advance *sql.Stmt
	savepoint, rollback, release                       *sql.Stmt
}

// If it fails, those prepared so far are left for close.
func (st *statements) prepare(ctx context.Context, c *sql.Conn) error {
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		// The hash of the last event comes along: it must be the head's.
		{&st.head, `SELECT s.id, s.name, s.created, h.seq, h.hash, e.hash, ` + store.SummaryColumns + `
			FROM studies s LEFT JOIN heads h ON h.study = s.id LEFT JOIN events e ON e.study = s.id AND e.seq = h.seq
			WHERE s.name = ?`},
		{&st.trialBefore, `SELECT state, config, started FROM trials WHERE study = ? AND id = ?`},
		{&st.payloads, `SELECT payload FROM events WHERE study = ? AND seq > ? ORDER BY seq LIMIT ?`},
		{&st.event, `INSERT INTO events (study, seq, at, payload, crc, hash) VALUES (?, ?, ?, ?, ?, ?)`},
		{&st.trial, `INSERT OR REPLACE INTO trials ` +
			`(study, id, seq, state, value, config, metrics, reason, started, ended, attempts)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&st.advance, `INSERT OR REPLACE INTO heads (study, seq, hash, ` +
			strings.ReplaceAll(store.SummaryColumns, "h.", "") + `)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&st.savepoint, `SAVEPOINT one`},
		{&st.rollback, `ROLLBACK TO one`},
		{&st.release, `RELEASE one`},
	} {
		s, err := c.PrepareContext(ctx, p.text)
		if err != nil {
			return classify(err)
		}
		*p.to = s
	}
	return nil
}

// close ends the statements: SQLite keeps a connection open that has one. It can be called if some or all are nil.
func (st *statements) close() (err error) {
	for _, s := range []*sql.Stmt{
		st.head, st.trialBefore, st.payloads, st.event, st.trial, st.advance, st.savepoint, st.rollback, st.release,
	} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// begin takes the write lock of the file. The caller has the turn, or is opening. It looks at ctx every turnLength at
// the latest, and gives up with [ErrBusy] after Options.Wait.
func (w *writer) begin(ctx context.Context) error {
	for end := time.Now().Add(w.opts.Wait); ; {
		err := w.exec("BEGIN IMMEDIATE")
		if !isBusy(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w for %v", ErrBusy, w.opts.Wait)
		}
	}
}

// exec runs a statement to its end, even if the caller's context ends: an interrupted commit has no known outcome.
func (w *writer) exec(text string) error {
	_, err := w.conn.ExecContext(context.Background(), text)
	return err
}

// failed returns err in its class, and breaks the store if that is [ErrIO].
// A failure that broke the store before stays the one that is reported.
func (s *Store) failed(err error) error {
	err = classify(err)
	if errors.Is(err, ErrIO) {
		s.broken.CompareAndSwap(nil, &err)
	}
	return err
}

// broke returns err in its class, and breaks the store. It is for a commit: after any error of it, the content of the
// disk is unknown.
func (s *Store) broke(err error) error {
	err = classify(err)
	s.broken.CompareAndSwap(nil, &err)
	return err
}

// Create implements [assay.Store]. A name has 1 to 1024 bytes of UTF-8.
// A nil error means that the study is on the disk.
func (s *Store) Create(ctx context.Context, study string, spec []byte) error {
	c, payload, err := store.NewCreation(study, spec)
	if err != nil {
		return err
	}
	return s.write(ctx, func() error { return s.insertStudy(c, payload) })
}

// CreateFrom implements [store.Copier].
func (s *Store) CreateFrom(ctx context.Context, payload []byte) error {
	return store.CreateFrom(ctx, s, payload, func(c store.Creation) error {
		return s.write(ctx, func() error { return s.insertStudy(c, payload) })
	})
}

// insertStudy adds the study, its record 0 and its head, in the transaction of the caller. Its
// queries do not look at a context, like all inside write.
func (w *writer) insertStudy(c store.Creation, payload []byte) error {
	bg := context.Background()
	var one int
	switch err := w.conn.QueryRowContext(bg, `SELECT 1 FROM studies WHERE name = ?`, c.Study).Scan(&one); {
	case err == nil:
		return store.Exists(c.Study)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	// A nil specification would become NULL, which the column refuses; an empty one is kept.
	r, err := w.conn.ExecContext(bg, `INSERT INTO studies (name, spec, created) VALUES (?, ?, ?)`,
		c.Study, append([]byte{}, c.Spec...), store.TimeText(c.Created))
	if err != nil {
		return err
	}
	id, err := r.LastInsertId()
	if err != nil {
		return err
	}
	// The number of the study is known only now, and the checksum covers it.
	rec := store.NewRecord(store.Genesis(), id, 0, payload)
	if err := w.insertRecord(rec, c.Created); err != nil {
		return err
	}
	return w.advance(id, rec.Hash, assay.NewSummary(c.Study, c.Created))
}

// Append implements [assay.Store]. The events are encoded before the turn is taken, so that an event that cannot be
// stored costs others nothing. On a disk that is full the room that was kept is given back, and the events are written
// into it. If the outcome of a call is unknown, the same call again finds the events or adds them.
func (s *Store) Append(
	ctx context.Context, study string, at assay.Position, events ...assay.Event,
) (end assay.Position, err error) {
	payloads, err := store.EncodeEvents(events)
	if err != nil {
		return 0, err
	}
	return s.appendAt(ctx, study, at, events, payloads)
}

// AppendPayloads implements [store.Copier].
func (s *Store) AppendPayloads(
	ctx context.Context, study string, at assay.Position, payloads ...[]byte,
) (assay.Position, error) {
	events, err := store.DecodePayloads(payloads)
	if err != nil {
		return 0, err
	}
	return s.appendAt(ctx, study, at, events, payloads)
}

func (s *Store) appendAt(
	ctx context.Context, study string, at assay.Position, events []assay.Event, payloads [][]byte,
) (assay.Position, error) {
	insert := func() error { return s.insertAt(study, at, events, payloads) }
	err := s.write(ctx, insert)
	if isFull(err) && s.spendReserve() {
		err = s.write(ctx, insert)
	}
	if err != nil {
		return 0, err
	}
	return at + assay.Position(len(events)), nil
}

// insertAt adds the events if at is the end of the record, or finds them there. The events are there if their payloads
// are byte for byte the same: the same event always has the same encoding. Any other event at that place is a conflict.
// No events at a position that exists are no error.
func (w *writer) insertAt(study string, at assay.Position, events []assay.Event, payloads [][]byte) error {
	id, hash, sum, err := w.head(study)
	if err != nil {
		return err
	}
	end := assay.Position(sum.Events)
	if at == end {
		return w.insertEvents(id, hash, sum, events, payloads)
	}
	if at < 0 || at > end-assay.Position(len(events)) {
		return store.Conflict(study, at, end)
	}
	rows, err := w.stmts.payloads.Query(id, int64(at), len(payloads))
	if err != nil {
		return err
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		var p []byte
		if err := rows.Scan(&p); err != nil {
			return err
		}
		if !bytes.Equal(p, payloads[i]) {
			return store.Conflict(study, at, end)
		}
	}
	return rows.Err()
}

// insertEvents adds events behind the head of a study. It changes nothing for no events. The rows of trials are written
// once each, after the events, however many events are about one.
func (w *writer) insertEvents(id int64, hash []byte, sum assay.Summary, events []assay.Event, payloads [][]byte) error {
	if len(events) == 0 {
		return nil
	}
	rows := make(map[int64]assay.TrialRow, len(events)) // that this call changes
	for i, e := range events {
		r := store.NewRecord(hash, id, sum.Events+1, payloads[i])
		if err := w.insertRecord(r, e.At); err != nil {
			return err
		}
		hash = r.Hash
		var old assay.Trial
		var known bool
		var err error
		if trial, ok := assay.TrialOf(e); ok {
			// A withdrawal carries nothing of its trial, so the whole of it is needed.
			if old, known, err = w.trialBefore(id, trial, rows, e.Withdrawn != nil); err != nil {
				return err
			}
		}
		if row, changed := assay.Project(&sum, e, old, known); changed {
			rows[row.Trial.ID] = row
		}
	}
	for _, row := range rows {
		c, err := store.NewTrialColumns(row)
		if err != nil {
			return err
		}
		if _, err := w.stmts.trial.Exec(append([]any{id}, c.Args()...)...); err != nil {
			return err
		}
	}
	return w.advance(id, hash, sum)
}

// head returns the study's number, the hash of its last record and its summary. That the head's hash is the last
// event's is checked before every Append: nothing is added behind a record that lost its end.
func (w *writer) head(study string) (id int64, hash []byte, sum assay.Summary, err error) {
	var last []byte
	id, hash, last, sum, err = store.ScanHead(w.stmts.head.QueryRow(study))
	err = scanError(err)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = store.NotExist("append to", study)
	case err == nil && !bytes.Equal(hash, last):
		err = fmt.Errorf("%w: study %q: event %d is not the last appended one", ErrDamaged, study, sum.Events)
	}
	return id, hash, sum, err
}

// trialBefore returns the state of a trial before the next event, for project, and if whole its proposal and its
// start. changed has the rows of this call, which are not in the file yet and so come first.
func (w *writer) trialBefore(
	study, trial int64, changed map[int64]assay.TrialRow, whole bool,
) (old assay.Trial, known bool, err error) {
	if row, ok := changed[trial]; ok {
		return row.Trial, true, nil
	}
	var state, config, started string
	switch err = w.stmts.trialBefore.QueryRow(study, trial).Scan(&state, &config, &started); {
	case errors.Is(err, sql.ErrNoRows):
		return assay.Trial{}, false, nil
	case err != nil:
		return assay.Trial{}, false, err
	}
	if err = old.State.UnmarshalText([]byte(state)); err == nil && whole {
		old, err = store.AskedBefore(trial, old.State, config, started)
	}
	if err != nil {
		return assay.Trial{}, false, fmt.Errorf("%w: trial %d: %w", ErrDamaged, trial, err)
	}
	return old, true, nil
}

// insertRecord adds a row of events. The payload goes in as a string, so that its type in the
// file is text: Salvage knows a row of events by that. at is the time in the payload.
func (w *writer) insertRecord(r store.Record, at time.Time) error {
	w.tail.study, w.tail.seq = r.Study, r.Seq
	_, err := w.stmts.event.Exec(r.Study, r.Seq, store.TimeText(at), string(r.Payload), int64(r.CRC), r.Hash)
	return err
}

// advance writes the head of a study, whose last record has that hash.
func (w *writer) advance(id int64, hash []byte, sum assay.Summary) error {
	_, err := w.stmts.advance.Exec(append([]any{id, sum.Events, hash}, store.NewHeadColumns(sum).Args()...)...)
	return err
}

// Remove implements [assay.Remover]. It returns an error that matches [assay.ErrLocked] while the study is locked, by
// this process too. The lock of the study keeps out an owner while the rows go. A name that no study can have is one
// that does not exist.
func (s *Store) Remove(ctx context.Context, study string) error {
	if err := store.CheckName(study); err != nil {
		return store.NotExist("remove", study)
	}
	release, err := s.Lock(ctx, study)
	if err != nil {
		return err
	}
	return errors.Join(s.write(ctx, func() error { return s.deleteStudy(study) }), release())
}

// deleteStudy removes the rows of a study. Rows that refer to it go first, because foreign keys are enforced;
// secure_delete overwrites their content.
func (w *writer) deleteStudy(study string) error {
	bg := context.Background()
	var id int64
	err := w.conn.QueryRowContext(bg, `SELECT id FROM studies WHERE name = ?`, study).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return store.NotExist("remove", study)
	}
	for _, text := range []string{
		`DELETE FROM trials WHERE study = ?`,
		`DELETE FROM events WHERE study = ?`,
		`DELETE FROM heads WHERE study = ?`,
		`DELETE FROM studies WHERE id = ?`,
	} {
		if err == nil {
			_, err = w.conn.ExecContext(bg, text, id)
		}
	}
	return err
}
