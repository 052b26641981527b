package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// A killed holds a store as a process that was killed left it, and puts it back into the same files.
type killed struct {
	path            string
	file, wal, mark []byte
}

// killedWith returns the store of a study "a" with so many trials, all in the log.
func killedWith(t testing.TB, trials int64) killed {
	t.Helper()
	k := killed{path: filepath.Join(fastDir(t), "a.db")}
	s := openTest(t, k.path)
	if err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	for id := int64(1); id <= trials; id++ {
		grow(t, s, "a", id, 1)
	}
	var errs [3]error
	k.file, errs[0] = os.ReadFile(k.path)
	k.wal, errs[1] = os.ReadFile(k.path + "-wal")
	k.mark, errs[2] = os.ReadFile(s.markPath())
	if err := errors.Join(append(errs[:], s.Close())...); err != nil {
		t.Fatal(err)
	}
	return k
}

// with puts the file there with that log; nil is no log. The file stays the same one.
func (k killed) with(t testing.TB, wal []byte) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		os.Remove(k.path + suffix)
	}
	err := os.WriteFile(k.path, k.file, 0o600)
	if wal != nil {
		err = errors.Join(err, os.WriteFile(k.path+"-wal", wal, 0o600))
	}
	mark := filepath.Join(filepath.Dir(k.path), lockDir, filepath.Base(k.path)+".last")
	if err = errors.Join(err, os.WriteFile(mark, k.mark, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// trials opens the store and returns how many trials there are.
func (k killed) trials(t testing.TB) (int64, error) {
	t.Helper()
	s, err := Open(t.Context(), k.path, Options{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	sum, err := s.Summary(t.Context(), "a")
	return sum.Trials(), err
}

// A log that lost its end, wherever it was cut, is seen; the trials that are left are saved.
func TestDamageOfTheLogsEnd(t *testing.T) {
	t.Parallel()
	testbed.Long(t)
	trials := int64(25)
	if soak() {
		trials = 100
	}
	k := killedWith(t, trials)
	k.with(t, k.wal)
	if n, err := k.trials(t); n != trials || err != nil {
		t.Fatalf("undamaged: %d trials, %v", n, err)
	}
	scan, err := scanWAL(bytes.NewReader(k.wal))
	if err != nil {
		t.Fatal(err)
	}
	cuts := []int{0, 1, walHeader - 1, walHeader, len(k.wal) - 1}
	saved := map[int]int64{} // at least, by cut
	whole := int64(-1)       // trials whose commit is there; the first commit is the study's
	for i, f := range scan.frames {
		end := int(f.offset) + pageSize
		if f.commit {
			whole++
		}
		if end == len(k.wal) {
			continue
		}
		for _, c := range []int{end, end + 1, end + frameHeader, end + frameSize - 1} {
			if soak() || i%7 == 0 {
				cuts, saved[c] = append(cuts, c), whole
			}
		}
	}
	seen := 0
	for _, c := range cuts {
		k.with(t, slices.Clone(k.wal[:c]))
		n, err := k.trials(t)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at byte %d of %d: %d of %d trials and %v, want ErrDamaged", c, len(k.wal), n, trials, err)
			continue
		}
		seen++
		dst := filepath.Join(t.TempDir(), "b.db")
		report, err := Salvage(t.Context(), k.path, dst, Options{})
		got := int64(0)
		for _, r := range report {
			got += r.Events / 2
		}
		if err != nil || got < saved[c] {
			t.Errorf("cut at byte %d: saved %d trials, %v, want %d", c, got, err, saved[c])
		}
	}
	k.with(t, nil)
	if _, err := k.trials(t); !errors.Is(err, ErrDamaged) {
		t.Errorf("the whole log is gone: got %v, want ErrDamaged", err)
	}
	t.Logf("counted: a log of %d trials cut at %d places, seen %d", trials, len(cuts), seen)
}

// One wrong bit in any frame of the log is seen, in the last ones too.
func TestDamageOfEachFrame(t *testing.T) {
	t.Parallel()
	k := killedWith(t, 8)
	scan, err := scanWAL(bytes.NewReader(k.wal))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range scan.frames {
		for _, at := range []int64{f.offset + 1000, f.offset - frameHeader + 1, f.offset - 4} {
			wal := slices.Clone(k.wal)
			wal[at] ^= 0x10
			k.with(t, wal)
			if n, err := k.trials(t); !errors.Is(err, ErrDamaged) {
				t.Errorf("frame %d of %d, byte %d: %d trials and %v, want ErrDamaged", i+1, len(scan.frames), at, n, err)
			}
		}
	}
}

// Open reports no damage for another file in the place of this one, for a study that was removed, nor for
// a mark that is gone, old or not whole.
func TestMarkRefusesNothingWhole(t *testing.T) {
	for name, edit := range map[string]func(k killed) error{
		"no mark": func(k killed) error { return os.Remove(filepath.Join(filepath.Dir(k.path), lockDir, "a.db.last")) },
		"torn mark": func(k killed) error {
			return os.Truncate(filepath.Join(filepath.Dir(k.path), lockDir, "a.db.last"), 7)
		},
		"other file": func(k killed) error {
			b, err := os.ReadFile(k.path)
			return errors.Join(err, os.WriteFile(k.path+".new2", b, 0o600), os.Rename(k.path+".new2", k.path))
		},
	} {
		k := killedWith(t, 4)
		k.with(t, nil)
		if err := edit(k); err != nil {
			t.Fatal(err)
		}
		if _, err := k.trials(t); errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(fastDir(t), "a.db")
	s := openTest(t, path)
	for _, study := range []string{"a", "b"} {
		if err := s.Create(t.Context(), study, nil); err != nil {
			t.Fatal(err)
		}
	}
	grow(t, s, "b", 1, 3)
	// An Append that fails or conflicts behind the last commit is not marked.
	if _, err := s.Append(t.Context(), "b", 3, pair(9)...); err == nil {
		t.Fatal("a conflict is no error")
	}
	reopen := func() *Store {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return openTest(t, path)
	}
	s = reopen()
	if err := s.Remove(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	s = reopen()
	if n := checkPairs(t, s, "a"); n != 0 {
		t.Errorf("%d trials", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// A store that is removed and made anew may have the number of the first.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	checkFsck(t, openTest(t, path))
}

func FuzzMark(f *testing.F) {
	f.Add(mark{1, 2, 3}.encode())
	f.Add([]byte(markMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, ok := decodeMark(b); ok && !bytes.Equal(m.encode(), b) {
			t.Errorf("%x: %+v", b, m)
		}
	})
}
