package sqlite

import (
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// manyStates writes a store of format 1 that has trials in every state it knew,
// cuts, checks and a session that was killed. It returns its path.
func manyStates(t *testing.T) string {
	t.Helper()
	f, err := os.Open("testdata/v1-many.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(fastDir(t), "many.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// oldHeads reads the summaries of a file of format 1, and the trials of each
// study as text, without this package.
func oldHeads(t *testing.T, path string) (sums map[string]assay.Summary, rows map[string][]string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	query := func(text string, row func(*sql.Rows) error) {
		r, err := db.Query(text)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for r.Next() {
			if err := row(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	sums, rows = map[string]assay.Summary{}, map[string][]string{}
	const headRows = `SELECT s.name, h.seq, h.running, h.done, h.censored, h.failed, h.infeasible, ` +
		`h.best, h.best_value, h.spent_ns, h.checks, h.ended
		FROM heads h JOIN studies s ON s.id = h.study`
	query(headRows, func(r *sql.Rows) error {
		var sum assay.Summary
		var n [5]int64
		err := r.Scan(&sum.Study, &sum.Events, &n[0], &n[1], &n[2], &n[3], &n[4],
			&sum.Best, &sum.Value, &sum.Spent, &sum.Checks, &sum.Ended)
		sum.Counts = map[assay.State]int64{}
		for state, n := range n {
			if n > 0 {
				sum.Counts[assay.State(state)] = n
			}
		}
		sums[sum.Study] = sum
		return err
	})
	const trialRows = `SELECT s.name, t.id, t.seq, t.state, t.config ` +
		`FROM trials t JOIN studies s ON s.id = t.study ORDER BY s.name, t.id`
	query(trialRows, func(r *sql.Rows) error {
		var name, state, config string
		var id, seq int64
		err := r.Scan(&name, &id, &seq, &state, &config)
		rows[name] = append(rows[name], fmt.Sprintln(id, seq, state, config))
		return err
	})
	return sums, rows
}

// checkMigrated fails unless the store has the content of the file of format 1.
func checkMigrated(t *testing.T, s *Store, sums map[string]assay.Summary, rows map[string][]string) {
	t.Helper()
	n := 0
	for got, err := range s.Summaries(t.Context(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		want := sums[got.Study]
		if !maps.Equal(got.Counts, want.Counts) || got.Events != want.Events ||
			got.Best != want.Best || got.Value != want.Value ||
			got.Spent != want.Spent || got.Checks != want.Checks || got.Ended != want.Ended {
			t.Errorf("study %q: got %+v, want %+v", got.Study, got, want)
		}
		var trials []string
		for row, err := range s.Trials(t.Context(), got.Study, 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			config := strings.ReplaceAll(fmt.Sprint([]float64(row.Trial.Config)), " ", ",")
			trials = append(trials, fmt.Sprintln(row.Trial.ID, row.Seq, row.Trial.State, config))
		}
		if fmt.Sprint(trials) != fmt.Sprint(rows[got.Study]) {
			t.Errorf("study %q: got the trials %v, want %v", got.Study, trials, rows[got.Study])
		}
	}
	if n != len(sums) {
		t.Errorf("got %d studies, want %d", n, len(sums))
	}
	checkFsck(t, s)
}

// A file of format 1 has the same events after its migration, and goes on.
func TestMigrateOne(t *testing.T) {
	path := manyStates(t)
	sums, rows := oldHeads(t, path)
	seen := map[assay.State]bool{}
	checks := int64(0)
	for _, sum := range sums {
		for state := range sum.Counts {
			seen[state] = true
		}
		checks += sum.Checks
	}
	if len(seen) != 5 || checks == 0 || len(sums) != 4 {
		t.Fatalf("the fixture has the states %v, %d checks and %d studies", seen, checks, len(sums))
	}
	s := openTest(t, path)
	checkMigrated(t, s, sums, rows)
	e := pair(1)[0]
	e.Asked = nil
	e.Withdrawn = &assay.Withdrawal{Trial: 2}
	if _, err := s.Append(t.Context(), "killed", assay.Position(sums["killed"].Events), e); err != nil {
		t.Fatal(err)
	}
	sum, err := s.Summary(t.Context(), "killed")
	if err != nil || sum.Counts[assay.Withdrawn] != 1 || sum.Counts[assay.Running] != 0 {
		t.Errorf("after a withdrawal: %+v, %v", sum, err)
	}
	checkFsck(t, s)
}

// A process that is killed after any statement of the migration leaves the old
// format or the new one, and the next one completes it.
func TestMigrateOneKilled(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	sums, rows := oldHeads(t, manyStates(t))
	for n := 1; ; n++ {
		path := manyStates(t)
		r := start(t, child(t, "upgrade", path, n), nil)
		if <-r.done; r.err == nil {
			if len(r.out) == 0 || r.out[0] != fmt.Sprint(n-1) {
				t.Errorf("got %v from a migration that was not killed after %d statements", r.out, n)
			}
			if n < 6 {
				t.Errorf("only %d statements", n-1)
			}
			return
		}
		if !strings.Contains(r.err.Error(), "signal: killed") {
			t.Fatal(r.err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		var version, heads int
		err = db.QueryRow(`SELECT user_version, (SELECT count(*) FROM sqlite_schema WHERE name LIKE 'heads%') `+
			`FROM pragma_user_version`).Scan(&version, &heads)
		if db.Close(); err != nil {
			t.Fatal(err)
		}
		if version != 1 && version != len(migrations) || heads != 1 {
			t.Errorf("killed after statement %d: format %d with %d tables of heads", n, version, heads)
		}
		if version == 1 {
			again, rowsAgain := oldHeads(t, path)
			if fmt.Sprint(again, rowsAgain) != fmt.Sprint(sums, rows) {
				t.Errorf("killed after statement %d: the file is not as it was", n)
			}
		}
		s := openTest(t, path)
		checkMigrated(t, s, sums, rows)
		s.Close()
	}
}
