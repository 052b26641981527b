package assaytest

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A WatchedStore is a Store that is a Watcher too.
type WatchedStore interface {
	assay.Store
	assay.Watcher
}

// watchPatience is how long a watcher may take on a busy machine.
const watchPatience = 20 * time.Second

// TestWatcher checks the contract of [assay.Watcher]. newStore returns an empty
// store and ends it with t.Cleanup.
func TestWatcher(t *testing.T, newStore func(t *testing.T) WatchedStore) {
	for _, c := range []struct {
		name, rule string
		run        func(t *testing.T, s WatchedStore)
	}{
		{"Follows", "Watch yields the events behind a position and those that come, once and in order", testWatchFollows},
		{"Many", "every watcher sees every event", testWatchMany},
		{"Ends", "Watch ends without an error with its context, and its caller may stop at any time", testWatchEnds},
		{"NotExist", "a study that is not there, or no longer, is an error that matches fs.ErrNotExist", testWatchNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, newStore(t))
			if t.Failed() {
				t.Logf("the rule: %s", c.rule)
			}
		})
	}
}

func testWatchFollows(t *testing.T, s WatchedStore) {
	const first, events = 5, 300
	for _, after := range []assay.Position{-3, 0, 2, first, first + 2} {
		study := string(rune('a' + after + 3))
		want := fillStudy(t, s, study, first)
		for i := int64(first + 1); i <= events; i++ {
			want = append(want, askedEvent(i))
		}
		ctx, cancel := context.WithTimeout(t.Context(), watchPatience)
		var wg sync.WaitGroup
		wg.Go(func() { // some at once, with and without a pause
			for at := first; at < events; {
				n := min(1+at%40, events-at)
				if _, err := s.Append(ctx, study, assay.Position(at), want[at:at+n]...); err != nil {
					t.Error(err)
					return
				}
				if at += n; at%3 == 0 {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
		next := max(int(after), 0)
		for e, err := range s.Watch(ctx, study, after) {
			if err != nil || !SameEvent(e, want[next]) {
				t.Errorf("after %d: got %s, %v, want event %d", after, eventText(e), err, next+1)
				break
			}
			if next++; next == events {
				break
			}
		}
		if next != events {
			t.Errorf("after %d: got the events up to %d, want %d", after, next, events)
		}
		wg.Wait()
		cancel()
	}
}

func testWatchMany(t *testing.T, s WatchedStore) {
	const watchers, events = 4, 100
	noStoreErr(t, s.Create(t.Context(), "a", nil))
	noStoreErr(t, s.Create(t.Context(), "other", nil))
	ctx, cancel := context.WithTimeout(t.Context(), watchPatience)
	defer cancel()
	var wg sync.WaitGroup
	for range watchers {
		wg.Go(func() {
			n := int64(0)
			for e, err := range s.Watch(ctx, "a", 0) {
				if n++; err != nil || !SameEvent(e, askedEvent(n)) {
					t.Errorf("got %s, %v, want event %d", eventText(e), err, n)
					return
				}
				if n == events {
					return
				}
			}
			t.Errorf("a watcher ended after %d events", n)
		})
	}
	for i := range int64(events) {
		_, err := s.Append(ctx, "a", assay.Position(i), askedEvent(i+1))
		noStoreErr(t, err)
		_, err = s.Append(ctx, "other", assay.Position(i), askedEvent(1000+i))
		noStoreErr(t, err)
	}
	wg.Wait()
}

func testWatchEnds(t *testing.T, s WatchedStore) {
	fillStudy(t, s, "a", 3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range s.Watch(ctx, "a", 0) {
		if err != nil {
			t.Errorf("got %v at the end of the context, want no error", err)
		}
		if n++; n == 3 {
			time.AfterFunc(10*time.Millisecond, cancel)
		}
	}
	if n != 3 {
		t.Errorf("got %d events, want 3", n)
	}
	for _, err := range s.Watch(ctx, "a", 0) {
		t.Errorf("got a pair with %v from a context that is done", err)
	}
	for range s.Watch(t.Context(), "a", 1) {
		break
	}
	_, err := s.Append(t.Context(), "a", 3, askedEvent(4)) // no other writer interferes
	noStoreErr(t, err)
}

func testWatchNotExist(t *testing.T, s WatchedStore) {
	n := 0
	for _, err := range s.Watch(t.Context(), "missing", 0) {
		if n++; !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want fs.ErrNotExist", err)
		}
	}
	if n != 1 {
		t.Errorf("got %d pairs, want one with the error", n)
	}
	r, ok := s.(assay.Remover)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), watchPatience)
	defer cancel()
	fillStudy(t, s, "a", 3)
	var last error
	seen := 0
	for _, err := range s.Watch(ctx, "a", 0) {
		if last = err; err == nil {
			seen++
		}
		if seen == 3 && err == nil {
			noStoreErr(t, r.Remove(ctx, "a"))
			fillStudy(t, s, "a", 5) // another study of that name
		}
	}
	if seen != 3 || !errors.Is(last, fs.ErrNotExist) {
		t.Errorf("a study that was removed: got %d events, then %v, want 3 and fs.ErrNotExist", seen, last)
	}
}
