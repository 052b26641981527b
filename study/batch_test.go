package study_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// asking records how many proposals a searcher is asked for.
type asking struct {
	assay.Searcher
	ns []int
}

func (a *asking) Ask(n int) ([]assay.Proposal, error) {
	a.ns = append(a.ns, n)
	return a.Searcher.Ask(n)
}

// The loop asks at once for as many proposals as there is room for, never for
// more than the budget of trials leaves, and records them as one batch.
func TestAsksForAsManyAsThereIsRoomFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		s := newStudy(t, st, 6)
		s.Parallel = 4
		a := &asking{Searcher: s.Searcher}
		s.Searcher = a
		mustRun(t, s)
		// Four at once; then one whenever one of them ends, until six are asked.
		if want := []int{4, 1, 1}; !slices.Equal(a.ns, want) {
			t.Errorf("asked for %v, want %v", a.ns, want)
		}
		var batches []int
		for e := range st.Events(t.Context(), "s", 0) {
			if e.Asked != nil {
				batches = append(batches, e.Batch)
			}
		}
		if want := []int{4, -1, -1, -1, 1, 1}; !slices.Equal(batches, want) {
			t.Errorf("batches %v, want %v", batches, want)
		}
	})
}

// elastic is a Runner whose capacity changes.
type elastic struct {
	*fake
	capacity atomic.Int64
}

func (e *elastic) Capacity() int { return int(e.capacity.Load()) }

// The room of a Runner that knows it is the number of trials in flight, when it
// grows too; without any, the study waits.
func TestCapacityComesAndGoes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 12)
		e := &elastic{fake: &fake{}}
		s.Runner = e
		var most int
		s.Notify = func(p study.Progress) { most = max(most, len(p.Running)) }
		go func() {
			time.Sleep(time.Hour)
			e.capacity.Store(3)
		}()
		start := time.Now()
		r := mustRun(t, s)
		if len(r.Trials) != 12 || most != 3 || time.Since(start) < time.Hour {
			t.Errorf("%d trials, at most %d at once, in %v", len(r.Trials), most, time.Since(start))
		}
	})
	inBubble(t, func(t *testing.T) { // one machine more while a long run goes on
		s := newStudy(t, store.NewMem(), 8)
		e := &elastic{fake: &fake{}}
		e.capacity.Store(1)
		s.Runner = e
		var second time.Duration
		start := time.Now()
		s.Notify = func(p study.Progress) {
			if len(p.Running) == 2 && second == 0 {
				second = time.Since(start)
			}
		}
		go func() {
			time.Sleep(100 * time.Millisecond)
			e.capacity.Store(2)
		}()
		mustRun(t, s)
		if second == 0 || second > time.Second {
			t.Errorf("the second place was used after %v", second)
		}
	})
	inBubble(t, func(t *testing.T) { // an end of the wait
		s := newStudy(t, store.NewMem(), 8)
		s.Runner = &elastic{fake: &fake{}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if r, _ := s.Run(ctx); r.EndedBy != "interrupt" {
			t.Errorf("ended by %q", r.EndedBy)
		}
	})
}

// Repetitions of several configurations take turns, and a study that is resumed
// in the middle goes on with them.
func TestRepetitionsTakeTurns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		repeated := func(st assay.Store) *study.Study {
			s := newStudy(t, st, 18)
			s.Searcher = search.Replicate(s.Searcher, 3, slices.Min[[]float64])
			s.Parallel = 4
			return s
		}
		whole := store.NewMem()
		want := mustRun(t, repeated(whole))
		back := 0
		for i := 1; i < len(want.Trials); i++ {
			a, b := want.Trials[i-1], want.Trials[i]
			if a.Config.Equal(b.Config) {
				back++
			}
		}
		if back > 6 {
			t.Errorf("%d of 17 runs repeat the configuration of the run before: %v", back, configs(want.Trials))
		}
		for k := range 36 {
			got := mustRun(t, repeated(prefix(t, whole, k)))
			if g, w := configs(got.Trials), configs(want.Trials); !slices.Equal(g, w) {
				t.Fatalf("killed after %d events: ended with %v, want %v", k, g, w)
			}
		}
	})
}
