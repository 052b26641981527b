package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
)

func TestLeaser(t *testing.T) {
	assaytest.TestLeaser(t, func(t *testing.T) assaytest.LeasedStore {
		return openTest(t, filepath.Join(fastDir(t), "a.db"))
	}, assaytest.LeaserOptions{})
}

func TestWatcher(t *testing.T) {
	assaytest.TestWatcher(t, func(t *testing.T) assaytest.WatchedStore {
		return openTest(t, filepath.Join(fastDir(t), "a.db"))
	})
}

// The fence goes on after the file was closed, and after its study was removed.
func TestFenceIsKept(t *testing.T) {
	path := filepath.Join(fastDir(t), "a.db")
	last := int64(0)
	for range 3 {
		s := openTest(t, path)
		if err := s.Create(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		l, err := s.Lease(t.Context(), "a", "somebody", time.Hour)
		if err != nil || l.Fence() <= last {
			t.Fatalf("got %v, %v after the fence %d", l, err, last)
		}
		last = l.Fence()
		if err := s.Remove(t.Context(), "a"); !errors.Is(err, assay.ErrLocked) {
			t.Errorf("Remove of a leased study: got %v, want ErrLocked", err)
		}
		if err := errors.Join(l.Release(), s.Remove(t.Context(), "a")); err != nil {
			t.Fatal(err)
		}
		checkFsck(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A lease is lost if its lock file was taken away.
func TestLeaseFileIsGone(t *testing.T) {
	s := newTest(t)
	l, err := s.Lease(t.Context(), "a", "somebody", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	locks, err := filepath.Glob(filepath.Join(filepath.Dir(s.Path()), lockDir, "*"))
	if err != nil || len(locks) == 0 {
		t.Fatal(locks, err)
	}
	for _, path := range locks {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Renew(t.Context()); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	select {
	case <-l.Lost():
	default:
		t.Error("the lease is not lost")
	}
}

// A lease ends with its process.
func TestLeaseProcess(t *testing.T) {
	testbed.Outside(t)
	s := newTest(t)
	lines := make(chan string, 1)
	r := start(t, child(t, "lease", s.Path(), "a"), lines)
	select {
	case <-lines:
	case <-r.done:
		t.Fatal(r.err)
	}
	_, err := s.Lease(t.Context(), "a", "another", time.Hour)
	if !errors.Is(err, assay.ErrLocked) || !strings.Contains(err.Error(), "the child") {
		t.Errorf("got %v, want ErrLocked with the holder", err)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-r.done
	l, err := s.Lease(t.Context(), "a", "another", time.Hour)
	if err != nil || l.Fence() != 2 {
		t.Fatalf("after the process: got %v, %v", l, err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}
