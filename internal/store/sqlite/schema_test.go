package sqlite

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

var writeFixture = flag.Bool("write-fixture", false, "write testdata of the newest format")

// Files of every released format can be read. A fixture is written once, by
// the release that has the format.
func TestFixtures(t *testing.T) {
	if *writeFixture {
		writeFixtureFile(t, fmt.Sprintf("testdata/v%d.db", len(migrations)))
	}
	for v := 1; v < len(migrations); v++ {
		t.Run(fmt.Sprint("format ", v), func(t *testing.T) { testFixture(t, fmt.Sprintf("testdata/v%d.db", v)) })
	}
}

func testFixture(t *testing.T, name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(fastDir(t), filepath.Base(name))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	checkFixture(t, openTest(t, path))
}

// checkFixture fails unless the store has all that the fixtures have.
func checkFixture(t *testing.T, s *Store) {
	t.Helper()
	for study, want := range fixtureStudies() {
		if spec, err := s.Spec(t.Context(), study); err != nil || string(spec) != "spec of "+study {
			t.Errorf("%q: got %q, %v", study, spec, err)
		}
		if n := checkPairs(t, s, study); n != want {
			t.Errorf("%q: got %d trials, want %d", study, n, want)
		}
		sum, err := s.Summary(t.Context(), study)
		if err != nil || sum.Counts[assay.Done] != want || sum.Best != want || sum.Events != 2*want {
			t.Errorf("%q: got the summary %+v, %v", study, sum, err)
		}
	}
	checkFsck(t, s)
}

// A migration from any earlier format that is killed behind any statement leaves a file of the old format or of the new
// one, the next program completes it, and nothing is missing.
func TestMigrationKilledBehindEachStatement(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	kills, old := 0, 0
	for v := 1; v < len(migrations); v++ {
		data, err := os.ReadFile(fmt.Sprintf("testdata/v%d.db", v))
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; ; n++ {
			path := filepath.Join(t.TempDir(), "a.db")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			r := start(t, child(t, "upgrade", path, n), nil)
			if <-r.done; r.err == nil {
				if n < 5 {
					t.Errorf("from format %d: only %d statements", v, n-1)
				}
				break
			}
			if !strings.Contains(r.err.Error(), "signal: killed") {
				t.Fatal(r.err)
			}
			kills++
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			var version int
			err = db.QueryRow("PRAGMA user_version").Scan(&version)
			if db.Close(); err != nil {
				t.Fatal(err)
			}
			if version == v {
				old++
			} else if version != len(migrations) {
				t.Errorf("from format %d, killed behind statement %d: the file has format %d", v, n, version)
			}
			s := openTest(t, path)
			checkFixture(t, s)
			s.Close()
		}
	}
	t.Logf("counted: killed behind each of %d statements of %d migrations: %d of the old format, %d of the new, all whole",
		kills, len(migrations)-1, old, kills-old)
}

// fixtureStudies are the studies of the fixtures and their numbers of trials.
func fixtureStudies() map[string]int64 { return map[string]int64{"a": 8, "b/ü": 2} }

func writeFixtureFile(t *testing.T, name string) {
	t.Helper()
	s := openTest(t, name)
	for study, n := range fixtureStudies() {
		if err := s.Create(t.Context(), study, []byte("spec of "+study)); err != nil {
			t.Fatal(err)
		}
		grow(t, s, study, 1, n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	os.Remove("testdata/locks")
}

// A migration that fails leaves the file as it was.
func TestMigrationFails(t *testing.T) {
	s := newTest(t)
	grow(t, s, "a", 1, 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	statements := strings.SplitAfter(slowMigrations()[3], ";\n")
	for k := range statements {
		broken := strings.Join(statements[:k], "") + "\nSELECT no_such_column;\n" + strings.Join(statements[k:], "")
		_, err := Open(t.Context(), s.Path(), Options{migrations: append(migrations, broken)})
		if err == nil || !strings.Contains(err.Error(), "from format 3 to 4") {
			t.Fatalf("a fault at statement %d: got %v, want an error", k, err)
		}
		old := openTest(t, s.Path())
		if n := checkPairs(t, old, "a"); n != 10 {
			t.Errorf("a fault at statement %d: got %d trials, want 10", k, n)
		}
		checkFsck(t, old)
		old.Close()
	}
}

// Nor does one that is killed: the file has the old format or the new one, and
// the old program refuses the new one.
func TestMigrationKilled(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	before, after := 0, 0
	var whole time.Duration // of a migration that is not killed
	cycles := 12
	if soak() {
		cycles = 200
	}
	for cycle := range cycles {
		s := newTest(t)
		grow(t, s, "a", 1, 10)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		r := start(t, child(t, "migrate", s.Path()), nil)
		if begin := time.Now(); cycle == 0 {
			<-r.done
			whole = time.Since(begin)
		}
		time.AfterFunc(time.Duration(rng.Int64N(int64(whole))), func() { r.cmd.Process.Kill() })
		<-r.done
		old, err := Open(t.Context(), s.Path(), Options{})
		switch {
		case err == nil:
			before++
			if n := checkPairs(t, old, "a"); n != 10 {
				t.Errorf("got %d trials, want 10", n)
			}
			checkFsck(t, old)
			old.Close()
		case errors.Is(err, ErrNewer):
			after++
		default:
			t.Errorf("half migrated: %v", err)
		}
	}
	if before == 0 || after == 0 {
		t.Errorf("%d before and %d after the migration", before, after)
	}
	t.Logf("%d kills: %d before, %d after the migration", cycles, before, after)
}

// Two programs that open a new file at once make one store.
func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	errs := make(chan error)
	for range 8 {
		go func() {
			s, err := Open(t.Context(), path, Options{})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	checkFsck(t, openTest(t, path))
}

func TestFileVersion(t *testing.T) {
	ctx := t.Context()
	const mark = applicationID
	for _, c := range []struct {
		id, version, tables int
		want                error
	}{
		{0, 0, 0, nil},
		{0, 1, 0, ErrForeign},
		{0, 0, 1, ErrForeign},
		{7, 0, 0, ErrForeign},
		{7, 3, 1, ErrForeign},
		{mark, 1, 0, nil},
		{mark, 3, 1, nil},
		{mark, 4, 1, ErrNewer},
		{mark, 0, 1, ErrDamaged},
		{mark, -1, 1, ErrDamaged},
	} {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", int32(c.id), c.version)
		if c.tables > 0 {
			text += "; CREATE TABLE x (y)"
		}
		if _, err := conn.ExecContext(ctx, text); err != nil {
			t.Fatal(err)
		}
		got, err := fileVersion(ctx, conn, 3)
		if !errors.Is(err, c.want) || err == nil && got != c.version {
			t.Errorf("%+v: got %d, %v", c, got, err)
		}
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
