package worker

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/run"
)

// Causes with which the server ends a run.
var (
	errStop      = errors.New("stopped by the server")
	errCancel    = errors.New("cancelled by the server")
	errDuplicate = errors.New("another attempt is ahead")
)

// leastBeat is the shortest time between two beats of an attempt.
const leastBeat = time.Second

// attempt makes the run of a claim, and delivers its outcome.
func (w *worker) attempt(d queue.Delivery, c queue.Claim, slot int) {
	t := c.Task
	o := queue.Outcome{ID: t.ID, Worker: w.ID}
	if left := time.Until(w.Until) - untilGrace; !w.Until.IsZero() && t.Expected > left {
		o.Why, o.Reason = assay.WhyError, "the worker ends before the run would"
	} else if job, err := w.allowed(t); err != nil {
		o.Why, o.Reason = assay.WhySetup, err.Error()
		w.out.of(t.ID, "refused: %v", err)
	} else if err := w.spool.begin(t.ID); err != nil {
		o.Why, o.Reason = assay.WhyError, "the directory of the worker: "+err.Error()
		w.out.of(t.ID, "%v", err)
	} else {
		w.out.begins(t)
		w.count(1)
		began := time.Now()
		o = w.run(d, c, job, slot)
		w.count(-1)
		w.out.ends(o)
		if w.Ran != nil {
			w.Ran(t.ID, began, time.Now(), failure(o))
		}
	}
	w.keep(o)
	w.spool.end(t.ID)
	w.tell(o)
}

// keep puts an outcome into the spool. It waits for space on a full disk, because a measurement is expensive. It gives
// up when the worker ends, or when it drains and its directory was removed; the outcome still goes to the server.
func (w *worker) keep(o queue.Outcome) {
	for wait := newBackoff(); ; {
		err := w.spool.put(o)
		if err == nil {
			return
		}
		w.out.of(o.ID, "the outcome cannot be kept: %v", err)
		if w.take.Err() != nil && errors.Is(err, fs.ErrNotExist) || !wait.sleep(w.kill) {
			return
		}
	}
}

// run makes the run of a job and returns its outcome. It reports to the server meanwhile.
func (w *worker) run(d queue.Delivery, c queue.Claim, job assay.Job, slot int) queue.Outcome {
	every := cmp.Or(c.Beat, 10*time.Second)
	if job.Interval > 0 {
		every = min(every, job.Interval)
	}
	every = max(every, leastBeat)
	job.Interval, job.Live = every, true
	ctx, end := context.WithCancelCause(w.kill)
	defer end(nil)
	beating := func(f func(b *beats)) *beats {
		b := &beats{w: w, d: d, id: c.Task.ID, every: every, end: end, watch: newWatch(w.Slept), seen: make(chan struct{}, 1)}
		over := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() { b.loop(over) })
		f(b)
		close(over)
		wg.Wait()
		return b
	}
	o := queue.Outcome{ID: c.Task.ID, Worker: w.ID}
	var m assay.Measurement
	var err error
	if needsStaging(job) { // changes of the machine during staging do not affect the run
		began := time.Now()
		beating(func(*beats) { err = w.stage(ctx, &job, slot) })
		o.Staged = time.Since(began)
		defer w.unstage(job)
	}
	var files *keeper
	var b *beats
	var last time.Duration
	if err == nil {
		files = w.kept.begin(c.Task.ID)
		b = beating(func(b *beats) { m, err = w.Runner.Run(run.Tee(ctx, files.stdout, files.stderr), job, b.observe) })
		last = b.watch.look()
		if err == nil && w.ending(m) {
			err = errOver
		}
		o.Files = files.end(job, m, w.Blobs != nil)
	}
	o.Measurement = ledger.Storable(m)
	o.Stdout, o.Stderr = ledger.Shorten(m.Stdout), ledger.Shorten(m.Stderr)
	judge(ctx, &o, err)
	if err == nil {
		if reason := b.watch.tainted(m.Elapsed, last, c.Lease); reason != "" {
			o.Why, o.Reason = assay.WhyTainted, reason
		}
	}
	return o
}

