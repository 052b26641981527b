package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Each tampering changes one thing behind the store's back. repairable ones
// concern only values that follow from the events.
func TestFsck(t *testing.T) {
	tampering := []struct {
		name, text string
		place      string // of some problem
		repairable bool
	}{
		{"nothing", ``, ``, true},
		{"payload", `UPDATE events SET payload = replace(payload, '0.25', '0.75') WHERE seq = 7`, "events 7", false},
		{"time", `UPDATE events SET at = '2026-01-01T00:00:00Z' WHERE seq = 7`, "events 7", false},
		{"checksum", `UPDATE events SET crc = crc + 1 WHERE seq = 7`, "events 7", false},
		{"hash", `UPDATE events SET hash = zeroblob(32) WHERE seq = 7`, "events 7", false},
		{"payload without hash", `UPDATE events SET hash = NULL WHERE seq = 7`, "", false}, // refused by SQLite
		{"swap", `UPDATE events SET seq = -seq WHERE seq IN (7, 8); ` +
			`UPDATE events SET seq = 15 + seq WHERE seq < 0`, "events 7", false},
		{"gap", `DELETE FROM events WHERE seq = 7`, "events 8", false},
		{"tail", `DELETE FROM events WHERE seq = 20`, "heads", false},
		{"all events", `DELETE FROM events`, "events 0", false},
		{"creation", `DELETE FROM events WHERE seq = 0`, "events 0", false},
		{"spec", `UPDATE studies SET spec = 'other'`, "studies", true},
		{"created", `UPDATE studies SET created = '2026-01-01T00:00:00Z'`, "studies", true},
		{"name", `UPDATE studies SET name = 'other'`, "studies", true},
		{"head number", `UPDATE heads SET seq = 19`, "heads", true},
		{"head hash", `UPDATE heads SET hash = zeroblob(32)`, "heads", true},
		{"head number and hash", `UPDATE heads SET seq = 30, hash = zeroblob(32)`, "heads", false},
		{"head missing", `DELETE FROM heads`, "heads", true},
		{"done", `UPDATE heads SET counts = '{"done":11}'`, "heads", true},
		{"running", `UPDATE heads SET counts = '{"done":10,"running":-1}'`, "heads", true},
		{"state that there is not", `UPDATE heads SET counts = '{"well":10}'`, "heads", true},
		{"best", `UPDATE heads SET best = 1`, "heads", true},
		{"best value", `UPDATE heads SET best_value = 0`, "heads", true},
		{"spent", `UPDATE heads SET spent_ns = 0`, "heads", true},
		{"checks", `UPDATE heads SET checks = 1`, "heads", true},
		{"ended", `UPDATE heads SET ended = 'budget'`, "heads", true},
		{"last", `UPDATE heads SET last = ''`, "heads", true},
		{"no time", `UPDATE heads SET first = 'noon'`, "heads", true},
		{"state", `UPDATE trials SET state = 'failed' WHERE id = 3`, "trials 3", true},
		{"value", `UPDATE trials SET value = value + 1e-9 WHERE id = 3`, "trials 3", true},
		{"no value", `UPDATE trials SET value = NULL WHERE id = 3`, "trials 3", true},
		{"config", `UPDATE trials SET config = '[]' WHERE id = 3`, "trials 3", true},
		{"metrics", `UPDATE trials SET metrics = '{}' WHERE id = 3`, "trials 3", true},
		{"reason", `UPDATE trials SET reason = 'x' WHERE id = 3`, "trials 3", true},
		{"started", `UPDATE trials SET started = '' WHERE id = 3`, "trials 3", true},
		{"ended", `UPDATE trials SET ended = '' WHERE id = 3`, "trials 3", true},
		{"attempts", `UPDATE trials SET attempts = 'many' WHERE id = 3`, "trials", true},
		{"source", `UPDATE trials SET seq = 1 WHERE id = 3`, "trials 3", true},
		{"trial missing", `DELETE FROM trials WHERE id = 3`, "trials 3", true},
		{"trial too many", `INSERT INTO trials SELECT study, 99, seq, state, value, config, metrics, reason, ` +
			`started, ended, attempts FROM trials WHERE id = 3`, "trials 99", true},
		{"orphans", `PRAGMA foreign_keys = OFF; INSERT INTO events VALUES (99, 0, '', '', 0, x'00')`, "events", false},
		{"foreign table", `CREATE TABLE other (x)`, "sqlite_schema", false},
		{"column", `ALTER TABLE trials ADD COLUMN x`, "sqlite_schema", false},
	}
	for _, c := range tampering {
		t.Run(c.name, func(t *testing.T) {
			s := openTest(t, filepath.Join(fastDir(t), "a.db"))
			ctx := t.Context()
			if err := s.Create(ctx, "a", []byte("spec")); err != nil {
				t.Fatal(err)
			}
			grow(t, s, "a", 1, 10)
			_, err := s.conn.ExecContext(ctx, c.text)
			if refused := err != nil; refused != (c.place == "" && c.text != "") {
				t.Fatalf("tampering: %v", err)
			}
			r, err := s.Fsck(ctx, FsckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if c.place == "" && r.OK() {
				return
			}
			named := false
			for _, p := range r.Problems {
				named = named || p.Place == c.place
			}
			if !named {
				t.Errorf("no problem at %q: %v", c.place, r.Problems)
			}
			if _, err := s.Fsck(ctx, FsckOptions{Repair: true}); err != nil {
				t.Fatal(err)
			}
			if r, err = s.Fsck(ctx, FsckOptions{}); err != nil || r.OK() != c.repairable {
				t.Fatalf("after the repair: got OK %v, want %v: %v, %v", r.OK(), c.repairable, r.Problems, err)
			}
			if !c.repairable {
				return
			}
			if n := checkPairs(t, s, "a"); n != 10 {
				t.Errorf("got %d trials, want 10", n)
			}
			grow(t, s, "a", 11, 5)
			checkFsck(t, s)
		})
	}
}

// Reading never returns an event that was not appended, whatever was done to the file.
func TestReadTampered(t *testing.T) {
	for _, text := range []string{
		`UPDATE events SET payload = replace(payload, '0.25', '0.75') WHERE seq = 7`,
		`UPDATE events SET payload = (SELECT payload FROM events WHERE seq = 5), ` +
			`crc = (SELECT crc FROM events WHERE seq = 5) WHERE seq = 7`,
		`UPDATE events SET hash = zeroblob(32) WHERE seq = 7`,
		`UPDATE events SET seq = -seq WHERE seq IN (7, 8); UPDATE events SET seq = 15 + seq WHERE seq < 0`,
		`DELETE FROM events WHERE seq = 7`,
		`DELETE FROM events WHERE seq = 20`,
		`DELETE FROM events WHERE seq > 0`,
		`DELETE FROM events WHERE seq = 0`,
		`DELETE FROM heads`,
		`UPDATE heads SET seq = 19`,
	} {
		s := openTest(t, filepath.Join(fastDir(t), "a.db"))
		ctx := t.Context()
		if err := s.Create(ctx, "a", []byte("spec")); err != nil {
			t.Fatal(err)
		}
		grow(t, s, "a", 1, 10)
		if _, err := s.conn.ExecContext(ctx, text); err != nil {
			t.Fatal(err)
		}
		n, damaged := int64(0), false
		for e, err := range s.Events(ctx, "a", 0) {
			if damaged = errors.Is(err, ErrDamaged); damaged {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := pair(n/2 + 1)[n%2]; !sameEvent(e, want) {
				t.Errorf("%s: event %d: got %+v, want %+v", text, n+1, e, want)
			}
			n++
		}
		if !damaged {
			t.Errorf("%s: got %d events and no error, want ErrDamaged", text, n)
		}
	}
}

func TestTrialsTampered(t *testing.T) {
	for _, text := range []string{
		`UPDATE trials SET state = 'failed' WHERE id = 3`,
		`UPDATE trials SET seq = 1 WHERE id = 3`,
		`UPDATE trials SET seq = 99 WHERE id = 3`,
		`UPDATE events SET payload = replace(payload, '0.25', '0.75') WHERE seq = 6`,
	} {
		s := openTest(t, filepath.Join(fastDir(t), "a.db"))
		if err := s.Create(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		grow(t, s, "a", 1, 5)
		if _, err := s.conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range s.Trials(t.Context(), "a", 0, 0) {
			last = err
		}
		if !errors.Is(last, ErrDamaged) || !strings.Contains(last.Error(), "trial 3") {
			t.Errorf("%s: got %v, want ErrDamaged at trial 3", text, last)
		}
	}
}

// Fsck sees one moment: it finds nothing wrong while others append.
func TestFsckWhileAppending(t *testing.T) {
	path := filepath.Join(fastDir(t), "a.db")
	s, other := openTest(t, path), openTest(t, path)
	if err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		defer close(done)
		for id := int64(1); ctx.Err() == nil; id++ {
			if err := put(ctx, other, "a", id); err != nil && ctx.Err() == nil {
				done <- fmt.Errorf("append %d: %w", id, err)
				return
			}
		}
	}()
	for range 10 {
		checkFsck(t, s)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
