package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

func TestSQLite(t *testing.T) {
	assaytest.TestStore(t, func(t *testing.T) assay.Store {
		return openTest(t, filepath.Join(fastDir(t), "a.db"))
	}, assaytest.StoreOptions{Reopen: func(t *testing.T, s assay.Store) assay.Store {
		if err := s.(*Store).Close(); err != nil {
			t.Fatal(err)
		}
		return openTest(t, s.(*Store).Path())
	}})
}

// openTest opens the store at path until the end of the test.
func openTest(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Wait: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// newTest returns a store with an empty study "a".
func newTest(t testing.TB) *Store {
	t.Helper()
	s := openTest(t, filepath.Join(fastDir(t), "a.db"))
	if err := s.Create(t.Context(), "a", []byte("spec")); err != nil {
		t.Fatal(err)
	}
	return s
}

// Other users of the machine cannot read the store.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x", "y")
	s := openTest(t, filepath.Join(dir, "a b?c#d%e.db"))
	if err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	release, err := s.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var names []string
	err = filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		}
		if info.Mode() != want {
			t.Errorf("%s: got mode %v, want %v", path, info.Mode(), want)
		}
		names = append(names, d.Name())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a b?c#d%e.db", "a b?c#d%e.db-wal", "a b?c#d%e.db-shm", "locks"} {
		if !slices.Contains(names, want) {
			t.Errorf("got the files %q, want %q among them", names, want)
		}
	}
}

func TestPragmas(t *testing.T) {
	s := newTest(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "application_id": "1634956153",
		"user_version": "3", "page_size": "4096", "secure_delete": "1",
	} {
		var got string
		if err := s.conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", pragma, got, err, want)
		}
	}
}

// The error names a file that cannot be opened, and the file is not touched.
func TestRefused(t *testing.T) {
	dir := filepath.Join(fastDir(t), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, "whole.db")
	s := openTest(t, whole)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(text string) []byte {
		path := filepath.Join(dir, "edit.db")
		os.Remove(path)
		if text[0] != '!' {
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.Exec(strings.TrimPrefix(text, "!"))
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name string
		data []byte
		want error
		text string
	}{
		{"empty", nil, ErrDamaged, "0 bytes"},
		{"text", []byte(strings.Repeat("not a database\n", 1000)), ErrDamaged, ""},
		{"other database", edit("!CREATE TABLE t (x)"), ErrForeign, ""},
		{"database without tables", edit("!PRAGMA page_size = 4096; VACUUM"), ErrForeign, ""},
		{"other application", edit("PRAGMA application_id = 1"), ErrForeign, "0x1"},
		{"newer", edit("PRAGMA user_version = 4"), ErrNewer, "format 4"},
		{"no version", edit("PRAGMA user_version = 0"), ErrDamaged, ""},
	} {
		path := filepath.Join(dir, "b.db")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), path, Options{})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v with the path and %q", c.name, err, c.want, c.text)
		}
	}
	if _, err := Open(t.Context(), dir, Options{}); !errors.Is(err, ErrForeign) {
		t.Errorf("a directory: got %v, want ErrForeign", err)
	}
	if _, err := Open(t.Context(), "/proc/assay/a.db", Options{}); err == nil {
		t.Error("a place that cannot be made: got no error")
	}
}

