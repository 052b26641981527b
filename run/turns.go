package run

import (
	"context"
	"sync"
)

// A kind is one of the two kinds of work that are not done at the same time.
type kind int

const (
	running  kind = iota // a job that is measured
	building             // a setup
)

// turns keeps the two kinds of work apart: work of one kind proceeds in any number without work of the other kind.
// Waiting setups go before jobs that arrive later, so that a study with many jobs at once gets to its setups. The
// zero value needs a channel in changed. It is safe for concurrent use.
type turns struct {
	mu      sync.Mutex
	active  [2]int
	waiting int           // setups
	changed chan struct{} // closed, and replaced, when something ends
}

// enter waits until work of kind k may begin. It returns the cause of ctx if that is done first.
func (t *turns) enter(ctx context.Context, k kind) error {
	t.mu.Lock()
	if k == building {
		t.waiting++
		defer func() {
			t.waiting--
			t.wake() // a job may have waited for this one to give up
			t.mu.Unlock()
		}()
	} else {
		defer t.mu.Unlock()
	}
	for t.active[1-k] > 0 || k == running && t.waiting > 0 {
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-changed:
		}
		t.mu.Lock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	t.active[k]++
	return nil
}

// leave ends work of kind k.
func (t *turns) leave(k kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active[k]--
	t.wake()
}

// wake has all that wait look again. The lock is held.
func (t *turns) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}
