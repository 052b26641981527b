package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/queue"
)

// Limits of a consumer.
const (
	maxAckPending = 20_000
	maxWaiting    = 4_096
)

// A carrier brings tickets by a stream from which what is done is removed.
type carrier struct {
	b *Bus

	// making is held while streams and consumers are made.
	making  sync.Mutex
	ensured map[string]jetstream.Consumer // by name; of a server of studies

	mu     sync.Mutex
	takers []*taker // that wait, the oldest first
	// pullers are the consumers that are asked for takers, by name: one goroutine each.
	pullers map[string]context.CancelFunc
	wg      sync.WaitGroup
	over    context.Context
	end     context.CancelFunc
}

var _ queue.Carrier = (*carrier)(nil)

func newCarrier(b *Bus) *carrier {
	c := &carrier{b: b, ensured: map[string]jetstream.Consumer{}, pullers: map[string]context.CancelFunc{}}
	c.over, c.end = context.WithCancel(context.Background())
	return c
}

// Carrier returns the carrier of the tickets.
func (b *Bus) Carrier() queue.Carrier { return b.carrier }

// close ends every Take.
func (c *carrier) close() {
	c.end()
	c.wg.Wait()
}

// forget has streams and consumers looked for again: those of a server that was started anew may be
// gone.
func (c *carrier) forget() {
	c.making.Lock()
	defer c.making.Unlock()
	clear(c.ensured)
}

// ensure makes the stream, and the consumer of an application and a class, unless they are there.
func (c *carrier) ensure(ctx context.Context, app, class string) (jetstream.Consumer, error) {
	name := consumerOf(app, class)
	c.making.Lock()
	defer c.making.Unlock()
	if con := c.ensured[name]; con != nil {
		return con, nil
	}
	if len(c.ensured) == 0 {
		_, err := c.b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: jobsStream, Subjects: []string{jobsPrefix + ">"}, Retention: jetstream.WorkQueuePolicy,
			Storage: jetstream.FileStorage, Replicas: max(c.b.opts.Replicas, 1),
			// A ticket that is there already is not added.
			Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1,
		})
		if err != nil {
			return nil, c.b.harmed(err)
		}
	}
	con, err := c.b.js.CreateOrUpdateConsumer(ctx, jobsStream, jetstream.ConsumerConfig{
		Durable: name, FilterSubject: jobsPrefix + part(app) + "." + classPart(class) + ".*",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.b.opts.Lease, MaxDeliver: -1,
		MaxAckPending: maxAckPending, MaxWaiting: maxWaiting,
	})
	if err != nil {
		return nil, c.b.harmed(err)
	}
	c.ensured[name] = con
	return con, nil
}

// queueError returns an error of NATS in its class.
func queueError(err error) error {
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return assay.Errorf(assay.ClassUnavailable, "the queue: JetStream is not enabled")
	}
	return assay.Errorf(assay.ClassUnavailable, "the queue: %w", err)
}

// harmed returns an error of what is queued. A server of our own is told, if it is its fault.
func (b *Bus) harmed(err error) error {
	if s, ours := b.opts.in.(*Server); ours {
		if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.Code >= 500 {
			s.suspect(api.Description)
		}
	}
	return queueError(err)
}

// Offer implements [queue.Carrier].
func (c *carrier) Offer(ctx context.Context, ts ...queue.Ticket) error {
	for _, t := range ts {
		if err := checkTicket(t); err != nil {
			return err
		}
	}
	if err := c.b.down(); err != nil {
		return err
	}
	ctx, cancel := c.b.within(ctx)
	defer cancel()
	left, err := c.offer(ctx, ts)
	if len(left) > 0 && ctx.Err() == nil { // the stream or a consumer may be gone
		c.forget()
		_, err = c.offer(ctx, left)
	}
	return err
}

// offer publishes tickets, and returns those that it could not.
func (c *carrier) offer(ctx context.Context, ts []queue.Ticket) (left []queue.Ticket, err error) {
	for _, t := range ts {
		if _, err := c.ensure(ctx, t.App, t.Class); err != nil {
			return ts, err
		}
	}
	acks := make([]jetstream.PubAckFuture, len(ts))
	for i, t := range ts {
		body, err := json.Marshal(t)
		if err != nil {
			return ts, err
		}
		if acks[i], err = c.b.js.PublishAsync(subjectOf(t), body); err != nil {
			return ts[i:], queueError(err)
		}
	}
	for i, ack := range acks {
		select {
		case <-ack.Ok():
		case e := <-ack.Err():
			if api, ok := errors.AsType[*jetstream.APIError](e); ok && strings.Contains(api.Description, "per subject") {
				continue // it is there already
			}
			left, err = append(left, ts[i]), c.b.harmed(e)
		case <-ctx.Done():
			return append(left, ts[i:]...), queueError(context.Cause(ctx))
		}
	}
	return left, err
}

// Depth implements [queue.Carrier].
func (c *carrier) Depth(ctx context.Context, app string) (int, error) {
	if err := c.b.down(); err != nil {
		return 0, err
	}
	ctx, cancel := c.b.within(ctx)
	defer cancel()
	names, err := c.consumers(ctx, app)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		con, err := c.b.js.Consumer(ctx, jobsStream, name)
		if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
			c.forget()
			continue
		}
		if err != nil {
			return 0, queueError(err)
		}
		info := con.CachedInfo()
		n += int(info.NumPending) + info.NumAckPending
	}
	return n, nil
}

