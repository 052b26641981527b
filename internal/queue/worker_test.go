package queue_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// A fakeWorker is a worker in this process, as simple as can be. Its runner makes the
// runs.
type fakeWorker struct {
	queue.Worker
	control queue.Control
	carrier queue.Carrier
	runner  assay.Runner
}

// serve takes and runs until ctx is done, in as many slots as the worker has.
func (w *fakeWorker) serve(ctx context.Context) {
	w.control.Hello(ctx, w.Worker)
	var wg sync.WaitGroup
	for range w.Slots {
		wg.Go(func() {
			for ctx.Err() == nil {
				d, err := w.carrier.Take(ctx, w.Apps, w.MachineClass)
				if err != nil {
					return
				}
				if c, err := w.control.Claim(ctx, d.Ticket(), w.ID); err == nil && c.Verdict == queue.Go {
					w.run(ctx, c, d)
				}
				d.Done(ctx)
			}
		})
	}
	wg.Wait()
}

var errVerdict = errors.New("the server ended it")

// run makes a run, beats, and sends its outcome until it is taken.
func (w *fakeWorker) run(ctx context.Context, c queue.Claim, d queue.Delivery) {
	rctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o := queue.Outcome{ID: c.Task.ID, Worker: w.ID}
	job := c.Task.Job
	job.ID = assay.RunID{} // that of a process, which ends with its caller
	job.Interval = c.Beat
	m, err := w.runner.Run(rctx, job, func(m assay.Measurement) {
		d.Renew(ctx)
		v, err := w.control.Beat(ctx, queue.Beat{ID: c.Task.ID, Worker: w.ID, So: m})
		if err == nil && v != queue.Go && o.Why == "" {
			o.Why = string(v)
			cancel(errVerdict)
		}
	})
	o.Measurement, o.Stdout, o.Stderr = m, m.Stdout, m.Stderr
	switch {
	case errors.Is(err, assay.ErrLimit):
		o.Why = "limit"
	case errors.Is(err, errVerdict):
	case errors.Is(err, assay.ErrSetup):
		o.Why, o.Reason = "setup", err.Error()
	case err != nil:
		o.Why, o.Reason = "error", err.Error()
	default:
		o.Why = ""
	}
	for ctx.Err() == nil {
		if err := w.control.Tell(ctx, o); assay.ClassOf(err) != assay.ClassUnavailable {
			return
		}
		time.Sleep(c.Beat)
	}
}

// A journal is a record in memory that keeps all events.
type journal struct {
	mu     sync.Mutex
	events []assay.Event
}

func (j *journal) Append(_ context.Context, events ...assay.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, events...)
	return nil
}

// begin starts something that ends with the test.
func begin(t *testing.T, serve func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}
