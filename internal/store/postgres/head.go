// This file has the store's memory of the studies that it writes, so that an Append need not read before it writes.
// It is believed only as far as the server agrees: the head is moved from exactly this number and hash, which proves
// the rest of the memory.

package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// A head is where the record of a study ends. It does not change once it is made.
type head struct {
	id   int64 // of the study
	hash []byte
	sum  assay.Summary
	// last is at least the greatest ID of a trial, so that one behind it is new.
	last int64
	// running has trials without a final state: those that this store has seen asked.
	running map[int64]assay.Trial
}

// heads has the heads that this store has left, by study. It forgets all of them when there
// are too many: that costs a read each.
type heads struct {
	mu  sync.Mutex
	all map[string]*head
}

const headsMost = 4096

func (k *heads) get(study string) *head {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[study]
}

func (k *heads) put(study string, h *head) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) >= headsMost {
		k.all = map[string]*head{}
	}
	k.all[study] = h
}

func (k *heads) drop(study string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, study)
}

// readHead returns the head of a study. That its hash is the last event's is checked whenever it is read: nothing is
// added behind a record that lost its end.
func (s *Store) readHead(ctx context.Context, study string) (*head, error) {
	h := &head{}
	var last []byte
	var err error
	h.id, h.hash, last, h.sum, err = store.ScanHead(s.db.QueryRowContext(ctx,
		`SELECT s.id, s.name, s.created, h.seq, h.hash, e.hash, `+store.SummaryColumns+`
		FROM studies s LEFT JOIN heads h ON h.study = s.id LEFT JOIN events e ON e.study = s.id AND e.seq = h.seq
		WHERE s.name = $1`, study))
	switch err = scanError(err); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, store.NotExist("append to", study)
	case err == nil && !bytes.Equal(h.hash, last):
		err = fmt.Errorf("%w: study %q: event %d is not the last appended one", ErrDamaged, study, h.sum.Events)
	}
	if err != nil {
		return nil, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM trials WHERE study = $1`, h.id).Scan(&h.last)
	return h, err
}

// written holds the rows that an Append adds to the tables of events and trials, column by column.
type written struct {
	seq     []int64
	at      []string
	payload []string
	crc     []int64
	hash    [][]byte
	trials  trialArrays
}

// trialArrays are rows of trials, column by column.
type trialArrays struct {
	id, seq         []int64
	state           []string
	value           []*float64
	config, metrics []string
	reason          []string
	started, ended  []string
	attempts        []int64
}

func (a *trialArrays) add(c store.TrialColumns) {
	a.id, a.seq, a.state = append(a.id, c.ID), append(a.seq, c.Seq), append(a.state, c.State)
	var value *float64
	if c.Value.Valid {
		value = &c.Value.Float64
	}
	a.value = append(a.value, value)
	a.config, a.metrics = append(a.config, c.Config), append(a.metrics, c.Metrics)
	a.reason, a.attempts = append(a.reason, c.Reason), append(a.attempts, c.Attempts)
	a.started, a.ended = append(a.started, c.Started), append(a.ended, c.Ended)
}

func (a *trialArrays) args() []any {
	return []any{a.id, a.seq, a.state, a.value, a.config, a.metrics, a.reason, a.started, a.ended, a.attempts}
}

// plan returns the head after the events and the rows to write with it. The rows of trials are written once each, for
// any number of events about one.
func (s *Store) plan(
	ctx context.Context, h *head, events []assay.Event, payloads [][]byte,
) (next *head, w *written, err error) {
	next = &head{id: h.id, hash: h.hash, sum: h.sum, last: h.last, running: maps.Clone(h.running)}
	next.sum.Counts = maps.Clone(h.sum.Counts)
	if next.running == nil {
		next.running = map[int64]assay.Trial{}
	}
	before, err := s.trialsBefore(ctx, h, events)
	if err != nil {
		return nil, nil, err
	}
	w = &written{}
	rows := map[int64]assay.TrialRow{}
	for i, e := range events {
		r := store.NewRecord(next.hash, h.id, next.sum.Events+1, payloads[i])
		next.hash = r.Hash
		w.seq, w.at, w.hash = append(w.seq, r.Seq), append(w.at, store.TimeText(e.At)), append(w.hash, r.Hash)
		w.payload, w.crc = append(w.payload, string(r.Payload)), append(w.crc, int64(r.CRC))
		id, _ := assay.TrialOf(e)
		old, known := before[id]
		if row, changed := assay.Project(&next.sum, e, old, known); changed {
			rows[id], before[id] = row, row.Trial
			next.last = max(next.last, id)
			if row.Trial.State.Final() {
				delete(next.running, id)
			} else {
				next.running[id] = slim(row.Trial)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) { // in one order, so that no two wait for each other
		c, err := store.NewTrialColumns(rows[id])
		if err != nil {
			return nil, nil, err
		}
		w.trials.add(c.In(text))
	}
	return next, w, nil
}

// slim returns a trial as far as [assay.Project] needs it of a trial before an event.
func slim(t assay.Trial) assay.Trial {
	return assay.Trial{Proposal: t.Proposal, State: t.State, Started: t.Started}
}

// trialsBefore returns the trials that the events are about, as far as they are known before the first: from h, and
// else from the rows. The rows may be of a later moment than h; then the head is elsewhere, and nothing is written.
func (s *Store) trialsBefore(ctx context.Context, h *head, events []assay.Event) (map[int64]assay.Trial, error) {
	before, ask := map[int64]assay.Trial{}, []int64{}
	for _, e := range events {
		id, is := assay.TrialOf(e)
		if t, known := h.running[id]; is && known {
			before[id] = t
		} else if is && id <= h.last {
			ask = append(ask, id)
		}
	}
	if len(ask) == 0 {
		return before, nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT id, state, config, started FROM trials WHERE study = $1 AND id = ANY($2)`,
		h.id, ask)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var word, config, started string
		err := rows.Scan(&id, &word, &config, &started)
		var state assay.State
		if err == nil {
			err = state.UnmarshalText([]byte(word))
		}
		if err == nil {
			before[id], err = store.AskedBefore(id, state, config, started)
		}
		if err != nil {
			return nil, fmt.Errorf("trial %d: %w", id, scanError(err))
		}
	}
	return before, rows.Err()
}
