// This file has the writes. Each write is one statement, which the server does as a whole or not at all, and each may
// be repeated: it names the position from which it moves the head of a study, and finds it there once.

package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// Create implements [assay.Store]. A name has 1 to 1024 bytes of UTF-8. The number of the study is ours alone, so that
// a call whose answer was lost finds out whether the study of that name is the one that it has made.
func (s *Store) Create(ctx context.Context, study string, spec []byte) error {
	c, payload, err := store.NewCreation(study, spec)
	if err != nil {
		return err
	}
	return s.create(ctx, c, payload)
}

// CreateFrom implements [store.Copier].
func (s *Store) CreateFrom(ctx context.Context, payload []byte) error {
	return store.CreateFrom(ctx, s, payload, func(c store.Creation) error { return s.create(ctx, c, payload) })
}

func (s *Store) create(ctx context.Context, c store.Creation, payload []byte) error {
	var id int64
	err := s.retry(ctx, away, func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, `SELECT nextval('study_ids')`).Scan(&id)
	})
	if err != nil {
		return err
	}
	r := store.NewRecord(store.Genesis(), id, 0, payload)
	head := store.NewHeadColumns(assay.NewSummary(c.Study, c.Created))
	args := []any{
		id, c.Study, append([]byte{}, c.Spec...), store.TimeText(c.Created), string(payload), int64(r.CRC), r.Hash,
	}
	args = append(args, head.Args()...)
	return s.retry(ctx, away, func(ctx context.Context) error {
		_, err := s.db.ExecContext(ctx, `WITH made AS (
			INSERT INTO studies (id, name, spec, created) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING RETURNING id
		), event AS (
			INSERT INTO events (study, seq, at, payload, crc, hash) SELECT id, 0, $4, $5, $6, $7 FROM made
		) INSERT INTO heads (study, seq, hash, `+headColumns+`) SELECT id, 0, $7, `+headFrom(8)+` FROM made`, args...)
		if err != nil {
			return err
		}
		var now int64
		err = s.db.QueryRowContext(ctx, `SELECT id FROM studies WHERE name = $1`, c.Study).Scan(&now)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // made, and removed by another process since
		}
		if err == nil && now != id {
			return store.Exists(c.Study)
		}
		return err
	})
}

// Append implements [assay.Store]. The projection uses the decoded payloads, so that text that is not UTF-8 is the
// same in the columns as in the events.
func (s *Store) Append(
	ctx context.Context, study string, at assay.Position, events ...assay.Event,
) (assay.Position, error) {
	payloads, err := store.EncodeEvents(events)
	if err != nil {
		return 0, err
	}
	return s.AppendPayloads(ctx, study, at, payloads...)
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
	err := s.retry(ctx, away, func(ctx context.Context) error { return s.append(ctx, study, at, events, payloads) })
	if err != nil {
		return 0, err
	}
	return at + assay.Position(len(events)), nil
}

// append adds the events if at is the end of the record, or finds them there. It begins with the head that this store
// left, and believes no conflict before it has read the head anew. Each further round follows a write of another
// process.
func (s *Store) append(
	ctx context.Context, study string, at assay.Position, events []assay.Event, payloads [][]byte,
) error {
	for h, read := s.heads.get(study), false; ; h, read = nil, true {
		if h == nil {
			var err error
			if h, err = s.readHead(ctx, study); err != nil {
				return err
			}
			read = true
		}
		switch end := assay.Position(h.sum.Events); {
		case !read && (at != end || len(events) == 0):
			continue
		case at != end:
			return s.repeated(ctx, h, study, at, payloads)
		case len(events) == 0:
			return nil
		}
		next, w, err := s.plan(ctx, h, events, payloads)
		if err != nil {
			return err
		}
		moved, err := s.insert(ctx, h, next, w)
		if err == nil && moved {
			s.heads.put(study, next)
			return nil
		}
		s.heads.drop(study)
		if err != nil {
			return err
		}
	}
}

