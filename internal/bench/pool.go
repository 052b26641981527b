package bench

import (
	"context"
	"sync"
)

// A Pool is how experiments use the processors: the one way of this package and of
// the lab to do several things at once.
type Pool struct {
	Workers  int                   // calls at once; 0 and less stand for 1
	Progress func(done, total int) // optional; called after every call that succeeded, one at a time
}

// Each calls fn once for every i from 0 to n-1, in ascending order as workers become free. worker is the
// number of the caller, from 0 to Workers-1: state of one worker needs no lock. A result that depends on
// i alone is the same for any number of workers.
//
// The first error, or the end of ctx, ends the context of the other calls, and no further one is begun.
// Each returns after the last call has, with that error or the cause of ctx; nil means that every call
// was made and succeeded.
func (p Pool) Each(ctx context.Context, n int, fn func(ctx context.Context, worker, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu         sync.Mutex
		next, done int
		wg         sync.WaitGroup
	)
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		i = next
		next++
		return i, i < n && ctx.Err() == nil
	}
	settle := func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		if p.Progress != nil {
			p.Progress(done, n)
		}
	}
	for worker := range min(max(1, p.Workers), max(1, n)) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := fn(ctx, worker, i); err != nil {
					cancel(err)
					return
				}
				settle()
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
