package table

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A SimClock is the clock of a simulation with unmodified goroutines as actors: they compute for as long as they need
// and wait for simulated time with [SimClock.Sleep]. While one of them runs, time stands still. When all of them
// wait, the clock jumps to the earliest moment that one waits for and wakes that one alone; among several that wait
// for the same moment, the one with the least order. A simulation is therefore deterministic, as if there was one
// thread, and costs no real waiting.
//
// The clock counts the actors that run. The rules, with a study loop and its trials as the actors:
//
//	the loop begins                         Enter
//	the loop starts the goroutine of a trial  Enter, before the go statement
//	the goroutine of a trial ends           nothing: sending its outcome to the
//	                                        loop, it hands its place on with it
//	the loop waits for an outcome           Leave, just before it receives; the
//	                                        outcome brings a place with it
//	the loop ends                           Leave
//
// The zero value is a clock at the beginning of 1970. It is safe for concurrent use.
type SimClock struct {
	mu      sync.Mutex
	now     time.Duration // since the epoch
	running int           // actors that neither sleep nor have left; time stands still above 0
	waiting sleepers
	arrived int64 // sleeps so far
}

var _ assay.Clock = (*SimClock)(nil)

// Now returns the simulated time.
func (c *SimClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, 0).UTC().Add(c.now)
}

// Enter adds a running actor.
func (c *SimClock) Enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
}

// Leave removes a running actor: it has ended, or is about to wait for something other than time. It panics if no
// actor runs.
func (c *SimClock) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == 0 {
		panic("Leave of a clock without a running actor")
	}
	c.running--
	c.advance()
}

// Sleep makes the calling actor wait for d of simulated time; d <= 0 lets every
// actor that waits for this very moment and has a lower order go first. The
// number of the trial serves as the order. If ctx
// is done before, Sleep returns context.Cause(ctx), at a time that then depends
// on who cancelled it: an actor that does so while it runs wakes the sleeper
// beside it.
//
// A goroutine that is no actor may sleep as long as no other takes part: the
// clock jumps at once.
func (c *SimClock) Sleep(ctx context.Context, order int64, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s := c.lieDown(order, d)
	if s == nil {
		return nil
	}
	select {
	case <-s.awake:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.at >= 0 { // else it has been woken at the same time
		heap.Remove(&c.waiting, s.at)
		c.running++
	}
	return context.Cause(ctx)
}

// lieDown puts the caller to sleep. It returns nil if its moment is there: if the caller is the only actor that runs
// and would be woken first, time jumps there without a switch of goroutines, which is most of the cost of a simulated
// study.
func (c *SimClock) lieDown(order int64, d time.Duration) *sleeper {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arrived++
	s := &sleeper{until: c.now + max(d, 0), order: order, arrival: c.arrived}
	if c.running <= 1 && (len(c.waiting) == 0 || s.before(c.waiting[0])) {
		c.now = s.until // no other could be woken first
		return nil
	}
	s.awake = make(chan struct{})
	heap.Push(&c.waiting, s)
	c.running = max(c.running-1, 0)
	c.advance()
	return s
}

// advance wakes the first sleeper if no actor runs.
// Invariant: no sleeper waits for a moment that has passed.
func (c *SimClock) advance() {
	if c.running > 0 || len(c.waiting) == 0 {
		return
	}
	s := heap.Pop(&c.waiting).(*sleeper)
	c.now, c.running = s.until, 1
	close(s.awake)
}

// A sleeper is an actor that waits for a moment. The actor that wakes it closes awake, with the clock locked; at
// is -1 then.
type sleeper struct {
	until   time.Duration
	order   int64
	arrival int64 // distinguishes sleepers without an order
	awake   chan struct{}
	at      int // index in the heap, or -1
}

// before reports whether s is woken before t: by moment, order, then arrival.
func (s *sleeper) before(t *sleeper) bool {
	if s.until != t.until {
		return s.until < t.until
	}
	if s.order != t.order {
		return s.order < t.order
	}
	return s.arrival < t.arrival
}

// sleepers is a heap, the next to wake first.
type sleepers []*sleeper

func (h sleepers) Len() int           { return len(h) }
func (h sleepers) Less(i, j int) bool { return h[i].before(h[j]) }
func (h sleepers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements heap.Interface.
func (h *sleepers) Push(x any) {
	s := x.(*sleeper)
	s.at = len(*h)
	*h = append(*h, s)
}

// Pop implements heap.Interface.
func (h *sleepers) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	s.at = -1
	return s
}
