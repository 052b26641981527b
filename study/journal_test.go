package study_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// slow is a store whose Append takes a while. It counts them.
type slow struct {
	assay.Store
	takes   time.Duration
	appends atomic.Int64
}

func (s *slow) Append(ctx context.Context, name string, at assay.Position, events ...assay.Event) (assay.Position,
	error,
) {
	s.appends.Add(1)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return s.Store.Append(ctx, name, at, events...)
}

func booked(trial int64, attempt int, why string, elapsed time.Duration) assay.Event {
	return assay.Event{Booked: &assay.AttemptEnd{
		RunID: assay.RunID{Study: "s", Trial: trial, Attempt: attempt}, Why: why,
		Measurement: assay.Measurement{Elapsed: elapsed},
	}}
}

func journalOf(t *testing.T, s *study.Study) *study.Journal {
	t.Helper()
	j, err := s.Journal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A hundred appends at once are few of the store, each is on record once, and the times of the
// record go up.
func TestJournalMergesAppends(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := &slow{Store: store.NewMem(), takes: time.Second}
		j := journalOf(t, newStudy(t, st, 1))
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				if err := j.Append(t.Context(), booked(int64(i), 1, "", 0), booked(int64(i), 2, "", 0)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := st.appends.Load(); n != 2 {
			t.Errorf("%d appends of the store: the first has one, all that came meanwhile the second", n)
		}
		seen := map[assay.RunID]bool{}
		var last assay.Event
		for e, err := range st.Events(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if seen[e.Booked.RunID] || e.At.Before(last.At) {
				t.Errorf("%v after %v", e.Booked.RunID, last.At)
			}
			if e.Booked.Attempt == 2 && last.Booked.Trial != e.Booked.Trial {
				t.Errorf("%v is apart from its first", e.Booked.RunID)
			}
			seen[e.Booked.RunID], last = true, e
		}
		if len(seen) != 200 {
			t.Errorf("%d of 200 are on record", len(seen))
		}
	})
}

// Each caller of a merged append has its own error, and an event that cannot be stored harms no other.
func TestJournalTellsErrorsApart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := &slow{Store: picky{store.NewMem()}, takes: time.Second}
		j := journalOf(t, newStudy(t, st, 1))
		var wg sync.WaitGroup
		for i := range int64(9) {
			wg.Go(func() {
				if i > 0 {
					time.Sleep(time.Millisecond)
				}
				err := j.Append(t.Context(), booked(i, 1, "", 0))
				if bad := i == 4; bad != (assay.ClassOf(err) == assay.ClassUsage) || !bad && err != nil {
					t.Errorf("append %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		n := 0
		for range st.Events(t.Context(), "s", 0) {
			n++
		}
		if n != 8 {
			t.Errorf("%d events on record, want 8", n)
		}
	})
}

// picky stores nothing with a booking of trial 4.
type picky struct{ assay.Store }

func (p picky) Append(ctx context.Context, name string, at assay.Position, events ...assay.Event) (assay.Position,
	error,
) {
	for _, e := range events {
		if e.Booked.Trial == 4 {
			return 0, assay.Errorf(assay.ClassUsage, "not storable")
		}
	}
	return p.Store.Append(ctx, name, at, events...)
}

// A caller that goes away leaves the journal whole; a store that fails for good ends it for all.
func TestJournalEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem := store.NewMem()
		s := newStudy(t, mem, 1)
		s.Store = &failing{Store: mem, first: 1, last: 5, err: errDisk}
		j := journalOf(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Millisecond)
		defer cancel()
		done := make(chan error)
		go func() { done <- j.Append(t.Context(), booked(2, 1, "", 0)) }()
		synctest.Wait()
		if err := j.Append(ctx, booked(1, 1, "", 0)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller whose time is over: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("the one who waits: %v", err)
		}
		if err := j.Append(t.Context(), booked(3, 1, "", 0)); err != nil {
			t.Errorf("after it: %v", err)
		}
	})
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 1)
		s.Store, s.Patience = &failing{Store: s.Store, first: 2, last: 1 << 30, err: errDisk}, time.Second
		j := journalOf(t, s)
		if err := j.Append(t.Context(), booked(1, 1, "", 0)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range int64(5) {
			wg.Go(func() {
				if err := j.Append(t.Context(), booked(i, 2, "", 0)); !errors.Is(err, errDisk) {
					t.Errorf("append %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		began := time.Now()
		if err := j.Append(t.Context(), booked(9, 1, "", 0)); !errors.Is(err, errDisk) || time.Since(began) > 0 {
			t.Errorf("after the end: %v", err)
		}
	})
}

// While a study runs, others write through its journal. Nothing of it reaches the searcher, the
// study ends as ever, and each attempt that does not count is booked.
func TestJournalBesideTheLoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		want := mustRun(t, newStudy(t, store.NewMem(), 10))
		mem := store.NewMem()
		s := newStudy(t, mem, 10)
		j := journalOf(t, s)
		if err := j.Append(t.Context(), booked(1, 1, "lost", 7*time.Second)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for i := range 3 {
			wg.Go(func() {
				for n := 1; ; n++ {
					select {
					case <-stop:
						return
					case <-time.After(time.Second):
					}
					if err := j.Append(t.Context(), booked(int64(100+i), n, "duplicate", time.Second)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		got := mustRun(t, s)
		close(stop)
		wg.Wait()
		if g, w := fmt.Sprint(configs(got.Trials)), fmt.Sprint(configs(want.Trials)); g != w {
			t.Errorf("got %s, want %s", g, w)
		}
		events, lost := 0, time.Duration(0)
		for e := range mem.Events(t.Context(), "s", 0) {
			if e.Booked != nil {
				events++
				lost += e.Booked.Measurement.Elapsed
			}
		}
		again := newStudy(t, mem, 10)
		if r := mustRun(t, again); r.Lost != lost || events < 10 || r.Replayed != 10 {
			t.Errorf("%v lost by %d bookings, the result says %v", lost, events, r.Lost)
		}
	})
}

// An attempt that was taken for lost may come back: then its time is not lost.
func TestLost(t *testing.T) {
	events := []assay.Event{
		booked(1, 1, "lost", 10*time.Second),
		booked(1, 2, "", 5*time.Second), // it counts
		booked(2, 1, "lost", 20*time.Second),
		booked(2, 1, "", 25*time.Second), // it came back, and counts
		booked(3, 1, "lost", 30*time.Second),
		booked(3, 1, "duplicate", 40*time.Second), // it came back too late
		booked(4, 1, "cancel", time.Second),
	}
	extra := booked(1, 3, "", 3*time.Second)
	extra.Booked.Extra = true
	events = append(events, extra)
	want := (10 + 40 + 1 + 3) * time.Second
	var a assay.Attempts
	for _, e := range events {
		b := *e.Booked
		a.Settle(&b)
		a.Take(assay.Event{Booked: &b})
	}
	if a.Lost != want {
		t.Errorf("lost %v, want %v", a.Lost, want)
	}
	// The journal writes into each booking the time it takes back, so that a sum is enough.
	mem := store.NewMem()
	j := journalOf(t, newStudy(t, mem, 1))
	for _, e := range events {
		if err := j.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	var sum time.Duration
	for e := range mem.Events(t.Context(), "s", 0) {
		sum += e.Booked.Lost()
	}
	if sum != want {
		t.Errorf("the bookings on record come to %v, want %v", sum, want)
	}
}
