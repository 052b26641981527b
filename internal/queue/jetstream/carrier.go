package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// Limits of a consumer.
const (
	maxAckPending = 20_000
	maxWaiting    = 4_096
)

// A carrier delivers tickets through a stream from which finished ones are removed.
type carrier struct {
	b *Bus

	// making is held while streams and consumers are made.
	making  sync.Mutex
	ensured map[string]jetstream.Consumer // by name; of a server of studies

	mu      sync.Mutex
	takers  []*taker           // that wait, the oldest first
	pullers map[string]*puller // by the name of the consumer
	wg      sync.WaitGroup
	over    context.Context
	end     context.CancelFunc
}

var _ queue.Carrier = (*carrier)(nil)

func newCarrier(b *Bus) *carrier {
	c := &carrier{b: b, ensured: map[string]jetstream.Consumer{}, pullers: map[string]*puller{}}
	c.over, c.end = context.WithCancel(context.Background())
	return c
}

// Carrier returns the carrier of the tickets.
func (b *Bus) Carrier() queue.Carrier { return b.carrier }

// close ends every Take.
func (c *carrier) close() {
	c.mu.Lock()
	c.end()
	for _, p := range c.pullers {
		if p.idle != nil {
			p.idle.Stop()
		}
	}
	c.mu.Unlock()
	c.wg.Wait()
}

// forget drops cached streams and consumers: a restarted server may have lost them.
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

// harmed returns the error of a failed queue operation. If our own server is at fault, harmed also notifies it.
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
		if _, err := c.ensure(ctx, t.App, t.MachineClass); err != nil {
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

// A taker waits for a ticket from any of several consumers.
type taker struct {
	names []string
	got   chan *delivery // of size 1; filled at most once, by the goroutine that takes the taker off the list
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
		p := c.pullers[name]
		if p == nil {
			p = &puller{c: c, name: name}
			c.pullers[name] = p
		}
		if p.stop == nil {
			var ctx context.Context
			ctx, p.stop = context.WithCancel(c.over)
			c.wg.Go(func() { p.pull(ctx) })
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
	case d := <-t.got: // a ticket arrived at the same moment
		d.back()
	default:
	}
	if ctx.Err() == nil {
		return nil, assay.Errorf(assay.ClassUnavailable, "the connection to the server is closed")
	}
	return nil, context.Cause(ctx)
}

// leave takes a taker off the list. The lock is held.
//
// Its pull request stays open for a while, because the next taker usually comes soon. A ticket that arrives meanwhile
// without a taker is given back at once.
func (c *carrier) leave(t *taker) {
	i := slices.Index(c.takers, t)
	if i < 0 {
		return
	}
	c.takers = slices.Delete(c.takers, i, i+1)
	for _, name := range t.names {
		if p := c.pullers[name]; p != nil && p.stop != nil && !c.wanted(name) {
			if p.idle != nil {
				p.idle.Stop()
			}
			p.idle = time.AfterFunc(linger, p.retire)
		}
	}
}

// wanted reports whether a taker waits for a ticket of a consumer. The lock is held.
func (c *carrier) wanted(name string) bool {
	return slices.ContainsFunc(c.takers, func(t *taker) bool { return slices.Contains(t.names, name) })
}

// give hands a delivery to the taker that has waited longest. It returns false if no taker waits.
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
