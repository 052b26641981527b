package jetstream

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// Control returns the server of studies, as this worker reaches it.
func (b *Bus) Control() queue.Control { return control{b} }

type control struct{ b *Bus }

var _ queue.Control = control{}

// call makes one call of the server.
func (c control) call(ctx context.Context, what string, body any) (reply, error) {
	data, ok := body.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return reply{}, err
		}
	}
	return c.b.request(ctx, callsPrefix+c.b.opts.Worker+"."+what, data)
}

// decodeReply returns the error of a reply as an error.
func decodeReply(data []byte) (reply, error) {
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		return reply{}, assay.Errorf(assay.ClassUnavailable, "the server's reply cannot be decoded by this version: %w", err)
	}
	return r, r.Error.err()
}

// Hello implements [queue.Control].
func (c control) Hello(ctx context.Context, w queue.Worker) (queue.Order, error) {
	r, err := c.call(ctx, "hello", w)
	if err != nil {
		return queue.Order{}, err
	}
	c.b.results.Store(r.Results)
	if r.Order == nil {
		return queue.Order{}, nil
	}
	return *r.Order, nil
}

// Claim implements [queue.Control].
func (c control) Claim(ctx context.Context, t queue.Ticket, worker string) (queue.Claim, error) {
	r, err := c.call(ctx, "claim", claimRequest{t, worker})
	switch {
	case err != nil:
		return queue.Claim{}, err
	case r.Claim == nil:
		return queue.Claim{}, fmt.Errorf("the server gave no answer to a claim")
	}
	return *r.Claim, nil
}

// Beat implements [queue.Control].
func (c control) Beat(ctx context.Context, b queue.Beat) (queue.Verdict, error) {
	r, err := c.call(ctx, "beat", b)
	return r.Verdict, err
}

// Tell implements [queue.Control]. If no server accepts the outcome, it is also put into the stream of results, if that
// exists. The call still returns an error: only a server makes it durable.
func (c control) Tell(ctx context.Context, o queue.Outcome) error {
	data, err := fitOutcome(o)
	if err != nil {
		return err
	}
	_, err = c.call(ctx, "tell", data)
	if assay.ClassOf(err) == assay.ClassUnavailable && c.b.results.Load() {
		c.b.leaveResult(o, data)
	}
	return err
}
