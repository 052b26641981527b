package assaytest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// A LeasedStore is a Store that is a Leaser too.
type LeasedStore interface {
	assay.Store
	assay.Leaser
}

// LeaserOptions describe further promises of a Leaser.
type LeaserOptions struct {
	// Bubble means that the store needs nothing outside the process, so that it can be tested in simulated time (package
	// testing/synctest).
	Bubble bool
}

// TestLeaser checks the contract of [assay.Leaser]. newStore returns an empty
// store and ends it with t.Cleanup.
func TestLeaser(t *testing.T, newStore func(t *testing.T) LeasedStore, opts LeaserOptions) {
	for _, c := range []struct {
		name, rule string
		run        func(t *testing.T, s LeasedStore)
	}{
		{"Owner", "a study has one lease at a time; the error of a second request names the owner", testLeaseOwner},
		{"Fence", "each lease of a study has a greater fence than the one before", testLeaseFence},
		{"Expires", "a lease that is not renewed is lost, and then another can have the study", testLeaseExpires},
		{"Renew", "a lease that is renewed is not lost", testLeaseRenew},
		{"Race", "of many who ask at once, one gets the lease", testLeaseRace},
		{"Lock", "a lock and a lease keep each other out", testLeaseLock},
		{"Refused", "no name, no time to live and a context that is done are errors", testLeaseRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(t *testing.T) { c.run(t, newStore(t)) }
			if opts.Bubble {
				synctest.Test(t, run)
			} else {
				run(t)
			}
			if t.Failed() {
				t.Logf("the rule: %s", c.rule)
			}
		})
	}
}

// mustLease returns a lease of a study without a holder.
func mustLease(t *testing.T, s LeasedStore, study string, ttl time.Duration) assay.Lease {
	t.Helper()
	l, err := s.Lease(t.Context(), study, "somebody", ttl)
	noStoreErr(t, err)
	return l
}

// isLost reports whether a lease is lost now.
func isLost(l assay.Lease) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}

// checkTaken fails unless the study has an owner.
func checkTaken(t *testing.T, s LeasedStore, study string) {
	t.Helper()
	if _, err := s.Lease(t.Context(), study, "another", time.Hour); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("a second lease of %q: got %v, want ErrLocked", study, err)
	}
}

// checkHeld fails unless a store that knows the holder of a study reports it.
func checkHeld(t *testing.T, s LeasedStore, study, by string) {
	t.Helper()
	of, ok := s.(interface {
		Held(ctx context.Context, study string) (string, error)
	})
	if !ok {
		return
	}
	got, err := of.Held(t.Context(), study)
	if noStoreErr(t, err); !strings.Contains(got, by) || by == "" && got != "" {
		t.Errorf("%q is held by %q, want %q", study, got, by)
	}
}

func testLeaseOwner(t *testing.T, s LeasedStore) {
	a := mustLease(t, s, "a", time.Hour)
	_, err := s.Lease(t.Context(), "a", "another", time.Hour)
	if !errors.Is(err, assay.ErrLocked) || !strings.Contains(err.Error(), "somebody") {
		t.Errorf("a second lease: got %v, want ErrLocked with the holder", err)
	}
	checkHeld(t, s, "a", "somebody")
	b := mustLease(t, s, "b", time.Hour) // another study has its own
	noStoreErr(t, a.Release())
	checkHeld(t, s, "a", "")
	noStoreErr(t, a.Release())
	if isLost(a) {
		t.Error("a lease that was released is lost")
	}
	if err := a.Renew(t.Context()); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("Renew after Release: got %v, want ErrLocked", err)
	}
	again := mustLease(t, s, "a", time.Hour)
	noStoreErr(t, a.Release()) // of the old lease, which has nothing to do with it
	checkTaken(t, s, "a")
	noStoreErr(t, errors.Join(again.Release(), b.Release()))
	// A lease is for the owner: reading and writing need none.
	fillStudy(t, s, "a", 3)
}

func testLeaseFence(t *testing.T, s LeasedStore) {
	last := int64(0)
	for range 5 {
		l := mustLease(t, s, "a", time.Hour)
		if l.Fence() <= last {
			t.Errorf("got the fence %d after %d", l.Fence(), last)
		}
		last = l.Fence()
		checkTaken(t, s, "a")
		noStoreErr(t, l.Release())
	}
}

