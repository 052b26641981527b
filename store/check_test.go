package store_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/store"
)

func openTest(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// trial returns the two events of a trial that is done at the value id.
func trial(id int64) []assay.Event {
	at := time.Unix(1_770_000_000+id, 0).UTC()
	p := assay.Proposal{ID: id, Config: assay.Config{float64(id)}}
	return []assay.Event{
		{At: at, Asked: &p},
		{At: at, Spent: time.Second, Told: &assay.Trial{Proposal: p, State: assay.Done, Value: float64(id), Attempts: 1}},
	}
}

// grow appends trials to a study that has those before first.
func grow(t *testing.T, s assay.Store, study string, first, last int64) {
	t.Helper()
	for id := first; id <= last; id++ {
		if _, err := s.Append(t.Context(), study, assay.Position(2*(id-1)), trial(id)...); err != nil {
			t.Fatal(err)
		}
	}
}

// tamper changes a store of studies a and b, of 3 trials each, behind its back, and opens it again.
func tamper(t *testing.T, text string) *sqlite.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, path)
	for _, study := range []string{"a", "b"} {
		if err := s.Create(t.Context(), study, []byte("spec")); err != nil {
			t.Fatal(err)
		}
		grow(t, s, study, 1, 3)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return openTest(t, path)
}

// The check finds one change alone, at its place and in its study, and a repair reports that it has removed it if
// and only if it has.
func TestChecker(t *testing.T) {
	const of = " study = (SELECT id FROM studies WHERE name = 'b')"
	for _, c := range []struct {
		text     string
		problems []string // with * for any text that follows
		repaired bool
		trials   int64 // made from the events
	}{
		{text: `SELECT 1`, trials: 6},
		{
			text:     `UPDATE events SET payload = replace(payload, '"config":[2]', '"config":[9]') WHERE seq = 3 AND` + of,
			problems: []string{`study "b": events 3: *`}, trials: 6,
		},
		{
			text:     `UPDATE events SET at = '2026-01-01T00:00:00Z' WHERE seq = 3 AND` + of,
			problems: []string{`study "b": events 3: column at is "2026-01-01T00:00:00Z"`}, trials: 6,
		},
		{
			text:     `UPDATE events SET at = '2026-01-01T00:00:00Z' WHERE seq = 0 AND` + of,
			problems: []string{`study "b": events 0: column at is "2026-01-01T00:00:00Z"`}, trials: 6,
		},
		{
			text: `DELETE FROM events WHERE seq = 0 AND` + of,
			problems: []string{
				`study "b": events 1: *`, `study "b": events 0: the creation of the study is missing`,
				`study "b": heads: the summary is *`, // when the first event was is not known
			},
			trials: 6,
		},
		{
			text:     `UPDATE studies SET spec = 'x' WHERE name = 'b'`,
			problems: []string{`study "b": studies: name, specification or time differs from the creation of "b"*`},
			repaired: true, trials: 6,
		},
		{
			text:     `UPDATE studies SET created = '2026-01-01T00:00:00Z' WHERE name = 'b'`,
			problems: []string{`study "b": studies: name, specification or time differs from the creation of "b"*`},
			repaired: true, trials: 6,
		},
		{
			text:     `UPDATE studies SET name = 'c' WHERE name = 'b'`,
			problems: []string{`study "c": studies: name, specification or time differs from the creation of "b"*`},
			repaired: true, trials: 6,
		},
		{
			text:     `UPDATE heads SET seq = 5 WHERE` + of,
			problems: []string{`study "b": heads: 5 events with the hash *`}, repaired: true, trials: 6,
		},
		{
			text:     `UPDATE heads SET hash = zeroblob(32) WHERE` + of,
			problems: []string{`study "b": heads: 6 events with the hash 0000000000000000 were appended; there are 6 with *`},
			repaired: true, trials: 6,
		},
		{
			// Events that were appended are not there.
			text:     `UPDATE heads SET seq = 8, hash = zeroblob(32) WHERE` + of,
			problems: []string{`study "b": heads: 8 events with the hash 0000000000000000 were appended; there are 6 with *`},
			trials:   6,
		},
		{
			text:     `UPDATE heads SET best = 2 WHERE` + of,
			problems: []string{`study "b": heads: the summary is *`}, repaired: true, trials: 6,
		},
		{
			text:     `DELETE FROM heads WHERE` + of,
			problems: []string{`study "b": heads: the row is missing*`}, repaired: true, trials: 6,
		},
		{
			text:     `UPDATE trials SET reason = 'x' WHERE id = 2 AND` + of,
			problems: []string{`study "b": trials 2: the row is *`}, repaired: true, trials: 6,
		},
		{
			text: `DELETE FROM trials WHERE id <> 2 AND` + of,
			problems: []string{
				`study "b": trials 1: the row is missing*`, `study "b": trials 3: the row is missing*`,
			},
			repaired: true, trials: 6,
		},
		{
			text: `INSERT INTO trials SELECT study, 99, seq, state, value, config, metrics, reason, started, ended, attempts
				FROM trials WHERE id = 2 AND` + of,
			problems: []string{`study "b": trials 99: no event is about this trial*`}, repaired: true, trials: 6,
		},
		{
			// Nothing is repaired in a study whose events are not whole, but in others.
			text: `UPDATE events SET at = '' WHERE seq = 3 AND` + of + `; UPDATE trials SET reason = 'x' WHERE id = 2`,
			problems: []string{
				`study "a": trials 2: the row is *`, `study "b": events 3: *`, `study "b": trials 2: the row is *`,
			},
			trials: 6,
		},
		{
			text: `PRAGMA foreign_keys = OFF;
				INSERT INTO events VALUES (77, 0, '', '', 0, x'00'), (77, 1, '', '', 0, x'00')`,
			problems: []string{"events: 2 rows of study 77, which has no row in studies"}, trials: 6,
		},
	} {
		s := tamper(t, c.text)
		for _, repair := range []bool{false, true} {
			r, err := s.Fsck(t.Context(), store.FsckOptions{Repair: repair})
			if err != nil {
				t.Fatalf("%s: %v", c.text, err)
			}
			if r.Studies != 2 || r.Events != 12 || r.Trials != c.trials {
				t.Errorf("%s: %d studies, %d events, %d trials", c.text, r.Studies, r.Events, r.Trials)
			}
			want := c.problems
			if !slices.EqualFunc(r.Problems, want, func(p store.Problem, want string) bool {
				head, more := strings.CutSuffix(want, "*")
				return p.String() == head || more && strings.HasPrefix(p.String(), head)
			}) {
				t.Errorf("%s: got %q, want %q", c.text, r.Problems, want)
			}
			for _, p := range r.Problems {
				if p.Repaired != (repair && (c.repaired || p.Study == "a")) {
					t.Errorf("%s: repair %v: Repaired of %q is %v", c.text, repair, p, p.Repaired)
				}
			}
			if ok := len(want) == 0 || repair && c.repaired; r.OK() != ok {
				t.Errorf("%s: repair %v: OK is %v", c.text, repair, r.OK())
			}
		}
		left, err := s.Fsck(t.Context(), store.FsckOptions{})
		if err != nil || left.OK() != (c.repaired || len(c.problems) == 0) {
			t.Errorf("%s: after the repair: %q, %v", c.text, left.Problems, err)
		}
	}
}
