package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/store"
)

// newStore returns a store, and closes it at the end.
func newStore(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// filled returns a store with a study of n events.
func filled(t testing.TB, n int) *sqlite.Store {
	t.Helper()
	s := newStore(t)
	if err := s.Create(t.Context(), "a", []byte("spec")); err != nil {
		t.Fatal(err)
	}
	add(t, s, 0, n)
	return s
}

// add appends n events behind a position.
func add(t testing.TB, s assay.Store, at, n int) {
	t.Helper()
	for i := range n {
		e := assay.Event{
			At:    time.Unix(int64(at+i), 0).UTC(),
			Asked: &assay.Proposal{ID: int64(at + i + 1), Config: assay.Config{1}},
		}
		if _, err := s.Append(t.Context(), "a", assay.Position(at+i), e); err != nil {
			t.Fatal(err)
		}
	}
}

// all returns the records of a study.
func all(t testing.TB, s store.Records) (rs []store.Record) {
	t.Helper()
	for r, err := range s.Records(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	return rs
}

// same reports whether the hash of the last record, and so all, is the same.
func same(a, b []store.Record) bool {
	return len(a) == len(b) && (len(a) == 0 || bytes.Equal(a[len(a)-1].Hash, b[len(b)-1].Hash))
}

// copied returns the copy of a store with n events, and its records.
func copied(t testing.TB, n int) ([]byte, []store.Record) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a"+copySuffix)
	s := filled(t, n)
	m, err := openMirror(t.Context(), s, "a", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, all(t, s)
}

// A copy has each event as soon as Append has returned, whatever a session that was killed left of it.
func TestFollows(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n)+copySuffix)
		s := filled(t, rapid.IntRange(0, 3).Draw(r, "before"))
		to := newStore(t)
		defer to.Close() // before the next check opens more
		defer s.Close()
		at := len(all(t, s)) - 1
		for range rapid.IntRange(1, 4).Draw(r, "sessions") {
			m, err := openMirror(t.Context(), s, "a", path, func(text string) { t.Error(text) })
			if err != nil {
				r.Fatal(err)
			}
			for range rapid.IntRange(0, 3).Draw(r, "events") {
				add(t, m, at, 1)
				at++
				i := 0
				for c, err := range copiedRecords(path) {
					if err != nil || i > at || c.Seq != int64(i) {
						r.Fatalf("record %d of %d: %v", c.Seq, at, err)
					}
					i++
				}
				if i != at+1 {
					r.Fatalf("the copy has %d records of %d", i, at+1)
				}
			}
			if err := m.Close(); err != nil {
				r.Fatal(err)
			}
			if c, err := recoverCopy(t.Context(), path, to); err != nil || c.Events != int64(at) {
				r.Fatalf("%d events: %+v, %v", at, c, err)
			}
			if !same(all(t, s), all(t, to)) {
				r.Fatal("what came back differs")
			}
			// The session was killed when some of the last frame was written, or before the copy had an event.
			b, err := os.ReadFile(path)
			if err != nil {
				r.Fatal(err)
			}
			if err := os.WriteFile(path, b[:rapid.IntRange(0, len(b)).Draw(r, "left")], 0o600); err != nil {
				r.Fatal(err)
			}
		}
	})
}

