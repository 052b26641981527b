package postgres

import (
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/store"
)

func TestPostgres(t *testing.T) {
	address := map[assay.Store]string{}
	assaytest.TestStore(t, func(t *testing.T) assay.Store {
		at := freshAddress(t)
		s := openTest(t, at)
		address[s] = at
		return s
	}, assaytest.StoreOptions{Reopen: func(t *testing.T, s assay.Store) assay.Store {
		if err := s.(*Store).Close(); err != nil {
			t.Fatal(err)
		}
		again := openTest(t, address[s])
		address[again] = address[s]
		return again
	}})
}

func TestProjector(t *testing.T) {
	assaytest.TestProjector(t, func(t *testing.T) assaytest.ProjectingStore {
		s := openTest(t, freshAddress(t))
		t.Cleanup(func() { checkFsck(t, s) })
		return s
	})
}

func TestWatcher(t *testing.T) {
	assaytest.TestWatcher(t, func(t *testing.T) assaytest.WatchedStore { return openTest(t, freshAddress(t)) })
}

func TestLeaser(t *testing.T) {
	assaytest.TestLeaser(t, func(t *testing.T) assaytest.LeasedStore { return openTest(t, freshAddress(t)) },
		assaytest.LeaserOptions{})
}

// A holder that stands still loses the study by the server's clock, gets the error at its next
// call, and its fence is the smaller one.
func TestLeaseFrozen(t *testing.T) {
	address := freshAddress(t)
	a, b := openTest(t, address), openTest(t, address)
	const ttl = 100 * time.Millisecond
	began := time.Now()
	frozen, err := a.lease(t.Context(), "a", "the frozen", ttl)
	if err != nil {
		t.Fatal(err)
	}
	frozen.timer.Stop() // its process stands still
	var l assay.Lease
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if l, err = b.Lease(t.Context(), "a", "the next", time.Hour); err == nil {
			break
		}
		if !errors.Is(err, assay.ErrLocked) || !strings.Contains(err.Error(), "the frozen") || time.Now().After(end) {
			t.Fatal(err)
		}
	}
	if waited := time.Since(began); waited < ttl+grace(ttl) {
		t.Errorf("the lease of %v went to another after %v", ttl, waited)
	}
	if l.Fence() <= frozen.Fence() {
		t.Errorf("got the fence %d after %d", l.Fence(), frozen.Fence())
	}
	frozen.timer.Reset(time.Hour)
	if err := frozen.Renew(t.Context()); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("Renew: got %v, want ErrLocked", err)
	}
	select {
	case <-frozen.Lost():
	default:
		t.Error("the frozen one has not heard of it")
	}
	if err := errors.Join(frozen.Release(), frozen.free(t.Context())); err != nil { // too late for both
		t.Error(err)
	}
	if _, err := a.Lease(t.Context(), "a", "", ttl); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// The lock of a process that was killed is free at once for one on the same machine, and for no
// other.
func TestLockOfTheKilled(t *testing.T) {
	s := openTest(t, freshAddress(t))
	c := exec.Command("true")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	set := func(pid int, place string) {
		release, err := s.Lock(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = release() }() // nothing: it is another's
		if _, err := s.db.ExecContext(t.Context(), `UPDATE owners SET pid = $1, place = $2, fence = fence + 1,
			expires = clock_timestamp() + interval '1 hour'`, pid, place); err != nil {
			t.Fatal(err)
		}
	}
	set(c.Process.Pid, place())
	set(c.Process.Pid, "another machine")
	if _, err := s.Lock(t.Context(), "a"); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("got %v, want ErrLocked: who it is cannot be known from here", err)
	}
}

