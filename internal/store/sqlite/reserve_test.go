package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// small mounts a disk of 8 MiB. Without the right to it, the test is skipped.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("assay-test", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: no disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A disk that fills up costs no result of the runs that end then: there is room for them, and
// after that the error names the full disk. The store has room again when the disk has.
func TestReserve(t *testing.T) {
	for _, reserve := range []bool{true, false} {
		dir := small(t)
		s, err := Open(t.Context(), filepath.Join(dir, "a.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Create(t.Context(), "a", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		grow(t, s, "a", 1, 5)
		if !reserve && !s.spendReserve() {
			t.Fatal("there was no reserve")
		}
		flood := filepath.Join(dir, "flood")
		f, err := os.Create(flood)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.Write(make([]byte, 1<<12))
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
		f.Close()
		id := int64(6)
		for err = nil; err == nil && id < 1000; id++ {
			err = put(t.Context(), s, "a", id)
		}
		if !errors.Is(err, ErrIO) {
			t.Fatalf("reserve %v: got %v, want ErrIO", reserve, err)
		}
		switch written := id - 7; {
		case reserve && written < 16:
			t.Errorf("%d trials after the disk was full, want at least 16", written)
		case !reserve && written > 8:
			t.Errorf("the control: %d trials without a reserve: the disk was not full", written)
		}
		if err := os.Remove(flood); err != nil {
			t.Fatal(err)
		}
		if err := put(t.Context(), s, "a", id-1); err != nil {
			t.Fatal(err)
		}
		checkFsck(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(t.Context(), filepath.Join(dir, "a.db"), Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.reservePath()); err != nil {
			t.Errorf("no reserve after the disk has room again: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
