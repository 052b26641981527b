package jetstream

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// atOnce is how many calls are answered at once; the others wait for their turn.
const atOnce = 256

// Answer serves the calls of workers with a control until stop is called, which waits for pending calls. may reports
// whether a worker may have work of an application; nil allows all. With an external NATS, Answer also delivers the
// outcomes that workers left there while no server answered.
func (b *Bus) Answer(c queue.Control, may func(worker, app string) bool) (stop func(), err error) {
	if may == nil {
		may = func(string, string) bool { return true }
	}
	a := &answerer{b: b, control: c, may: may, slots: make(chan struct{}, atOnce)}
	a.ctx, a.end = context.WithCancel(context.Background())
	if b.opts.external() {
		if err := a.collect(); err != nil {
			a.end()
			return nil, err
		}
	}
	sub, err := b.nc.QueueSubscribe(callsPrefix+"*.*", "server", a.take)
	if err != nil {
		a.end()
		a.wg.Wait()
		return nil, queueError(err)
	}
	_ = sub.SetPendingLimits(-1, 64<<20)
	if err := b.nc.Flush(); err != nil {
		b.opts.Log.Warn("queue: " + err.Error())
	}
	return sync.OnceFunc(func() {
		_ = sub.Unsubscribe()
		_ = b.nc.FlushTimeout(time.Second) // from then on NATS reports that no server responds
		a.mu.Lock()
		a.stopped = true
		a.mu.Unlock()
		a.end()
		a.wg.Wait()
	}), nil
}

// An answerer answers the calls of workers.
type answerer struct {
	b       *Bus
	control queue.Control
	may     func(worker, app string) bool
	ctx     context.Context
	end     context.CancelFunc
	slots   chan struct{}

	mu      sync.Mutex
	stopped bool
	wg      sync.WaitGroup
}

// take answers one call, in its own goroutine.
func (a *answerer) take(m *nats.Msg) {
	select {
	case a.slots <- struct{}{}:
	case <-a.ctx.Done():
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return
	}
	a.wg.Go(func() {
		defer func() { <-a.slots }()
		worker, what, _ := strings.Cut(strings.TrimPrefix(m.Subject, callsPrefix), ".")
		ctx, cancel := context.WithTimeout(a.ctx, callLimit)
		defer cancel()
		r, err := a.answer(ctx, worker, what, m.Data)
		if err != nil && a.ctx.Err() != nil {
			err = assay.Errorf(assay.ClassUnavailable, "the server ends")
		}
		r.Error = newWireError(err)
		data, err := json.Marshal(r)
		if err == nil && int64(len(data)) > a.b.nc.MaxPayload() {
			data, err = json.Marshal(reply{Error: newWireError(assay.Errorf(assay.ClassUsage,
				"the job is larger than the queue carries (%d of %d bytes)", len(data), a.b.nc.MaxPayload()))})
		}
		if err == nil {
			err = m.Respond(data)
		}
		if err != nil {
			a.b.opts.Log.Warn("queue: an answer: "+err.Error(), "worker", worker)
		}
	})
}

// answer makes a call. A worker speaks as itself: that is whose subject it may use.
func (a *answerer) answer(ctx context.Context, worker, what string, data []byte) (r reply, err error) {
	self := func(id string) error {
		if id != worker {
			return assay.Errorf(assay.ClassUsage, "worker %s speaks as worker %s", worker, id)
		}
		return nil
	}
	decode := func(v any) error {
		if err := json.Unmarshal(data, v); err != nil {
			return assay.Errorf(assay.ClassUsage, "the message of worker %s cannot be decoded by this version: %w", worker, err)
		}
		return nil
	}
	switch what {
	case "hello":
		var w queue.Worker
		if err := decode(&w); err != nil {
			return r, err
		}
		return a.hello(ctx, w, self(w.ID))
	case "claim":
		var c claimRequest
		if err := decode(&c); err != nil {
			return r, err
		}
		if err := self(c.Worker); err != nil {
			return r, err
		}
		if !a.may(worker, c.Ticket.App) {
			return r, assay.Errorf(assay.ClassUsage, "the token of worker %s is not for application %s", worker, c.Ticket.App)
		}
		claim, err := a.control.Claim(ctx, c.Ticket, c.Worker)
		return reply{Claim: &claim}, err
	case "beat":
		var b queue.Beat
		if err := decode(&b); err != nil {
			return r, err
		}
		if err := self(b.Worker); err != nil {
			return r, err
		}
		r.Verdict, err = a.control.Beat(ctx, b)
		return r, err
	case "tell":
		var o queue.Outcome
		if err := decode(&o); err != nil {
			return r, err
		}
		if err := self(o.Worker); err != nil {
			return r, err
		}
		return r, a.control.Tell(ctx, o)
	}
	return r, assay.Errorf(assay.ClassUsage, "no call %q: the worker is of another version", what)
}

// hello registers a worker and creates its ticket consumers.
func (a *answerer) hello(ctx context.Context, w queue.Worker, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	for _, app := range w.Apps {
		if !a.may(w.ID, app) {
			return reply{}, assay.WithHint(
				assay.Errorf(assay.ClassUsage, "the token of worker %s is not for application %s", w.ID, app),
				"assay token add --role worker --apps "+app)
		}
	}
	order, err := a.control.Hello(ctx, w)
	if err != nil {
		return reply{}, err
	}
	for _, app := range w.Apps {
		for _, class := range []string{"", w.MachineClass} {
			if _, err := a.b.carrier.ensure(ctx, app, class); err != nil {
				return reply{}, err
			}
		}
	}
	return reply{Order: &order, Results: a.b.opts.external()}, nil
}
