package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// logged returns the bytes of a file and its log as kill -9 leaves them: all
// trials are in the log.
func logged(t testing.TB, trials int64) (file, wal []byte) {
	t.Helper()
	s := newTest(t)
	for id := int64(1); id <= trials; id++ {
		grow(t, s, "a", id, 1)
	}
	file, err1 := os.ReadFile(s.Path())
	wal, err2 := os.ReadFile(s.Path() + "-wal")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return file, wal
}

func writeLogged(t testing.TB, file, wal []byte) (path string) {
	t.Helper()
	path = filepath.Join(fastDir(t), "a.db")
	if err := errors.Join(os.WriteFile(path, file, 0o600), os.WriteFile(path+"-wal", wal, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// SQLite takes damage in its log for the log's end, and forgets the frames behind it
// without an error. Open reports the damage, and salvage finds the frames.
func TestDamagedLog(t *testing.T) {
	const trials = 12
	file, wal := logged(t, trials)
	scan, err := scanWAL(bytes.NewReader(wal))
	if err != nil || scan.fault != -1 || len(scan.stray) != 0 || len(scan.frames) != (len(wal)-walHeader)/frameSize {
		t.Fatalf("a whole log: got %+v, %v", scan, err)
	}
	commits := 0
	for _, f := range scan.frames {
		if f.commit {
			commits++
		}
	}
	if commits < trials {
		t.Fatalf("got %d commits in the log of %d trials", commits, trials)
	}
	detected, seen := 0, 0
	for i, f := range scan.frames {
		if f.commit {
			seen++
		}
		for _, at := range []int64{f.offset + 1000, f.offset - frameHeader + 1, f.offset - 4} {
			damaged := bytes.Clone(wal)
			damaged[at] ^= 0x10
			path := writeLogged(t, file, damaged)
			s, err := Open(t.Context(), path, Options{})
			if commits-seen >= 3 {
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "log") {
					t.Errorf("damage in frame %d, %d commits before the end: got %v, want ErrDamaged", i+1, commits-seen, err)
				}
				detected++
			}
			if err == nil {
				// At most the last transactions are gone, as if the power had been.
				if n := checkPairs(t, s, "a"); n < trials-3 {
					t.Errorf("damage in frame %d: got %d trials and no error", i+1, n)
				}
				s.Close()
				continue
			}
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			trySalvageLog(t, path, trials-1)
		}
	}
	t.Logf("%d frames, %d commits; all %d faults with 3 commits behind them detected", len(scan.frames), commits, detected)
}

// trySalvageLog fails unless at least n trials are salvaged.
func trySalvageLog(t testing.TB, path string, n int64) {
	t.Helper()
	report, err := Salvage(t.Context(), path, filepath.Join(fastDir(t), "b.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report) != 1 || report[0].Study != "a" || report[0].Events < 2*n {
		t.Errorf("salvaged %+v, want %d events of %q", report, 2*n, "a")
	}
}

// The remains of a power cut are not damage: the last transaction in part, in any
// order of its frames, behind it frames of an earlier log.
func TestUnfinishedLog(t *testing.T) {
	const trials = 6
	file, wal := logged(t, trials)
	scan, err := scanWAL(bytes.NewReader(wal))
	if err != nil {
		t.Fatal(err)
	}
	last := 0 // first frame of the last transaction
	for i, f := range scan.frames[:len(scan.frames)-1] {
		if f.commit {
			last = i + 1
		}
	}
	for missing := last; missing < len(scan.frames); missing++ {
		for name, edit := range map[string]func(b []byte) []byte{
			"cut":    func(b []byte) []byte { return b[:scan.frames[missing].offset] },
			"zeroed": func(b []byte) []byte { clear(b[scan.frames[missing].offset-frameHeader:][:frameSize]); return b },
			"old":    func(b []byte) []byte { b[scan.frames[missing].offset-frameHeader+8]++; return b },
		} {
			path := writeLogged(t, file, edit(bytes.Clone(wal)))
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Errorf("frame %d of %d %s: %v", missing+1, len(scan.frames), name, err)
				continue
			}
			if n := checkPairs(t, s, "a"); n != trials-1 {
				t.Errorf("frame %d of %d %s: got %d trials, want %d", missing+1, len(scan.frames), name, n, trials-1)
			}
			grow(t, s, "a", trials, 1)
			checkFsck(t, s)
			s.Close()
		}
	}
}

// The file is gone but its log is there: SQLite would throw the log away.
func TestLogWithoutFile(t *testing.T) {
	file, wal := logged(t, 3)
	path := writeLogged(t, file, wal)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	if got, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(got, wal) {
		t.Errorf("the log was changed: %v", err)
	}
}

func TestUntilCommit(t *testing.T) {
	for commits, want := range map[string]int{"": 0, "-": 0, "--": 0, "c": 1, "c-": 1, "-c": 2, "c-c--": 3} {
		frames := make([]walFrame, len(commits))
		for i := range frames {
			frames[i].commit = commits[i] == 'c'
		}
		if got := len(untilCommit(frames)); got != want {
			t.Errorf("%q: got %d frames, want %d", commits, got, want)
		}
	}
}