// An address that cannot be used is named, without the password, and nothing is made.
func TestRefused(t *testing.T) {
	address := freshAddress(t)
	secret := func(at string) string { return strings.Replace(at, "postgres@", "postgres:S3cret@", 1) }
	for _, c := range []struct {
		name, address string
		opts          Options
		want          error
		class         assay.Class
	}{
		{"not durable", address + "&synchronous_commit=off", Options{}, ErrUnsafe, assay.ClassUsage},
		{"no database", strings.Replace(address, "/postgres?", "/nowhere?", 1), Options{}, ErrRefused, assay.ClassUsage},
		{"nobody there", "postgres://postgres@127.0.0.1:1/x", Options{}, ErrUnavailable, assay.ClassUnavailable},
		{"no address", "postgres://postgres@host:port/x", Options{}, nil, assay.ClassUsage},
		{"to look at", address, Options{Look: true}, fs.ErrNotExist, assay.ClassOf(fs.ErrNotExist)},
	} {
		s, err := Open(t.Context(), secret(c.address), c.opts)
		if err == nil {
			s.Close()
		}
		if err == nil || c.want != nil && !errors.Is(err, c.want) || assay.ClassOf(err) != c.class {
			t.Errorf("%s: got %v, class %v, want %v", c.name, err, assay.ClassOf(err), c.want)
		}
		if err != nil && strings.Contains(err.Error(), "S3cret") {
			t.Errorf("%s: the password is in %v", c.name, err)
		}
	}
	s := openTest(t, address)
	for text, want := range map[string]error{
		`UPDATE format SET version = 99`: ErrNewer, `DELETE FROM format`: ErrDamaged, `DROP TABLE format`: ErrForeign,
	} {
		if _, err := s.db.ExecContext(t.Context(), text); err != nil {
			continue // behind the DROP
		}
		if o, err := Open(t.Context(), address, Options{}); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
			if err == nil {
				o.Close()
			}
		}
	}
}

// The check finds rows that do not follow from the events, and the repair writes it again.
func TestFsck(t *testing.T) {
	s := openTest(t, freshAddress(t))
	ctx := t.Context()
	if err := s.Create(ctx, "a", []byte("spec")); err != nil {
		t.Fatal(err)
	}
	odd := pair(3)
	odd[1].Told.State, odd[1].Told.Reason = assay.Failed, "a NUL \x00 and a byte \xff"
	for at, events := range [][]assay.Event{pair(1), pair(2), odd} {
		if _, err := s.Append(ctx, "a", assay.Position(2*at), events...); err != nil {
			t.Fatal(err)
		}
	}
	checkFsck(t, s)
	for _, text := range []string{
		`UPDATE trials SET value = 7 WHERE id = 1`, `DELETE FROM trials WHERE id = 2`,
		`UPDATE heads SET best = 1`, `UPDATE studies SET spec = 'other'`, `DELETE FROM heads`,
	} {
		if _, err := s.db.ExecContext(ctx, text); err != nil {
			t.Fatal(err)
		}
		r, err := s.Fsck(ctx, store.FsckOptions{})
		if err != nil || r.OK() {
			t.Errorf("%s: got %+v, %v", text, r, err)
		}
		if r, err = s.Fsck(ctx, store.FsckOptions{Repair: true}); err != nil || !r.OK() || len(r.Problems) == 0 {
			t.Errorf("%s: repair: got %+v, %v", text, r, err)
		}
		checkFsck(t, s)
	}
	for _, text := range []string{
		`UPDATE events SET payload = replace(payload, '0.25', '0.75') WHERE seq = 3`, `DELETE FROM events WHERE seq = 6`,
	} {
		if _, err := s.db.ExecContext(ctx, text); err != nil {
			t.Fatal(err)
		}
		var failed error
		for _, err := range s.Events(ctx, "a", 0) {
			failed = err
		}
		if !errors.Is(failed, ErrDamaged) {
			t.Errorf("%s: reading: got %v, want ErrDamaged", text, failed)
		}
		if r, err := s.Fsck(ctx, store.FsckOptions{Repair: true}); err != nil || r.OK() {
			t.Errorf("%s: got %+v, %v", text, r, err)
		}
	}
}
