package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// records returns the records of a study.
func records(t *testing.T, s store.Copier, study string) (all []store.Record) {
	t.Helper()
	for r, err := range s.Records(t.Context(), study, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// checkCopied fails unless two stores have the same records of a study, but for the number of
// the study, which is a store's own.
func checkCopied(t *testing.T, a, b store.Copier, study string) {
	t.Helper()
	want, got := records(t, a, study), records(t, b, study)
	if len(got) != len(want) {
		t.Fatalf("got %d records, want %d", len(got), len(want))
	}
	for i := range want {
		if string(got[i].Payload) != string(want[i].Payload) || string(got[i].Hash) != string(want[i].Hash) {
			t.Fatalf("record %d differs: %s, not %s", i, got[i].Payload, want[i].Payload)
		}
	}
}

// A cutStore fails at the n-th Append.
type cutStore struct {
	store.Copier
	left int
}

var errCut = errors.New("cut off")

func (c *cutStore) AppendPayloads(
	ctx context.Context, study string, at assay.Position, payloads ...[]byte,
) (assay.Position, error) {
	if c.left--; c.left < 0 {
		return 0, errCut
	}
	return c.Copier.AppendPayloads(ctx, study, at, payloads...)
}

// A copy is the same bytes; one that was cut off goes on, one of a study that has grown too.
func TestCopy(t *testing.T) {
	from, to := newTest(t), openTest(t, filepath.Join(fastDir(t), "b.db"))
	ctx := t.Context()
	if err := to.Create(ctx, "first", nil); err != nil { // so that the numbers of studies differ
		t.Fatal(err)
	}
	grow(t, from, "a", 1, 400)
	// A key that this version does not know is copied too: the bytes count, not their meaning.
	odd := []byte(`{"at":"2026-01-01T00:00:00Z","spent_ns":0,"future":7,"ended":{"by":"budget"}}`)
	if _, err := from.AppendPayloads(ctx, "a", 800, odd); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Copy(ctx, from, &cutStore{to, 2}, "a"); !errors.Is(err, errCut) {
		t.Fatalf("got %v, want what cut it off", err)
	}
	if n := len(records(t, to, "a")); n != 2*store.PageRows+1 {
		t.Errorf("%d records were copied before the cut", n)
	}
	for _, want := range []store.Copied{{Events: 801, New: 801 - 2*store.PageRows}, {Events: 801}} {
		if c, err := store.Copy(ctx, from, to, "a"); err != nil || c != want {
			t.Errorf("got %+v, %v, want %+v", c, err, want)
		}
		checkCopied(t, from, to, "a")
	}
	if _, err := from.Append(ctx, "a", 801, pair(401)...); err != nil {
		t.Fatal(err)
	}
	if c, err := store.Copy(ctx, from, to, "a"); err != nil || c != (store.Copied{Events: 803, New: 2}) {
		t.Errorf("after it has grown: got %+v, %v", c, err)
	}
	// The copy is gone on with: it has all there is, and is left as it is.
	if _, err := to.Append(ctx, "a", 803, pair(402)...); err != nil {
		t.Fatal(err)
	}
	if c, err := store.Copy(ctx, from, to, "a"); err != nil || c != (store.Copied{Events: 803, More: 2}) {
		t.Errorf("after the copy has grown: got %+v, %v", c, err)
	}
	if _, err := store.Copy(ctx, from, to, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such study: got %v, want fs.ErrNotExist", err)
	}
	checkFsck(t, to)
}

// A different study of that name is never changed.
func TestCopyOther(t *testing.T) {
	ctx := t.Context()
	for what, change := range map[string]func(from, to *Store) error{
		"made anew": func(from, to *Store) error { return to.Create(ctx, "a", []byte("spec")) },
		"another event": func(from, to *Store) error {
			if err := to.CreateFrom(ctx, records(t, from, "a")[0].Payload); err != nil {
				return err
			}
			_, err := to.Append(ctx, "a", 0, pair(2)...)
			return err
		},
		"both went on": func(from, to *Store) error {
			if err := to.CreateFrom(ctx, records(t, from, "a")[0].Payload); err != nil {
				return err
			}
			_, err := to.Append(ctx, "a", 0, append(append(pair(1), pair(2)...), pair(9)...)...)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			from, to := newTest(t), openTest(t, filepath.Join(fastDir(t), "b.db"))
			grow(t, from, "a", 1, 3)
			if err := change(from, to); err != nil {
				t.Fatal(err)
			}
			before := records(t, to, "a")
			_, err := store.Copy(ctx, from, to, "a")
			if !errors.Is(err, store.ErrOther) || assay.ClassOf(err) != assay.ClassConflict {
				t.Errorf("got %v, want ErrOther", err)
			}
			if after := records(t, to, "a"); len(after) != len(before) {
				t.Errorf("it has %d records, and had %d", len(after), len(before))
			}
		})
	}
}

// A copy that reads damage fails.
func TestCopyDamaged(t *testing.T) {
	from, to := newTest(t), openTest(t, filepath.Join(fastDir(t), "b.db"))
	grow(t, from, "a", 1, 3)
	if err := from.exec(`UPDATE events SET payload = replace(payload, '0.25', '0.75') WHERE seq = 3`); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Copy(t.Context(), from, to, "a"); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
}