// Every record that was written whole comes back from a copy that was cut off anywhere.
func TestEveryLength(t *testing.T) {
	b, want := copied(t, 3)
	ends := map[int]int{} // of the copy with so many records
	at := len(copyMagic)
	for i, r := range want {
		at += frameHead + len(r.Payload)
		ends[at] = i + 1
	}
	n := 0
	for cut := range len(b) + 1 {
		n = max(n, ends[cut])
		path := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(path, b[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		var got []store.Record
		for r, err := range copiedRecords(path) {
			if err != nil {
				t.Fatalf("%d bytes: %v", cut, err)
			}
			got = append(got, r)
		}
		if !same(got, want[:n]) {
			t.Fatalf("%d bytes: %d records, want %d", cut, len(got), n)
		}
	}
	if n != len(want) {
		t.Fatalf("only %d of %d records are whole", n, len(want))
	}
}

// Damage anywhere but in the last event is seen, the events before it come back, and no others do.
func TestEveryByte(t *testing.T) {
	b, want := copied(t, 3)
	last := len(b) - frameHead - len(want[len(want)-1].Payload)
	at, n := len(copyMagic), 0 // where the next record begins, and its number
	for i := range b {
		if i == at {
			at, n = at+frameHead+len(want[n].Payload), n+1
		}
		before := max(0, n-1)
		for _, bit := range []byte{1, 0x80} {
			damaged := bytes.Clone(b)
			damaged[i] ^= bit
			path := filepath.Join(t.TempDir(), "damaged")
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			var got []store.Record
			var failed error
			for r, err := range copiedRecords(path) {
				if err != nil {
					failed = err
					break
				}
				got = append(got, r)
			}
			if !same(got, want[:before]) {
				t.Fatalf("byte %d: %d records, want %d", i, len(got), before)
			}
			if i < last && !errors.Is(failed, store.ErrDamaged) {
				t.Fatalf("byte %d of %d: %v, want damage", i, last, failed)
			}
		}
	}
}

func TestRecoverDamaged(t *testing.T) {
	b, want := copied(t, 3)
	b[len(copyMagic)+frameHead+len(want[0].Payload)+frameHead+len(want[1].Payload)+frameHead+3] ^= 1
	path := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	to := newStore(t)
	c, err := recoverCopy(t.Context(), path, to)
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "event 2, at byte") || c.New != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if got := all(t, to); !same(got, want[:2]) {
		t.Errorf("%d records came back", len(got))
	}
}

// A store that goes on is not overtaken by its copy, nor is another's copy taken for its own.
func TestFits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+copySuffix)
	s := filled(t, 2)
	m, err := openMirror(t.Context(), s, "a", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	old := newStore(t)
	if _, err := store.Copy(t.Context(), s, old, "a"); err != nil {
		t.Fatal(err)
	}
	add(t, m, 2, 1)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := openMirror(t.Context(), old, "a", path, nil); !errors.Is(err, errAhead) {
		t.Errorf("a store with fewer events: %v", err)
	}
	if c, err := recoverCopy(t.Context(), path, old); err != nil || c.New != 1 || c.Events != 3 {
		t.Errorf("recovered: %+v, %v", c, err)
	}
	if m, err := openMirror(t.Context(), old, "a", path, nil); err != nil {
		t.Errorf("after that: %v", err)
	} else {
		m.Close()
	}
	if _, err := openMirror(t.Context(), filled(t, 5), "a", path, nil); !errors.Is(err, store.ErrOther) {
		t.Errorf("another study: %v", err)
	}
	if c, err := recoverCopy(t.Context(), path, filled(t, 5)); !errors.Is(err, store.ErrOther) {
		t.Errorf("into another study: %+v, %v", c, err)
	}
}

// A copy that is damaged is kept, and one is made of the store.
func TestSetAside(t *testing.T) {
	b, _ := copied(t, 1)
	path := filepath.Join(t.TempDir(), "a"+copySuffix)
	s := filled(t, 2)
	for n := 1; n <= 2; n++ {
		b[len(copyMagic)+50] ^= 1
		damaged := bytes.Clone(b)
		damaged[len(copyMagic)+51] ^= 1
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		var said []string
		m, err := openMirror(t.Context(), s, "a", path, func(text string) { said = append(said, text) })
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		kept := fmt.Sprintf("%s.damaged-%d", path, n)
		if len(said) != 1 || !strings.Contains(said[0], kept) {
			t.Errorf("said %q", said)
		}
		if got, err := os.ReadFile(kept); err != nil || !bytes.Equal(got, damaged) {
			t.Errorf("%s: %v", kept, err)
		}
		if c, err := recoverCopy(t.Context(), path, newStore(t)); err != nil || c.New != 2 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// A file system that is away for a while ends nothing, and is said once.
func TestAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+copySuffix)
	var said []string
	m, err := openMirror(t.Context(), filled(t, 0), "a", path, func(text string) { said = append(said, text) })
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	add(t, m, 0, 1)
	m.file.Close()
	away := filepath.Dir(path) + ".away"
	if err := os.Rename(filepath.Dir(path), away); err != nil {
		t.Fatal(err)
	}
	add(t, m, 1, 2)
	if len(said) != 1 || !strings.Contains(said[0], "cannot be written") {
		t.Errorf("away: %q", said)
	}
	if err := os.Rename(away, filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	add(t, m, 3, 1)
	if len(said) != 2 || !strings.Contains(said[1], "complete again") {
		t.Errorf("back: %q", said)
	}
	if c, err := recoverCopy(t.Context(), path, newStore(t)); err != nil || c.New != 4 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestNoCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if _, err := copiedCreation(path); !isGone(err) {
		t.Errorf("no file: %v", err)
	}
	for _, text := range []string{"", copyMagic[:4], copyMagic, "something else"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := copiedCreation(path); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The part of any file that is read equals the frames that would be written for it, one after another.
func FuzzRecords(f *testing.F) {
	b, _ := copied(f, 2)
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add([]byte(copyMagic + "\xff\xff\xff\x7f"))
	path := filepath.Join(f.TempDir(), "fuzz")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		again := []byte(copyMagic)
		for r, err := range copiedRecords(path) {
			if err != nil {
				break
			}
			again = append(again, copyFrame(r)...)
		}
		if len(again) > len(copyMagic) && !bytes.HasPrefix(b, again) {
			t.Errorf("%q was read as %q", b, again)
		}
	})
}