// consumers returns the names of the consumers of an application.
func (c *carrier) consumers(ctx context.Context, app string) (names []string, err error) {
	stream, err := c.b.js.Stream(ctx, jobsStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		c.forget()
		return nil, nil
	}
	if err != nil {
		return nil, queueError(err)
	}
	list := stream.ConsumerNames(ctx)
	for name := range list.Name() {
		if i := strings.LastIndexByte(name, '-'); i >= 0 && name[:i] == part(app) {
			names = append(names, name)
		}
	}
	if err := list.Err(); err != nil {
		return nil, queueError(err)
	}
	return names, nil
}

// A taker waits for a ticket of one of some consumers.
type taker struct {
	names []string
	got   chan *delivery // of size 1; it is filled at most once, by whoever takes the taker off the list
}

// Take implements [queue.Carrier].
func (c *carrier) Take(ctx context.Context, apps []string, class string) (queue.Delivery, error) {
	t := &taker{got: make(chan *delivery, 1)}
	for _, app := range apps {
		if class != "" {
			t.names = append(t.names, consumerOf(app, class))
		}
		t.names = append(t.names, consumerOf(app, ""))
	}
	if len(t.names) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "nothing can be taken for no application")
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	if c.over.Err() != nil {
		c.mu.Unlock()
		return nil, assay.Errorf(assay.ClassUnavailable, "the connection to the server is closed")
	}
	c.takers = append(c.takers, t)
	for _, name := range t.names {
		if c.pullers[name] == nil {
			pull, stop := context.WithCancel(c.over)
			c.pullers[name] = stop
			c.wg.Go(func() { defer stop(); c.pull(pull, name) })
		}
	}
	c.mu.Unlock()
	select {
	case d := <-t.got:
		return d, nil
	case <-ctx.Done():
	case <-c.over.Done():
	}
	c.mu.Lock()
	c.leave(t)
	c.mu.Unlock()
	select {
	case d := <-t.got: // it came at the same moment
		d.back()
	default:
	}
	if ctx.Err() == nil {
		return nil, assay.Errorf(assay.ClassUnavailable, "the connection to the server is closed")
	}
	return nil, context.Cause(ctx)
}

// leave takes a taker off the list, and ends the pullers that nobody waits for. The lock is held.
func (c *carrier) leave(t *taker) {
	i := slices.Index(c.takers, t)
	if i < 0 {
		return
	}
	c.takers = slices.Delete(c.takers, i, i+1)
	for _, name := range t.names {
		if stop := c.pullers[name]; stop != nil && !c.wanted(name) {
			stop()
			delete(c.pullers, name)
		}
	}
}

// wanted reports whether somebody waits for a ticket of a consumer. The lock is held.
func (c *carrier) wanted(name string) bool {
	return slices.ContainsFunc(c.takers, func(t *taker) bool { return slices.Contains(t.names, name) })
}

// give hands a delivery to the taker that has waited longest; false if there is none.
func (c *carrier) give(name string, d *delivery) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.takers {
		if slices.Contains(t.names, name) {
			c.leave(t)
			t.got <- d
			return true
		}
	}
	return false
}

// A request for tickets is renewed every so often, and a server that is gone is found out by the
// heartbeats that it sends meanwhile.
const (
	heartbeat = 5 * time.Second
	pullAgain = time.Second
	// linger is how long a request is waited for that nobody wants any more: a ticket that is on its
	// way is given back at once then, and not when its lease ends.
	linger = 2 * time.Second
)

// pull asks one consumer for tickets, one at a time, for as long as somebody waits for them.
func (c *carrier) pull(ctx context.Context, name string) {
	var con jetstream.Consumer
	for ctx.Err() == nil {
		var m jetstream.Msg
		err := c.b.down()
		if err == nil && con == nil {
			look, cancel := context.WithTimeout(ctx, dialLimit)
			con, err = c.b.js.Consumer(look, jobsStream, name)
			cancel()
		}
		if err == nil {
			m, err = c.next(ctx, con)
		}
		switch {
		case err == nil:
			c.deliver(name, m, con.CachedInfo().Config.AckWait)
		case errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages):
		case ctx.Err() != nil:
		default: // no such consumer yet, or no server
			con = nil
			t := time.NewTimer(pullAgain)
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
			}
		}
	}
}

// next asks a consumer for one ticket.
func (c *carrier) next(ctx context.Context, con jetstream.Consumer) (jetstream.Msg, error) {
	fetch, cancel := context.WithCancel(c.over)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		t := time.NewTimer(linger)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-fetch.Done():
		}
	})()
	return con.Next(jetstream.FetchContext(fetch), jetstream.FetchHeartbeat(heartbeat))
}

// deliver hands a message on, or gives it back if nobody waits for it any more.
func (c *carrier) deliver(name string, m jetstream.Msg, lease time.Duration) {
	d := &delivery{c: c, m: m, lease: lease, until: time.Now().Add(lease)}
	if json.Unmarshal(m.Data(), &d.t) != nil || checkTicket(d.t) != nil {
		_ = m.Term() // nobody can use it
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
