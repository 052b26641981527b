package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// A pull request is renewed at intervals; its heartbeats reveal a server that is gone.
const (
	heartbeat = 5 * time.Second
	pullAgain = time.Second
	// linger is how long a pull request stays open without a taker.
	linger = 2 * time.Second
)

// A puller requests tickets from one consumer, one at a time, while takers wait for them. The lock of the carrier
// guards its fields.
type puller struct {
	c    *carrier
	name string
	stop context.CancelFunc // nil if no goroutine pulls
	idle *time.Timer
	con  jetstream.Consumer // nil if it must be looked up; belongs to the goroutine that pulls
}

// retire stops a puller without takers.
func (p *puller) retire() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.stop != nil && !p.c.wanted(p.name) {
		p.stop()
	}
}

// goesOn reports whether a taker waits. If not, the goroutine ends.
func (p *puller) goesOn(ctx context.Context) bool {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.c.over.Err() == nil && p.c.wanted(p.name) {
		if ctx.Err() == nil {
			return true
		}
		// A taker arrived after the stop: another goroutine takes over.
		ctx, p.stop = context.WithCancel(p.c.over)
		p.c.wg.Go(func() { p.pull(ctx) })
		return false
	}
	p.stop()
	p.stop = nil
	return false
}

// pull requests tickets until no taker waits.
func (p *puller) pull(ctx context.Context) {
	for p.goesOn(ctx) {
		var m jetstream.Msg
		err := p.c.b.down()
		if err == nil && p.con == nil {
			look, cancel := context.WithTimeout(ctx, dialLimit)
			p.con, err = p.c.b.js.Consumer(look, jobsStream, p.name)
			cancel()
			if err != nil {
				p.con = nil
			}
		}
		if err == nil {
			m, err = p.con.Next(jetstream.FetchContext(ctx), jetstream.FetchHeartbeat(heartbeat))
		}
		switch {
		case err == nil:
			p.c.deliver(p.name, m, p.con.CachedInfo().Config.AckWait)
		case errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages):
		case ctx.Err() != nil:
		default: // no such consumer yet, or no server
			p.con = nil
			t := time.NewTimer(pullAgain)
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
			}
		}
	}
}

// deliver hands a message to a taker, or gives it back if none waits any more.
func (c *carrier) deliver(name string, m jetstream.Msg, lease time.Duration) {
	d := &delivery{c: c, m: m, lease: lease, until: time.Now().Add(lease)}
	if json.Unmarshal(m.Data(), &d.t) != nil || checkTicket(d.t) != nil {
		_ = m.Term() // it is not a valid ticket
		return
	}
	if !c.give(name, d) {
		d.back()
	}
}

// A delivery is a ticket and its lease.
type delivery struct {
	c     *carrier
	m     jetstream.Msg
	t     queue.Ticket
	lease time.Duration

	mu    sync.Mutex
	until time.Time
}

// Ticket implements [queue.Delivery].
func (d *delivery) Ticket() queue.Ticket { return d.t }

// held returns an error if the lease has ended: the ticket may be with another.
func (d *delivery) held() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Now().After(d.until) {
		return assay.Errorf(assay.ClassConflict, "the lease of the ticket has ended")
	}
	return d.c.b.down()
}

// Renew implements [queue.Delivery].
func (d *delivery) Renew(context.Context) error {
	if err := d.held(); err != nil {
		return err
	}
	if err := d.m.InProgress(); err != nil {
		return queueError(err)
	}
	d.mu.Lock()
	d.until = time.Now().Add(d.lease)
	d.mu.Unlock()
	return nil
}

// Done implements [queue.Delivery].
func (d *delivery) Done(ctx context.Context) error {
	if err := d.held(); err != nil {
		return err
	}
	if err := d.m.DoubleAck(ctx); err != nil {
		return queueError(err)
	}
	return nil
}

// back gives a ticket back that was not used.
func (d *delivery) back() { _ = d.m.Nak() }
