package run

import (
	"context"
	"errors"
	"sync"

	"github.com/assay-run/assay"
)

// A hosting Runner can leave a program running beside others. [Local] is one.
type hosting interface {
	Keep(ctx context.Context, job assay.Job, k Kept) (assay.Measurement, error)
}

// hostOf returns the hosting Runner that a Runner is, or wraps visibly.
func hostOf(r assay.Runner) (hosting, bool) {
	for r != nil {
		if h, ok := r.(hosting); ok {
			return h, true
		}
		u, ok := r.(interface{ Unwrap() assay.Runner })
		if !ok {
			break
		}
		r = u.Unwrap()
	}
	return nil, false
}

// errOver ends a program in the background that is no longer needed.
var errOver = errors.New("it is no longer needed")

// A background is a program that goes on beside others.
type background struct {
	cancel context.CancelCauseFunc
	left   chan assay.Measurement // has one when the program has ended and left something running
	done   chan struct{}          // closed when nothing of it is left

	// m and err are the results of Keep; they are set when done is closed.
	m   assay.Measurement
	err error

	mu    sync.Mutex
	pid   int
	soFar func() assay.Measurement // nil before the program runs
}

// inBackground starts a job beside others. It outlives ctx: stop is for that, and has to be called.
func inBackground(ctx context.Context, k hosting, job assay.Job, output func([]byte)) *background {
	b := &background{left: make(chan assay.Measurement, 1), done: make(chan struct{})}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b.cancel = cancel
	go func() {
		defer close(b.done)
		b.m, b.err = k.Keep(own, job, Kept{
			Output: output,
			Started: func(pid int, soFar func() assay.Measurement) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.pid, b.soFar = pid, soFar
			},
			Left: func(m assay.Measurement) { b.left <- m },
		})
	}()
	return b
}

// stop ends its remaining processes and returns when they are gone.
func (b *background) stop() {
	b.cancel(errOver)
	<-b.done
}

// over reports whether nothing of it is left.
func (b *background) over() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// now returns its usage so far; ok is false if no process of it is alive.
func (b *background) now() (m assay.Measurement, ok bool) {
	b.mu.Lock()
	soFar := b.soFar
	b.mu.Unlock()
	if soFar == nil || b.over() {
		return m, false
	}
	return soFar(), true
}
