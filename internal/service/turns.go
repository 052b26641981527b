package service

import (
	"container/heap"
	"slices"
	"sync"
	"time"
)

// turns share a number of slots among studies: the study that has used least is next. They are safe for concurrent use.
type turns struct {
	mu      sync.Mutex
	free    int
	closed  bool
	holding []*user       // the users that have a turn now
	floor   time.Duration // the least use among the users, at the last request for a turn
	waiting waiters
}

// credit is the largest claim that an idle user builds up.
const credit = time.Minute

// A user is a study that shares the slots. Its fields belong to the turns.
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
	u.used = max(u.used, t.least()-credit)
	if t.free > 0 {
		t.free--
		t.holding = append(t.holding, u)
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

// give returns the slot of a turn that lasted took.
func (t *turns) give(u *user, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u.used += took
	if i := slices.Index(t.holding, u); i >= 0 {
		t.holding = slices.Delete(t.holding, i, i+1)
	}
	if len(t.waiting.list) == 0 {
		t.free++
		return
	}
	next := heap.Pop(&t.waiting).(*waiter)
	t.holding = append(t.holding, next.user)
	close(next.ready)
}

// least returns the least use among the users that have a turn or wait for one.
func (t *turns) least() time.Duration {
	if len(t.holding) == 0 {
		return t.floor
	}
	least := t.holding[0].used
	for _, u := range t.holding[1:] {
		least = min(least, u.used)
	}
	if len(t.waiting.list) > 0 {
		least = min(least, t.waiting.list[0].used)
	}
	t.floor = max(t.floor, least)
	return t.floor
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

// waiters is a heap of waiting users, the next on top.
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
