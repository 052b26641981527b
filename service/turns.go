package service

import (
	"container/heap"
	"sync"
	"time"
)

// turns share a number of places among studies: whoever has used least is next. They are safe
// for concurrent use.
type turns struct {
	mu      sync.Mutex
	free    int
	closed  bool
	floor   time.Duration // what those who had a turn last had used: newcomers begin there
	waiting waiters
}

// A user is one of those who share. Its fields are the turns'.
type user struct{ used time.Duration }

type waiter struct {
	*user
	n     int64 // of two who have used the same the earlier is next
	ready chan struct{}
}

func newTurns(places int) *turns { return &turns{free: places} }

// take waits for a turn. It returns false if the turns were closed.
func (t *turns) take(u *user) bool {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return false
	}
	// One that did without for long is owed nothing for it.
	u.used = max(u.used, t.floor)
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return true
	}
	t.waiting.count++
	w := &waiter{u, t.waiting.count, make(chan struct{})}
	heap.Push(&t.waiting, w)
	t.mu.Unlock()
	<-w.ready
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.closed
}

// give back a turn that took so long.
func (t *turns) give(u *user, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u.used += took
	if len(t.waiting.list) == 0 {
		t.free++
		return
	}
	next := heap.Pop(&t.waiting).(*waiter)
	t.floor = max(t.floor, next.used)
	close(next.ready)
}

// close ends the waiting of all.
func (t *turns) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, w := range t.waiting.list {
		close(w.ready)
	}
	t.waiting.list = nil
}

// waiters is a heap of those who wait, the next on top.
type waiters struct {
	list  []*waiter
	count int64
}

func (h *waiters) Len() int { return len(h.list) }

func (h *waiters) Less(i, j int) bool {
	a, b := h.list[i], h.list[j]
	if a.used != b.used {
		return a.used < b.used
	}
	return a.n < b.n
}

func (h *waiters) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }

// Push implements [heap.Interface].
func (h *waiters) Push(x any) { h.list = append(h.list, x.(*waiter)) }

// Pop implements [heap.Interface].
func (h *waiters) Pop() any {
	last := len(h.list) - 1
	w := h.list[last]
	h.list = h.list[:last]
	return w
}
