package store_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// Each record of a study about as long as a page is copied once, and a record that is there already is not.
func TestCopyPages(t *testing.T) {
	const page = store.PageRows / 2 // trials
	for _, c := range []struct{ from, to, extra int64 }{
		{0, 0, 0},
		{1, 0, 0},
		{page, 0, 0},
		{page + 1, 0, 0},
		{page, page, 0},
		{page, 1, 0},
		{2 * page, page - 1, 0},
		{3, 3, 2},
	} {
		dir := t.TempDir()
		from, to := openTest(t, filepath.Join(dir, "a.db")), openTest(t, filepath.Join(dir, "b.db"))
		if err := from.Create(t.Context(), "a", []byte("spec")); err != nil {
			t.Fatal(err)
		}
		add := func(s store.Copier, first, last int64) {
			var events []assay.Event
			for id := first; id <= last; id++ {
				events = append(events, trial(id)...)
			}
			if len(events) == 0 {
				return
			}
			if _, err := s.Append(t.Context(), "a", assay.Position(2*(first-1)), events...); err != nil {
				t.Fatal(err)
			}
		}
		add(from, 1, c.to)
		if c.to > 0 {
			want := store.Copied{Events: 2 * c.to, New: 2 * c.to}
			if got, err := store.Copy(t.Context(), from, to, "a"); err != nil || got != want {
				t.Errorf("%+v: first %+v, %v", c, got, err)
			}
		}
		add(from, c.to+1, c.from)
		add(to, c.from+1, c.from+c.extra)
		want := store.Copied{Events: 2 * c.from, New: 2 * (c.from - c.to), More: 2 * c.extra}
		if got, err := store.Copy(t.Context(), from, to, "a"); err != nil || got != want {
			t.Errorf("%+v: got %+v, %v, want %+v", c, got, err, want)
		}
		n := int64(0)
		for e, err := range to.Events(t.Context(), "a", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if id, _ := assay.TrialOf(e); id != n/2+1 {
				t.Fatalf("%+v: event %d is of trial %d", c, n+1, id)
			}
			n++
		}
		if n != want.Events+want.More {
			t.Errorf("%+v: the copy has %d events", c, n)
		}
	}
}

// Another study of that name is left as it is, wherever the two part.
func TestCopyParted(t *testing.T) {
	for _, same := range []int64{0, 1, 2} {
		dir := t.TempDir()
		from, to := openTest(t, filepath.Join(dir, "a.db")), openTest(t, filepath.Join(dir, "b.db"))
		if err := from.Create(t.Context(), "a", []byte("spec")); err != nil {
			t.Fatal(err)
		}
		grow(t, from, "a", 1, same)
		if _, err := store.Copy(t.Context(), from, to, "a"); err != nil {
			t.Fatal(err)
		}
		grow(t, from, "a", same+1, same+2)
		for _, e := range trial(50) {
			pos := assay.Position(2 * same)
			if e.Told != nil {
				pos++
			}
			if _, err := to.Append(t.Context(), "a", pos, e); err != nil {
				t.Fatal(err)
			}
			_, err := store.Copy(t.Context(), from, to, "a")
			if !errors.Is(err, store.ErrOther) || assay.ClassOf(err) != assay.ClassConflict {
				t.Errorf("parted behind trial %d: got %v, want ErrOther", same, err)
			}
			if sum, err := to.Summary(t.Context(), "a"); err != nil || sum.Events != int64(pos)+1 {
				t.Errorf("it has %d events, %v", sum.Events, err)
			}
		}
	}
}