// judge notes in an outcome why its run ended, with the error that it returned.
func judge(ctx context.Context, o *queue.Outcome, err error) {
	switch {
	case err == nil:
	case errors.Is(err, assay.ErrLost): // its end was noticed too late
		o.Why, o.Reason = assay.WhyTainted, err.Error()
	case errors.Is(err, assay.ErrLimit):
		o.Why = assay.WhyLimit
	case errors.Is(err, errStop):
		o.Why = assay.WhyStop
	case errors.Is(err, errCancel):
		o.Why = assay.WhyCancel
	case errors.Is(err, errDuplicate):
		o.Why = assay.WhyDuplicate
	case ctx.Err() != nil:
		o.Why, o.Reason = assay.WhyError, overReason(context.Cause(ctx))
	case errors.Is(err, errStaging):
		o.Why, o.Reason = assay.WhyError, err.Error()
	case errors.Is(err, assay.ErrSetup):
		o.Why, o.Reason = assay.WhySetup, err.Error()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		// The program is missing: no attempt on this machine can succeed, so the run has failed.
		o.Measurement.Failure = assay.NewFailure("run", err.Error(), nil, nil)
	default:
		o.Why, o.Reason = assay.WhyError, err.Error()
	}
}

// settle is the longest time between the end of a run by a signal and the end of its worker. A batch system that ends a
// job signals all its processes, in any order: such a run was ended with its worker.
const settle = time.Second

// ending reports whether a run that has just ended was ended with the worker.
func (w *worker) ending(m assay.Measurement) bool {
	if m.Signal == "" && m.ExitCode < 128 {
		return false
	}
	t := time.NewTimer(settle)
	defer t.Stop()
	select {
	case <-w.kill.Done():
		return true
	case <-t.C:
		return false
	}
}

// overReason returns the reason why the worker has ended a run.
func overReason(cause error) string {
	if errors.Is(cause, errEvicted) {
		return cause.Error()
	}
	return errOver.Error()
}

// beats report the progress of a run.
type beats struct {
	w     *worker
	d     queue.Delivery
	id    assay.RunID
	every time.Duration
	end   context.CancelCauseFunc
	watch *watch        // of the loop, until it has returned
	seen  chan struct{} // signals a new observation

	mu     sync.Mutex
	latest assay.Measurement
}

// observe keeps a measurement for the next beat.
func (b *beats) observe(m assay.Measurement) {
	b.mu.Lock()
	b.latest = m
	b.mu.Unlock()
	select {
	case b.seen <- struct{}{}:
	default:
	}
}

// loop sends a beat after each observation of the run, and when an observation is overdue by a quarter of its interval,
// until over is closed. At most one beat is pending, and an unanswered one does not hold up the watch.
func (b *beats) loop(over <-chan struct{}) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	late := time.NewTimer(b.every + b.every/4)
	defer late.Stop()
	answered := make(chan struct{}, 1)
	var beat sync.WaitGroup
	defer beat.Wait()
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.w.kill))
	defer cancel()
	for due, under := false, false; ; {
		select {
		case <-over:
			return
		case <-look.C:
			b.watch.look()
			continue
		case <-b.seen:
			due = true
		case <-late.C:
			due = true
		case <-answered:
			under = false
		}
		if !due || under {
			continue
		}
		due, under = false, true
		late.Reset(b.every + b.every/4)
		b.watch.look()
		gap := b.watch.take()
		beat.Go(func() { b.send(ctx, gap); answered <- struct{}{} })
	}
}

// send sends one beat and obeys the verdict. If the server does not answer, the next beat tries again.
func (b *beats) send(ctx context.Context, gap time.Duration) {
	b.mu.Lock()
	m := b.latest
	b.mu.Unlock()
	tail, errTail := tails(m.Stdout, m.Stderr)
	m.Stdout, m.Stderr = nil, nil
	ctx, cancel := context.WithTimeout(ctx, max(b.every, leastBeat))
	defer cancel()
	renewed := make(chan struct{})
	go func() { defer close(renewed); _ = b.d.Renew(ctx) }() // on failure, the ticket is delivered again and dropped
	defer func() { <-renewed }()
	verdict, err := b.w.Control.Beat(ctx, queue.Beat{
		ID: b.id, Worker: b.w.ID, So: ledger.Storable(m), Gap: gap, Tail: tail, ErrTail: errTail,
	})
	if err != nil {
		return
	}
	switch verdict {
	case queue.Stop:
		b.end(errStop)
	case queue.Cancel, queue.Drop:
		b.end(errCancel)
	case queue.Duplicate:
		b.end(errDuplicate)
	}
}

// tails returns the ends of two outputs, together at most [queue.MaxTail] bytes: half for each, plus the other's unused
// part.
func tails(stdout, stderr []byte) ([]byte, []byte) {
	end := func(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
	b := end(stderr, max(queue.MaxTail/2, queue.MaxTail-len(stdout)))
	return end(stdout, queue.MaxTail-len(b)), b
}
