package assaytest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/assay-run/assay"
)

func testConcurrency(t *testing.T, s assay.Store, _ StoreOptions) {
	ctx := t.Context()
	const writers, each = 8, 25
	noStoreErr(t, s.Create(ctx, "shared", nil))
	var wg sync.WaitGroup
	var made sync.Map // who made the study that all try to make
	for w := range int64(writers) {
		wg.Go(func() {
			own := fmt.Sprint("own", w)
			err := s.Create(ctx, own, nil)
			if one := s.Create(ctx, "one", nil); one == nil {
				made.Store(w, true)
			} else if !errors.Is(one, fs.ErrExist) {
				t.Errorf("concurrent Create: got %v, want fs.ErrExist", one)
			}
			for i := range int64(each) {
				err = errors.Join(err, add(ctx, s, own, askedEvent(i+1)))
				// Two events at once must stay neighbours.
				err = errors.Join(err, add(ctx, s, "shared", askedEvent(w*each+i), toldEvent(w*each+i, 1)))
				for _, e := range s.Events(ctx, "shared", 0) {
					err = errors.Join(err, e)
				}
			}
			if err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
		})
	}
	wg.Wait()
	if n := len(maps.Collect(made.Range)); n != 1 {
		t.Errorf("%d concurrent Creates of one study succeeded, want 1", n)
	}
	next := map[int64]int64{} // by writer
	shared := mustEvents(t, s, "shared")
	for i := 0; i+1 < len(shared); i += 2 {
		a, b := shared[i], shared[i+1]
		if a.Asked == nil || b.Told == nil || a.Asked.ID != b.Told.ID {
			t.Fatalf("events %d and %d of one Append are not neighbours", i, i+1)
		}
		w := a.Asked.ID / each
		if a.Asked.ID != w*each+next[w] {
			t.Fatalf("writer %d: got event %d, want %d", w, a.Asked.ID, w*each+next[w])
		}
		next[w]++
	}
	if len(shared) != 2*writers*each {
		t.Errorf("got %d events, want %d", len(shared), 2*writers*each)
	}
	for w := range writers {
		if got := len(mustEvents(t, s, fmt.Sprint("own", w))); got != each {
			t.Errorf("writer %d: got %d events, want %d", w, got, each)
		}
	}
}

func testRemover(t *testing.T, s assay.Store, _ StoreOptions) {
	r, ok := s.(assay.Remover)
	if !ok {
		return
	}
	ctx := t.Context()
	fillStudy(t, s, "a", 300)
	want := fillStudy(t, s, "b", 3)
	noStoreErr(t, r.Remove(ctx, "a"))
	if err := r.Remove(ctx, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("second Remove: got %v, want fs.ErrNotExist", err)
	}
	if _, err := s.Append(ctx, "a", 0, askedEvent(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Append to a removed study: got %v, want fs.ErrNotExist", err)
	}
	if got := mustStudies(t, s); !slices.Equal(got, []string{"b"}) {
		t.Errorf("Studies: got %q, want only %q", got, "b")
	}
	noStoreErr(t, s.Create(ctx, "a", []byte("new")))
	checkEvents(t, s, "a", nil)
	checkEvents(t, s, "b", want)
}

func testLocker(t *testing.T, s assay.Store, opts StoreOptions) {
	l, ok := s.(assay.Locker)
	if !ok {
		return
	}
	ctx := t.Context()
	fillStudy(t, s, "a", 3)
	for _, name := range append(oddNames()[1:], "b") {
		noStoreErr(t, s.Create(ctx, name, nil))
	}
	release, err := l.Lock(ctx, "a")
	noStoreErr(t, err)
	if _, err := l.Lock(ctx, "a"); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("second Lock: got %v, want assay.ErrLocked", err)
	}
	// Reading needs no lock, and another study has its own.
	if got := len(mustEvents(t, s, "a")); got != 3 {
		t.Errorf("got %d events of a locked study, want 3", got)
	}
	for _, name := range append(oddNames()[1:], "b") {
		other, err := l.Lock(ctx, name)
		if err != nil {
			t.Fatalf("Lock(%q) beside another: %v", name, err)
		}
		noStoreErr(t, other())
	}
	noStoreErr(t, release())
	var owners int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				release, err := l.Lock(ctx, "a")
				if errors.Is(err, assay.ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if owners++; owners > 1 {
					t.Errorf("%d owners at once", owners)
				}
				mu.Unlock()
				mu.Lock()
				owners--
				mu.Unlock()
				if err := release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	release, err = l.Lock(ctx, "a")
	noStoreErr(t, err)
	noStoreErr(t, release())
}
