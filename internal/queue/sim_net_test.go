package queue

import (
	"context"
	"time"
)

// call is a request of a worker to the server and its answer: each may be late, lost or
// repeated, and a repeated one may come much later, to another server.
func call[T any](ctx context.Context, k *simWorker, dice *dice, do func(*simServer) (T, error)) (T, error) {
	w := k.w
	var none T
	away := func() (T, error) {
		sleep(ctx, dice.between(time.Second, 4*time.Second))
		return none, errAway
	}
	if dice.chance(0.03) {
		later := dice.between(time.Millisecond, 50*time.Second)
		w.calls.Go(func() {
			if sleep(ctx, later) && !k.cut() {
				if s := w.current(); s != nil {
					_, _ = do(s)
				}
			}
		})
	}
	late := dice.between(time.Millisecond, 30*time.Millisecond)
	if dice.chance(0.03) {
		late = dice.between(time.Millisecond, 8*time.Second)
	}
	if !sleep(ctx, late) || dice.chance(0.02) || k.cut() {
		return away()
	}
	s := w.current()
	if s == nil {
		return away()
	}
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1)
	w.calls.Go(func() {
		v, err := do(s)
		answers <- answer{v, err}
	})
	patience := time.NewTimer(5 * time.Second)
	defer patience.Stop()
	var a answer
	select {
	case a = <-answers:
	case <-patience.C:
		return none, errAway
	case <-ctx.Done():
		return none, errAway
	}
	if !sleep(ctx, dice.between(time.Millisecond, 30*time.Millisecond)) || dice.chance(0.02) || k.cut() || s.dead() {
		return away()
	}
	return a.v, a.err
}

// A simCarrier loses, repeats, delays and reorders tickets, and outlives servers.
type simCarrier struct {
	w     *world
	inner *Memory
	old   []Ticket // that were delivered
}

func (c *simCarrier) now() *Memory {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.inner
}

// A simDoor is the carrier as one server has it.
type simDoor struct {
	*simCarrier
	offers, depths *dice
}

// wipe loses all tickets.
func (c *simCarrier) wipe() {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.inner = NewMemory(simLease)
}

func (c *simDoor) Offer(ctx context.Context, ts ...Ticket) error {
	for _, t := range ts {
		if c.offers.chance(0.05) {
			continue
		}
		sleep(ctx, c.offers.between(0, 10*time.Millisecond))
		n := 1
		if c.offers.chance(0.05) {
			n = 2
		}
		for range n {
			if err := c.now().Offer(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *simDoor) Depth(ctx context.Context, app string) (int, error) {
	if c.depths.chance(0.05) {
		return 0, errAway
	}
	return c.now().Depth(ctx, app)
}

// Take is for workers, which call take.
func (c *simDoor) Take(context.Context, []string, string) (Delivery, error) { return nil, errAway }

// take waits for a ticket, for a while. A ticket reaches any of the callers that wait.
func (c *simCarrier) take(ctx context.Context, dice *dice, apps []string, class string) (Delivery, error) {
	sleep(ctx, dice.between(time.Millisecond, 100*time.Millisecond))
	c.w.mu.Lock()
	if n := len(c.old); n > 0 && dice.intn(8) == 0 && time.Since(c.w.began) < troubleFor {
		t := c.old[dice.intn(n)]
		c.w.mu.Unlock()
		return repeated{t}, nil
	}
	c.w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 7*time.Second)
	defer cancel()
	inner := c.now()
	for ctx.Err() == nil {
		d, moved, wait := inner.take(apps, class)
		if d != nil {
			c.w.mu.Lock()
			c.old = append(c.old, d.Ticket())
			c.w.mu.Unlock()
			return d, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-moved:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		dice.part(ctx)
	}
	return nil, context.Cause(ctx)
}

// repeated is a ticket that is delivered once more than it should be.
type repeated struct{ t Ticket }

func (r repeated) Ticket() Ticket              { return r.t }
func (r repeated) Renew(context.Context) error { return nil }
func (r repeated) Done(context.Context) error  { return nil }
