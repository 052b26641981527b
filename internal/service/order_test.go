package service_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
	"github.com/assay-run/assay/internal/queue"
)

// Waiting runs are in the order of the record: by priority, then since when they wait. A restart changes
// nothing of that, in whatever order the runs of the new server begin to wait.
func TestOrderOfRecord(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 0)
		for _, name := range []string{"b", "a"} { // b is the older one
			s.submit(t, fortyOf(t, 1, 24, 12), name)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		if err := s.Order(t.Context(), "a", []int64{7, 3}, "ada"); err != nil {
			t.Fatal(err)
		}
		queue := func() (order []string) {
			synctest.Wait()
			for _, e := range s.fleet.Queue() {
				order = append(order, fmt.Sprintf("%s/%d", e.Study, e.ID.Trial))
			}
			return order
		}
		was := queue()
		if !slices.Equal(was[:3], []string{"a/3", "a/7", "b/1"}) {
			t.Errorf("it begins with %v", was[:3])
		}
		for _, name := range []string{"a", "b"} {
			var trials []int
			for _, id := range was[2:] {
				var trial int
				if n, _ := fmt.Sscanf(id, name+"/%d", &trial); n == 1 {
					trials = append(trials, trial)
				}
			}
			if !slices.IsSorted(trials) {
				t.Errorf("of %s there wait %v", name, trials)
			}
		}
		for range 10 {
			s.end()
			s = serve(t, store, h, 0)
			if is := queue(); !slices.Equal(is, was) {
				t.Fatalf("before the restart %v\nafter it          %v", was, is)
			}
		}
		s.end()
	})
}

// A run whose attempt was lost waits behind the runs that waited already, after a restart too.
func TestLostWaitsLast(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 0)
		s.submit(t, fortyOf(t, 1, 12, 6), "a")
		synctest.Wait()
		time.Sleep(time.Second)
		s.end()
		at := assay.Position(len(events(t, store, "a")))
		id := assay.RunID{Study: "a", Trial: 2, Attempt: 1}
		_, err := store.Append(t.Context(), "a", at,
			assay.Event{At: time.Now(), Started: &assay.Start{RunID: id, Worker: "gone"}},
			assay.Event{At: time.Now(), Booked: &assay.AttemptEnd{RunID: id, Worker: "gone", Why: "lost"}})
		if err != nil {
			t.Fatal(err)
		}
		s = serve(t, store, h, 0)
		defer s.end()
		synctest.Wait()
		var order []int64
		for _, e := range s.fleet.Queue() {
			order = append(order, e.ID.Trial)
		}
		if want := []int64{1, 3, 4, 5, 6, 2}; !slices.Equal(order, want) {
			t.Errorf("there wait %v, want %v", order, want)
		}
	})
}

// A study that ends while a worker is at an attempt which is not needed any more has a booking of that attempt.
func TestEndBooksDuplicates(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 0)
		s.submit(t, fortyOf(t, 1, 1, 1), "a")
		synctest.Wait()
		time.Sleep(time.Second)
		s.end()
		at := assay.Position(len(events(t, store, "a")))
		first := assay.RunID{Study: "a", Trial: 1, Attempt: 1}
		second := assay.RunID{Study: "a", Trial: 1, Attempt: 2}
		_, err := store.Append(t.Context(), "a", at,
			assay.Event{At: time.Now(), Started: &assay.Start{RunID: first, Worker: "away"}},
			assay.Event{At: time.Now(), Booked: &assay.AttemptEnd{RunID: first, Worker: "away", Why: assay.WhyLost}},
			assay.Event{At: time.Now(), Started: &assay.Start{RunID: second, Worker: "other"}})
		if err != nil {
			t.Fatal(err)
		}
		s = serve(t, store, h, 0)
		defer s.end()
		synctest.Wait()
		m := assay.Measurement{Elapsed: time.Second, Metrics: map[string]float64{"elapsed": 1}}
		if err := h.control().Tell(t.Context(), queue.Outcome{ID: first, Worker: "away", Measurement: m}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		all := events(t, store, "a")
		if err := ledger.Record(all); err != nil {
			t.Error(err)
		}
		sum, err := store.Summary(t.Context(), "a")
		if err != nil || sum.Ended == "" {
			t.Errorf("the study has not ended: %+v, %v", sum, err)
		}
	})
}