// repeated returns nil if exactly these payloads stand behind at, and a conflict otherwise.
func (s *Store) repeated(ctx context.Context, h *head, study string, at assay.Position, payloads [][]byte) error {
	end := assay.Position(h.sum.Events)
	if at < 0 || at > end-assay.Position(len(payloads)) {
		return store.Conflict(study, at, end)
	}
	rows, err := s.db.QueryContext(ctx, `SELECT payload FROM events WHERE study = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
		h.id, int64(at), len(payloads))
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var p []byte
		if err := rows.Scan(&p); err != nil {
			return err
		}
		if !bytes.Equal(p, payloads[n]) {
			return store.Conflict(study, at, end)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n < len(payloads) { // the study has been removed since
		return store.NotExist("append to", study)
	}
	return nil
}

// headColumns are store.SummaryColumns as they stand in heads, and headValues how many.
var (
	headColumns = strings.ReplaceAll(store.SummaryColumns, "h.", "")
	headValues  = 1 + strings.Count(headColumns, ",")
)

// headFrom returns the placeholders of headColumns, the first with that number.
func headFrom(first int) string { return places(first, headValues) }

// places returns n placeholders, the first with that number.
func places(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("$", first+i)
	}
	return strings.Join(list, ", ")
}

// moveText is the one statement of an Append; see insert. Its arguments are the study, the number
// and the hash of the head, those it is to have, headColumns, and written.
var moveText = func() string {
	n := 6 + headValues
	arrays := func(types ...string) string {
		for i := range types {
			types[i] = fmt.Sprintf("$%d::%s[]", n, types[i])
			n++
		}
		return "unnest(" + strings.Join(types, ", ") + ")"
	}
	return `WITH moved AS (
		UPDATE heads SET (seq, hash, ` + headColumns + `) = ROW(` + places(4, 2+headValues) + `)
			WHERE study = $1 AND seq = $2 AND hash = $3 RETURNING study
	), added AS (
		INSERT INTO events (study, seq, at, payload, crc, hash) SELECT moved.study, e.* FROM moved,
			` + arrays("bigint", "text", "text", "bigint", "bytea") + ` AS e
	), rows AS (
		INSERT INTO trials (study, id, seq, state, value, config, metrics, reason, started, ended, attempts)
			SELECT moved.study, r.* FROM moved, ` +
		arrays("bigint", "bigint", "text", "float8", "text", "text", "text", "text", "text", "bigint") + ` AS r
			ON CONFLICT (study, id) DO UPDATE SET seq = EXCLUDED.seq, state = EXCLUDED.state, value = EXCLUDED.value,
				config = EXCLUDED.config, metrics = EXCLUDED.metrics, reason = EXCLUDED.reason,
				started = EXCLUDED.started, ended = EXCLUDED.ended, attempts = EXCLUDED.attempts
	) SELECT study FROM moved`
}()

// insert moves the head from h to next, with the rows of w, and reports whether it did: if the head has moved, or is
// gone, nothing is written. The update of the head waits for any other of the same study, and looks at the row again.
func (s *Store) insert(ctx context.Context, h, next *head, w *written) (moved bool, err error) {
	args := []any{h.id, h.sum.Events, h.hash, next.sum.Events, next.hash}
	args = append(args, store.NewHeadColumns(next.sum).In(text).Args()...)
	args = append(args, w.seq, w.at, w.payload, w.crc, w.hash)
	args = append(args, w.trials.args()...)
	var study int64
	err = s.db.QueryRowContext(ctx, moveText, args...).Scan(&study)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// text returns a text as a column can hold it: PostgreSQL has no NUL.
func text(t string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(t, "\ufffd"), "\x00", "\ufffd")
}

// Remove implements [assay.Remover]. It returns an error that matches [assay.ErrLocked] while the study has an owner.
// The row of owners stays, with its fence. The head goes first: an Append waits for it, and then finds none.
func (s *Store) Remove(ctx context.Context, study string) error {
	if err := store.CheckName(study); err != nil {
		return store.NotExist("remove", study)
	}
	release, err := s.Lock(ctx, study)
	if err != nil {
		return err
	}
	found, tried := false, false
	err = s.retry(ctx, away, func(ctx context.Context) error {
		// If a call is repeated, the earlier one may have removed the study.
		again := tried
		tried = true
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // nothing, behind a commit
		var id int64
		err = tx.QueryRowContext(ctx, `SELECT id FROM studies WHERE name = $1`, study).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			if again && found {
				return nil
			}
			return store.NotExist("remove", study)
		}
		found = true
		for _, text := range []string{
			`DELETE FROM heads WHERE study = $1`,
			`DELETE FROM trials WHERE study = $1`,
			`DELETE FROM events WHERE study = $1`,
			`DELETE FROM studies WHERE id = $1`,
		} {
			if err == nil {
				_, err = tx.ExecContext(ctx, text, id)
			}
		}
		if err != nil {
			return fmt.Errorf("study %q: %w", study, err)
		}
		return tx.Commit()
	})
	s.heads.drop(study)
	return errors.Join(err, release())
}
