package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// Memory is a Carrier in one process, for tests, simulations and a server without remote workers. It loses and repeats
// nothing, except that a ticket whose lease has expired is given to the next caller of Take.
type Memory struct {
	lease time.Duration

	mu    sync.Mutex
	apps  map[string]*shelf
	ids   map[string]bool
	moved chan struct{} // closed and replaced when tickets arrive
}

var _ Carrier = (*Memory)(nil)

// A shelf is the tickets of one application.
type shelf struct {
	waiting []Ticket
	leased  []*delivery // in the order in which the leases end
}

// NewMemory returns a Carrier without tickets, with the given lease; 0 means 30 s.
func NewMemory(lease time.Duration) *Memory {
	if lease <= 0 {
		lease = 30 * time.Second
	}
	return &Memory{lease: lease, apps: map[string]*shelf{}, ids: map[string]bool{}, moved: make(chan struct{})}
}

// wake makes waiting callers look again. The lock is held.
func (c *Memory) wake() {
	close(c.moved)
	c.moved = make(chan struct{})
}

// Offer implements [Carrier].
func (c *Memory) Offer(ctx context.Context, ts ...Ticket) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, t := range ts {
		if t.ID == "" || t.App == "" {
			return assay.Errorf(assay.ClassUsage, "a ticket needs an ID and an application: %+v", t)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range ts {
		if c.ids[t.ID] {
			continue
		}
		c.ids[t.ID] = true
		s := c.apps[t.App]
		if s == nil {
			s = &shelf{}
			c.apps[t.App] = s
		}
		s.waiting = append(s.waiting, t)
	}
	c.wake()
	return nil
}

// Depth implements [Carrier].
func (c *Memory) Depth(ctx context.Context, app string) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.apps[app]; s != nil {
		return len(s.waiting) + len(s.leased), nil
	}
	return 0, nil
}

// Take implements [Carrier]. Tickets of one application are taken in the order of Offer, after those whose lease has
// expired.
func (c *Memory) Take(ctx context.Context, apps []string, class string) (Delivery, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		d, moved, wait := c.take(apps, class)
		if d != nil {
			return d, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-moved:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// take returns a delivery or, without one, the events to wait for: new tickets, or the end of a lease.
func (c *Memory) take(apps []string, class string) (*delivery, <-chan struct{}, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, wait := time.Now(), time.Hour
	for _, app := range apps {
		s := c.apps[app]
		if s == nil {
			continue
		}
		s.expire(now)
		for i, t := range s.waiting {
			if t.MachineClass != "" && t.MachineClass != class {
				continue
			}
			s.waiting = slices.Delete(s.waiting, i, i+1)
			d := &delivery{c: c, s: s, t: t, until: now.Add(c.lease)}
			s.leased = append(s.leased, d)
			return d, nil, 0
		}
		if len(s.leased) > 0 {
			wait = min(wait, s.leased[0].until.Sub(now)+1)
		}
	}
	return nil, c.moved, wait
}

// expire puts back tickets whose lease has expired.
func (s *shelf) expire(now time.Time) {
	n := 0
	for n < len(s.leased) && now.After(s.leased[n].until) {
		n++
	}
	if n == 0 {
		return
	}
	back := make([]Ticket, n, n+len(s.waiting))
	for i, d := range s.leased[:n] {
		back[i] = d.t
	}
	s.waiting = append(back, s.waiting...)
	s.leased = slices.Delete(s.leased, 0, n)
}

// A delivery is a lease of a ticket.
type delivery struct {
	c     *Memory
	s     *shelf
	t     Ticket
	until time.Time
}

// Ticket implements [Delivery].
func (d *delivery) Ticket() Ticket { return d.t }

// errTaken is the error of a lease that has ended.
var errTaken = assay.Errorf(assay.ClassConflict, "the lease of the ticket has ended")

// take takes the lease out of the list, if it has not ended. The lock is held.
func (d *delivery) take() bool {
	d.s.expire(time.Now())
	i := slices.Index(d.s.leased, d)
	if i < 0 {
		return false
	}
	d.s.leased = slices.Delete(d.s.leased, i, i+1)
	return true
}

// Renew implements [Delivery]. It is an error once the lease has ended.
func (d *delivery) Renew(context.Context) error {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	if !d.take() {
		return errTaken
	}
	d.until = time.Now().Add(d.c.lease)
	d.s.leased = append(d.s.leased, d)
	return nil
}

// Done implements [Delivery]. If the lease of the ticket has expired and another worker has it, Done returns an error.
func (d *delivery) Done(context.Context) error {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	if !d.take() {
		return errTaken
	}
	delete(d.c.ids, d.t.ID)
	return nil
}