// A full disk, as SQLite reports it, when the room that was kept is spent.
func TestFull(t *testing.T) {
	s := newTest(t)
	s.spendReserve()
	grow(t, s, "a", 1, 5)
	release, err := s.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.ExecContext(t.Context(), "PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	id := int64(6)
	for ; err == nil && id < 1000; id++ {
		err = put(t.Context(), s, "a", id)
	}
	if !errors.Is(err, ErrIO) || errors.Is(err, ErrBroken) {
		t.Fatalf("got %v, want ErrIO", err)
	}
	// While the file cannot be opened, nothing is believed.
	hidden := s.Path() + ".hidden"
	if err := os.Rename(s.Path(), hidden); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"Append": put(t.Context(), s, "a", id-1),
		"Create": s.Create(t.Context(), "b", nil),
		"Events": firstError(s.Events(t.Context(), "a", 0)),
		"Trials": firstError(s.Trials(t.Context(), "a", 0, 0)),
	} {
		if !errors.Is(err, ErrBroken) || !errors.Is(err, ErrIO) {
			t.Errorf("%s on a broken store: got %v, want ErrBroken and ErrIO", what, err)
		}
	}
	if _, err := os.Stat(s.Path()); err == nil {
		t.Fatal("an empty store was made in place of the one that is gone")
	}
	if err := os.Rename(hidden, s.Path()); err != nil {
		t.Fatal(err)
	}
	// Then the same call writes the event that the first one should have written.
	if err := put(t.Context(), s, "a", id-1); err != nil {
		t.Fatal(err)
	}
	if s.broken.Load() != nil {
		t.Error("the store would open its file again at every call")
	}
	if n := checkPairs(t, s, "a"); n != id-1 {
		t.Errorf("got %d trials, want %d", n, id-1)
	}
	grow(t, s, "a", id, 5)
	checkFsck(t, s)
	if _, err := s.Lock(t.Context(), "a"); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("after the store was opened again: got %v, want the lock of before", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := checkPairs(t, openTest(t, s.Path()), "a"); n != id+4 {
		t.Errorf("got %d trials, want %d", n, id+4)
	}
}

func firstError[T any](seq func(yield func(T, error) bool)) (first error) {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestClosed(t *testing.T) {
	s := newTest(t)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for what, err := range map[string]error{
		"Append": put(t.Context(), s, "a", 1),
		"Spec":   func() error { _, err := s.Spec(t.Context(), "a"); return err }(),
		"Lock":   func() error { _, err := s.Lock(t.Context(), "a"); return err }(),
		"Fsck":   func() error { _, err := s.Fsck(t.Context(), FsckOptions{}); return err }(),
		"Events": firstError(s.Events(t.Context(), "a", 0)),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s on a closed store: got %v, want fs.ErrClosed", what, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(s.Path()))
	if err != nil || len(entries) != 2 {
		t.Errorf("got %v, %v, want the file and the directory of locks", entries, err)
	}
}

// A writer waits for another process, as long as its context and Wait allow.
func TestBusy(t *testing.T) {
	s := newTest(t)
	other, err := Open(t.Context(), s.Path(), Options{Wait: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := s.exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context(), other, "a", 1); !errors.Is(err, ErrBusy) {
		t.Errorf("beside a transaction without end: got %v, want ErrBusy", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := put(ctx, other, "a", 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if n := checkPairs(t, other, "a"); n != 0 {
		t.Errorf("got %d trials while another writes, want 0", n)
	}
	if err := s.exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context(), other, "a", 1); err != nil {
		t.Error(err)
	}
}

// The owner is another process, is named, and its end ends the lock.
func TestLockProcess(t *testing.T) {
	testbed.Outside(t)
	s := newTest(t)
	lines := make(chan string, 1)
	r := start(t, child(t, "hold", s.Path(), "a"), lines)
	select {
	case <-lines:
	case <-r.done:
		t.Fatal(r.err)
	}
	_, err := s.Lock(t.Context(), "a")
	if !errors.Is(err, assay.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint("process ", r.cmd.Process.Pid)) {
		t.Errorf("got %v, want assay.ErrLocked by process %d", err, r.cmd.Process.Pid)
	}
	if err := s.Remove(t.Context(), "a"); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("Remove: got %v, want assay.ErrLocked", err)
	}
	grow(t, s, "a", 1, 1) // the lock is between those who take it
	if n := checkPairs(t, s, "a"); n != 1 {
		t.Errorf("got %d trials, want 1", n)
	}
	r.cmd.Process.Kill()
	<-r.done
	release, err := s.Lock(t.Context(), "a")
	if err != nil {
		t.Fatalf("after the owner was killed: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// A process that is killed leaves its lock to a child that has not called exec yet,
// for a moment. The next process waits for that; no process waits for a holder that lives.
func TestLockOfTheKilled(t *testing.T) {
	testbed.Outside(t)
	s := newTest(t)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	hold := func(pid int) *fileLock {
		f, err := s.lockStudy(t.Context(), "a", "")
		if err != nil {
			t.Fatal(err)
		}
		host, _ := os.Hostname()
		text := fmt.Sprintf(`{"study":"a","pid":%d,"host":%q}`, pid, host)
		if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f
	}
	killed := hold(dead.Process.Pid)
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = killed.release() // the child calls exec
	}()
	release, err := s.Lock(t.Context(), "a")
	if err != nil {
		t.Fatalf("after the owner was killed: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	alive := hold(os.Getppid())
	defer alive.release()
	began := time.Now()
	if _, err := s.Lock(t.Context(), "a"); !errors.Is(err, assay.ErrLocked) || time.Since(began) > killedWait {
		t.Errorf("got %v after %v, want assay.ErrLocked at once", err, time.Since(began))
	}
}

// Two stores in one directory have their own locks, and a link to a store has
// the same.
func TestLockPlace(t *testing.T) {
	s := newTest(t)
	dir := filepath.Dir(s.Path())
	beside := openTest(t, filepath.Join(dir, "b.db"))
	link := filepath.Join(fastDir(t), "link.db")
	if err := os.Symlink(s.Path(), link); err != nil {
		t.Fatal(err)
	}
	linked := openTest(t, link)
	release, err := s.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := linked.Lock(t.Context(), "a"); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("through a link: got %v, want assay.ErrLocked", err)
	}
	other, err := beside.Lock(t.Context(), "a")
	if err != nil {
		t.Fatalf("of another store: %v", err)
	}
	other()
}

func TestDefaultPath(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	for state, want := range map[string]string{
		"":         "/home/u/.local/state/assay/assay.db",
		"relative": "/home/u/.local/state/assay/assay.db",
		"/s":       "/s/assay/assay.db",
	} {
		t.Setenv("XDG_STATE_HOME", state)
		if got, err := store.DefaultPath(); err != nil || got != want {
			t.Errorf("XDG_STATE_HOME=%q: got %q, %v, want %q", state, got, err, want)
		}
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(u.HomeDir, ".local", "state", "assay", "assay.db")
	if got, err := store.DefaultPath(); err != nil || got != want {
		t.Errorf("without HOME: got %q, %v, want %q", got, err, want)
	}
}
