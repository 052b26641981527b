package bench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Every index is called once, whatever the number of workers, and a worker makes one
// call at a time.
func TestEachCallsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers, n := rapid.IntRange(-1, 9).Draw(t, "workers"), rapid.IntRange(0, 40).Draw(t, "n")
		calls := make([]atomic.Int32, n)
		busy := make([]atomic.Int32, max(1, workers))
		var progress []int
		p := Pool{Workers: workers, Progress: func(done, total int) {
			if total != n {
				t.Errorf("%d in all, want %d", total, n)
			}
			progress = append(progress, done)
		}}
		err := p.Each(context.Background(), n, func(_ context.Context, worker, i int) error {
			if busy[worker].Add(1) != 1 {
				t.Errorf("worker %d makes two calls at once", worker)
			}
			calls[i].Add(1)
			busy[worker].Add(-1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("%d calls of %d", got, i)
			}
		}
		for i, done := range progress {
			if done != i+1 {
				t.Errorf("progress %v", progress)
			}
		}
		if len(progress) != n {
			t.Errorf("%d times progress of %d calls", len(progress), n)
		}
	})
}

// As many calls are under way as there are workers, not fewer and not more.
func TestEachIsParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		start := time.Now()
		err := Pool{Workers: 3}.Each(t.Context(), 7, func(context.Context, int, int) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		if took := time.Since(start); err != nil || most != 3 || took != 3*time.Second {
			t.Errorf("%v: %d at once, 7 s by 3 in %v", err, most, took)
		}
	})
}

// The first error ends the others, which see it as the cause, and begins nothing more.
func TestEachEndsAtAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		var mu sync.Mutex
		var begun []int
		err := Pool{Workers: 2}.Each(t.Context(), 100, func(ctx context.Context, _, i int) error {
			mu.Lock()
			begun = append(begun, i)
			mu.Unlock()
			if i == 4 {
				time.Sleep(time.Second)
				return broken
			}
			if i == 5 {
				<-ctx.Done()
				return errors.Join(errors.New("a consequence"), context.Cause(ctx))
			}
			return nil
		})
		slices.Sort(begun)
		if err != broken || !slices.Equal(begun, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("got %v after %v, want the first error after 0 to 5", err, begun)
		}
	})
}

// Each returns the cause of the end of its context, even if every call succeeds.
func TestEachIsCancelled(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	err := Pool{}.Each(ctx, 10, func(context.Context, int, int) error {
		if calls++; calls == 3 {
			cancel(enough)
		}
		return nil
	})
	if !errors.Is(err, enough) || calls != 3 {
		t.Errorf("got %v after %d calls, want the cause after 3", err, calls)
	}
	if err := (Pool{}).Each(ctx, 0, nil); !errors.Is(err, enough) {
		t.Errorf("nothing to do in a context that is done: %v", err)
	}
}