func testLeaseExpires(t *testing.T, s LeasedStore) {
	const ttl = 50 * time.Millisecond
	began := time.Now()
	old := mustLease(t, s, "a", ttl)
	select {
	case <-old.Lost():
	case <-time.After(watchPatience):
		t.Fatalf("the lease is there after %v", watchPatience)
	}
	if waited := time.Since(began); waited < ttl {
		t.Errorf("a lease of %v was lost after %v", ttl, waited)
	}
	if err := old.Renew(t.Context()); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("Renew of a lease that is lost: got %v, want ErrLocked", err)
	}
	var l assay.Lease
	var err error
	for range 100 { // the holder learns of it first
		if l, err = s.Lease(t.Context(), "a", "another", time.Hour); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	noStoreErr(t, err)
	if l.Fence() <= old.Fence() {
		t.Errorf("got the fence %d after %d", l.Fence(), old.Fence())
	}
	noStoreErr(t, old.Release())
	checkTaken(t, s, "a")
	noStoreErr(t, l.Release())
}

func testLeaseRenew(t *testing.T, s LeasedStore) {
	// A machine that stands still for longer than the lease proves nothing: the next lease is four times as long.
	var l assay.Lease
	for ttl := 1500 * time.Millisecond; ; ttl *= 4 {
		renewed, late, err := time.Now(), false, error(nil) // a lease begins after this time
		l = mustLease(t, s, "a", ttl)
		for range 5 {
			time.Sleep(ttl / 3)
			began := time.Now()
			if err = l.Renew(t.Context()); err != nil {
				break
			}
			another, other := s.Lease(t.Context(), "a", "another", time.Hour)
			if late = time.Since(renewed) > ttl; late {
				if other == nil {
					_ = another.Release()
				}
				break
			}
			if !errors.Is(other, assay.ErrLocked) {
				t.Fatalf("a second lease: got %v, want ErrLocked", other)
			}
			renewed = began
		}
		if late = late || time.Since(renewed) > ttl; !late || ttl > time.Minute {
			noStoreErr(t, err)
			break
		}
		t.Logf("a renewal of a lease of %v came late", ttl)
		_ = l.Release()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Renew(ctx); !errors.Is(err, context.Canceled) || isLost(l) {
		t.Errorf("Renew with a context that is done: got %v, lost %v", err, isLost(l))
	}
	noStoreErr(t, l.Release())
}

func testLeaseRace(t *testing.T, s LeasedStore) {
	const askers = 8
	var mu sync.Mutex
	var got []assay.Lease
	var wg sync.WaitGroup
	for range askers {
		wg.Go(func() {
			l, err := s.Lease(t.Context(), "a", "one of many", time.Hour)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				got = append(got, l)
			} else if !errors.Is(err, assay.ErrLocked) {
				t.Errorf("got %v, want ErrLocked", err)
			}
		})
	}
	wg.Wait()
	if len(got) != 1 {
		t.Fatalf("%d of %d have the lease, want 1", len(got), askers)
	}
	noStoreErr(t, got[0].Release())
}

func testLeaseLock(t *testing.T, s LeasedStore) {
	k, ok := s.(assay.Locker)
	if !ok {
		return
	}
	l := mustLease(t, s, "a", time.Hour)
	if _, err := k.Lock(t.Context(), "a"); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("a lock beside a lease: got %v, want ErrLocked", err)
	}
	noStoreErr(t, l.Release())
	release, err := k.Lock(t.Context(), "a")
	noStoreErr(t, err)
	checkTaken(t, s, "a")
	noStoreErr(t, release())
	noStoreErr(t, mustLease(t, s, "a", time.Hour).Release())
}

func testLeaseRefused(t *testing.T, s LeasedStore) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Lease(ctx, "a", "", time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	for _, ttl := range []time.Duration{0, -1} {
		if l, err := s.Lease(t.Context(), "a", "", ttl); err == nil {
			t.Errorf("a lease of %v: got %v and no error", ttl, l)
		}
	}
	if _, err := s.Lease(t.Context(), "", "", time.Hour); err == nil {
		t.Error("a lease of a study with the empty name: got no error")
	}
	noStoreErr(t, mustLease(t, s, "a", time.Hour).Release())
}
