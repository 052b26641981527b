// This file has what writes. Every write is one transaction between two gates, in this order:
//   - the turn, a channel, among the goroutines of this store
//   - BEGIN IMMEDIATE, SQLite's own lock, among processes
//
// So a process has one writer at the second gate, and waiting for the first ends with a
// context. Whoever comes through both takes along what waits at the first: see group.go.

package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// turnLength is how long SQLite itself waits for another process before we
// look whether the caller still wants to wait: it does not look at a context.
const turnLength = 250 * time.Millisecond

// statements are prepared once on the connection that writes.
// All of them are used by whoever has the turn. heal makes them anew with the connection.
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
func (s *Store) begin(ctx context.Context) error {
	for end := time.Now().Add(s.opts.Wait); ; {
		err := s.exec("BEGIN IMMEDIATE")
		if !isBusy(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w for %v", ErrBusy, s.opts.Wait)
		}
	}
}

// exec runs a statement to its end, whatever happens to the caller's context:
// an interrupted commit has no known outcome.
func (s *Store) exec(text string) error {
	_, err := s.conn.ExecContext(context.Background(), text)
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

// broke returns err in its class, and breaks the store.
// It is for a commit: whatever its error, nobody knows what is on the disk.
func (s *Store) broke(err error) error {
	err = classify(err)
	s.broken.CompareAndSwap(nil, &err)
	return err
}

// Create implements [assay.Store]. A name has 1 to 1024 bytes of UTF-8.
// A nil error means that the study is on the disk.
func (s *Store) Create(ctx context.Context, study string, spec []byte) error {
	if err := store.CheckName(study); err != nil {
		return err
	}
	created := time.Now().UTC()
	payload, err := store.Creation{Study: study, Spec: spec, Created: created}.Encode()
	if err != nil {
		return err
	}
	return s.write(ctx, func() error { return s.insertStudy(study, spec, created, payload) })
}

// CreateFrom implements [store.Copier].
func (s *Store) CreateFrom(ctx context.Context, payload []byte) error {
	c, err := store.DecodeCreation(payload)
	if err != nil {
		return err
	}
	err = s.write(ctx, func() error { return s.insertStudy(c.Study, c.Spec, c.Created, payload) })
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	for r, failed := range s.Records(ctx, c.Study, 0) {
		if failed != nil {
			return failed
		}
		if bytes.Equal(r.Payload, payload) {
			return nil
		}
		break
	}
	return err
}

// insertStudy adds the study, its record 0 and its head, in the transaction of the caller. Its
// queries do not look at a context, like all inside write.
func (s *Store) insertStudy(study string, spec []byte, created time.Time, payload []byte) error {
	bg := context.Background()
	var one int
	switch err := s.conn.QueryRowContext(bg, `SELECT 1 FROM studies WHERE name = ?`, study).Scan(&one); {
	case err == nil:
		return store.Exists(study)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	// A nil specification would become NULL, which the column refuses; an empty one is kept.
	r, err := s.conn.ExecContext(bg, `INSERT INTO studies (name, spec, created) VALUES (?, ?, ?)`,
		study, append([]byte{}, spec...), store.TimeText(created))
	if err != nil {
		return err
	}
	id, err := r.LastInsertId()
	if err != nil {
		return err
	}
	// The number of the study is known only now, and the checksum covers it.
	rec := store.NewRecord(store.Genesis(), id, 0, payload)
	if err := s.insertRecord(rec, created); err != nil {
		return err
	}
	return s.advance(id, rec.Hash, assay.NewSummary(study, created))
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
func (s *Store) insertAt(study string, at assay.Position, events []assay.Event, payloads [][]byte) error {
	id, hash, sum, err := s.head(study)
	if err != nil {
		return err
	}
	end := assay.Position(sum.Events)
	if at == end {
		return s.insertEvents(id, hash, sum, events, payloads)
	}
	if at < 0 || at > end-assay.Position(len(events)) {
		return store.Conflict(study, at, end)
	}
	rows, err := s.stmts.payloads.Query(id, int64(at), len(payloads))
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
func (s *Store) insertEvents(id int64, hash []byte, sum assay.Summary, events []assay.Event, payloads [][]byte) error {
	if len(events) == 0 {
		return nil
	}
	rows := make(map[int64]assay.TrialRow, len(events)) // that this call changes
	for i, e := range events {
		r := store.NewRecord(hash, id, sum.Events+1, payloads[i])
		if err := s.insertRecord(r, e.At); err != nil {
			return err
		}
		hash = r.Hash
		var old assay.Trial
		var known bool
		var err error
		if trial, ok := assay.TrialOf(e); ok {
			// A withdrawal carries nothing of its trial, so the whole of it is needed.
			if old, known, err = s.trialBefore(id, trial, rows, e.Withdrawn != nil); err != nil {
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
		if _, err := s.stmts.trial.Exec(append([]any{id}, c.Args()...)...); err != nil {
			return err
		}
	}
	return s.advance(id, hash, sum)
}

// head returns the study's number, the hash of its last record and its summary. That the head's hash is the last
// event's is checked before every Append: nothing is added behind a record that lost its end.
func (s *Store) head(study string) (id int64, hash []byte, sum assay.Summary, err error) {
	var last []byte
	id, hash, last, sum, err = store.ScanHead(s.stmts.head.QueryRow(study))
	err = scanError(err)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = store.NotExist("append to", study)
	case err == nil && !bytes.Equal(hash, last):
		err = fmt.Errorf("%w: study %q: event %d is not the last that was appended", ErrDamaged, study, sum.Events)
	}
	return id, hash, sum, err
}

// trialBefore returns what project needs of a trial before the next event: its state, and if whole its proposal and its
// start. changed has the rows of this call, which are not in the file yet and so come first.
func (s *Store) trialBefore(
	study, trial int64, changed map[int64]assay.TrialRow, whole bool,
) (old assay.Trial, known bool, err error) {
	if row, ok := changed[trial]; ok {
		return row.Trial, true, nil
	}
	var state, config, started string
	switch err = s.stmts.trialBefore.QueryRow(study, trial).Scan(&state, &config, &started); {
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
func (s *Store) insertRecord(r store.Record, at time.Time) error {
	s.tail.study, s.tail.seq = r.Study, r.Seq
	_, err := s.stmts.event.Exec(r.Study, r.Seq, store.TimeText(at), string(r.Payload), int64(r.CRC), r.Hash)
	return err
}

// advance writes the head of a study, whose last record has that hash.
func (s *Store) advance(id int64, hash []byte, sum assay.Summary) error {
	_, err := s.stmts.advance.Exec(append([]any{id, sum.Events, hash}, store.NewHeadColumns(sum).Args()...)...)
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

// deleteStudy removes the rows of a study. Those that refer to it go first, because foreign
// keys are enforced; secure_delete overwrites what they held.
func (s *Store) deleteStudy(study string) error {
	bg := context.Background()
	var id int64
	err := s.conn.QueryRowContext(bg, `SELECT id FROM studies WHERE name = ?`, study).Scan(&id)
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
			_, err = s.conn.ExecContext(bg, text, id)
		}
	}
	return err
}
