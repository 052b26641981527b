package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// collector is the consumer of the stream of results.
const collector = "server"

// leaveResult puts an outcome into the stream of results. The same one twice within two minutes is
// there once; the fleet counts it once anyway.
func (b *Bus) leaveResult(o queue.Outcome, data []byte) {
	if b.down() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialLimit)
	defer cancel()
	id := fmt.Sprintf("%s/%d/%d/%d/%s", o.ID.Study, o.ID.Trial, o.ID.Repeat, o.ID.Attempt, o.Worker)
	if _, err := b.js.Publish(ctx, resultsPrefix+o.Worker, data, jetstream.WithMsgID(id)); err != nil {
		b.opts.Log.Warn("queue: an outcome cannot be left for the server: " + err.Error())
	}
}

// collect delivers the outcomes that workers have left to the control, until the answerer ends.
func (a *answerer) collect() error {
	ctx, cancel := context.WithTimeout(a.ctx, callLimit)
	defer cancel()
	js, replicas := a.b.js, max(a.b.opts.Replicas, 1)
	_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: resultsStream, Subjects: []string{resultsPrefix + ">"}, Retention: jetstream.WorkQueuePolicy,
		Storage: jetstream.FileStorage, Replicas: replicas, MaxMsgSize: 1 << 20,
	})
	if err != nil {
		return queueError(err)
	}
	con, err := js.CreateOrUpdateConsumer(ctx, resultsStream, jetstream.ConsumerConfig{
		Durable: collector, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second, MaxDeliver: -1,
	})
	if err != nil {
		return queueError(err)
	}
	a.wg.Go(func() {
		for a.ctx.Err() == nil {
			m, err := con.Next(jetstream.FetchContext(a.ctx), jetstream.FetchHeartbeat(heartbeat))
			switch {
			case err == nil:
				a.result(m)
			case errors.Is(err, nats.ErrTimeout):
			default:
				select {
				case <-time.After(pullAgain):
				case <-a.ctx.Done():
				}
			}
		}
	})
	return nil
}

// result delivers one outcome. An outcome that the control rejects is dropped; after a temporary error it is delivered
// again.
func (a *answerer) result(m jetstream.Msg) {
	var o queue.Outcome
	if json.Unmarshal(m.Data(), &o) != nil || m.Subject() != resultsPrefix+o.Worker {
		_ = m.Term()
		return
	}
	ctx, cancel := context.WithTimeout(a.ctx, callLimit)
	defer cancel()
	err := a.control.Tell(ctx, o)
	switch class := assay.ClassOf(err); {
	case err == nil:
		_ = m.Ack()
	case class == assay.ClassUsage || class == assay.ClassNotFound:
		_ = m.Term()
	default:
		_ = m.NakWithDelay(time.Second)
	}
}
