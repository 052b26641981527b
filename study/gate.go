package study

import (
	"context"
	"sync"
)

// A gate blocks its callers while it is closed. Its zero value is open.
type gate struct {
	mu     sync.Mutex
	closed chan struct{} // closed, in the sense of channels, when the gate opens; nil while it is open
}

// set opens or closes the gate.
func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case open && g.closed != nil:
		close(g.closed)
		g.closed = nil
	case !open && g.closed == nil:
		g.closed = make(chan struct{})
	}
}

// pass waits until the gate is open. It returns false if ctx is done first.
func (g *gate) pass(ctx context.Context) bool {
	for {
		g.mu.Lock()
		closed := g.closed
		g.mu.Unlock()
		if closed == nil {
			return true
		}
		select {
		case <-closed:
		case <-ctx.Done():
			return false
		}
	}
}
