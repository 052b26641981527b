// This file has the lease that the stores share: a lock of the store and a timer. Its promise is that a holder learns
// of the loss before another process can get the lock.

package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A lease is a lock that ends by itself unless it is renewed. The lock of the store beneath it keeps others out until
// the lease has closed lost. A lease ends in one of three ways:
//   - Release: the holder knows, so lost stays open
//   - the timer: expire runs in a goroutine of its own
//   - Renew finds that the lock is gone
//
// held and free are called with mu held, so they must not call the lease.
type lease struct {
	study string
	fence int64
	ttl   time.Duration
	held  func() bool  // whether the lock is still ours
	free  func() error // ends the lock
	lost  chan struct{}

	mu    sync.Mutex
	timer *time.Timer
	// mu guards timer and over.
	over bool
}

// NewLease returns an [assay.Lease] over a lock that the caller has: held reports whether the caller still has it,
// and free ends it. The lease is lost after ttl unless it is renewed; it closes Lost before it calls free. free is
// called once. Neither held nor free may use the lease.
func NewLease(study string, fence int64, ttl time.Duration, held func() bool, free func() error) assay.Lease {
	l := &lease{study: study, fence: fence, ttl: ttl, held: held, free: free, lost: make(chan struct{})}
	l.mu.Lock() // expire may come before the timer has its place
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(ttl, l.expire)
	return l
}

// CheckLease returns an error unless a lease can be asked for so. It returns, in this order: the error of ctx, one of
// class usage for a ttl that is not positive, and one that matches [ErrName].
func CheckLease(ctx context.Context, study string, ttl time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ttl <= 0 {
		return assay.Errorf(assay.ClassUsage, "a lease of %v", ttl)
	}
	return CheckName(study)
}

func (l *lease) Fence() int64          { return l.fence }
func (l *lease) Lost() <-chan struct{} { return l.lost }

// expire ends a lease that was not renewed.
func (l *lease) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose()
}

// lose ends the lease, its holder first. The caller has mu. lost is closed before the lock is free: the next holder
// of the lock finds this holder informed. The second call does nothing.
func (l *lease) lose() {
	if l.over {
		return
	}
	l.over = true
	l.timer.Stop()
	close(l.lost)
	_ = l.free() // the holder has not asked for it, so no caller can take the error
}

// Renew implements [assay.Lease]. A lease that has ended is not revived. If ctx has ended, nothing happens, and the
// time is not extended.
func (l *lease) Renew(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The lock may have gone without us, for example with its file.
	if !l.over && !l.held() {
		l.lose()
	}
	if l.over || !l.timer.Reset(l.ttl) {
		// Reset has started the timer once more; lose stops it.
		l.lose() // the timer has fired and waits for the mutex
		return fmt.Errorf("study %q: the lease has ended: %w", l.study, assay.ErrLocked)
	}
	return nil
}

// Release implements [assay.Lease]. It returns nil for a lease that was lost, else the error of free. The
// lease has ended in either case.
func (l *lease) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	l.over = true
	l.timer.Stop()
	return l.free()
}

// A Holder is a store that knows who has the lock or the lease of a study, and takes neither to find out. It is for
// people: a study without a holder at the moment may have begun when they read it.
type Holder interface {
	// Held returns the holder of the study, "" without one, and for a holder on which this machine cannot check whether
	// it lives.
	Held(ctx context.Context, study string) (by string, err error)
}
