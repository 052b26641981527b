package queue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// stopAt runs an attempt at trial 1 that its observer stops once it has run so long.
func (b *bench) stopAt(r *Runner, attempt int, at time.Duration) *future {
	ctx, end := context.WithCancelCause(context.Background())
	u := &future{done: make(chan struct{}), end: end}
	j := assay.Job{ID: rid(1, attempt), Interval: 5 * time.Second}
	go func() {
		defer close(u.done)
		u.m, u.err = r.Run(ctx, j, func(m assay.Measurement) {
			if m.Elapsed >= at {
				end(stopped{})
			}
		})
	}()
	synctest.Wait()
	return u
}

// A run that was to be stopped and is cancelled instead ends with its last observed measurement. Nothing is
// learned from its measurement at the end.
func TestStoppedRunIsCancelled(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.hello(Worker{ID: "w"})
		u := b.stopAt(b.join(Study{Name: "s"}), 1, 20*time.Second)
		time.Sleep(time.Second)
		b.want("claim", b.claim("w"), "s 1.1")
		b.want("beat", b.beat("w", rid(1, 1), 10*time.Second, 0), Go)
		b.want("beat that is observed", b.beat("w", rid(1, 1), 20*time.Second, 0), Stop)
		if err := b.f.Order("w", Order{Evict: true}); err != nil {
			b.Fatal(err)
		}
		b.want("beat of one evicted", b.beat("w", rid(1, 1), 21*time.Second, 0), Cancel)
		b.tell("w", rid(1, 1), 23*time.Second, assay.WhyCancel)
		m, err := b.ended(u)
		b.want("error", err, stopped{})
		b.want("measured", m.Elapsed, 21*time.Second)
		b.want("booked", b.records["s"].booked(), []string{"1.1 cancel"})
	})
}

// So does an attempt that was given up for another one if that one sends no message again.
func TestStoppedRunIsGivenUpForAnother(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.hello(Worker{ID: "v"})
		b.hello(Worker{ID: "w"})
		r := b.join(Study{Name: "s"})
		first := b.run(r, job(1))
		b.want("claim", b.claim("v"), "s 1.1")
		time.Sleep(time.Minute)
		if _, err := b.ended(first); err == nil {
			b.Fatal("an attempt that was not heard of is not lost")
		}
		second := b.run(r, assay.Job{ID: rid(1, 2)})
		b.want("claim", b.claim("w"), "s 1.2")
		b.want("beat of the first", b.beat("v", rid(1, 1), 40*time.Second, 0), Go)
		b.want("beat of the second", b.beat("w", rid(1, 2), 5*time.Second, 0), Duplicate)
		second.end(stopped{})
		b.tell("w", rid(1, 2), 50*time.Second, assay.WhyDuplicate)
		time.Sleep(2 * time.Minute)
		m, err := b.ended(second)
		b.want("error", err, stopped{})
		b.want("measured", m.Elapsed, 5*time.Second)
	})
}

// The outcome of a run that was to be stopped is waited for while it is being written, however long that takes: the
// outcome on record is the outcome of the run.
func TestStoppedRunIsBeingWritten(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.hello(Worker{ID: "w"})
		u := b.stopAt(b.join(Study{Name: "s"}), 1, 20*time.Second)
		b.want("claim", b.claim("w"), "s 1.1")
		b.want("beat that is observed", b.beat("w", rid(1, 1), 20*time.Second, 0), Stop)
		time.Sleep(29 * time.Second)
		b.records["s"].slow.Store(int64(10 * time.Second))
		b.tell("w", rid(1, 1), 21*time.Second, string(Stop))
		m, err := b.ended(u)
		b.want("error", err, stopped{})
		b.want("measured", m.Elapsed, 21*time.Second)
		b.want("booked", b.records["s"].booked(), []string{"1.1 stop"})
	})
}

// An attempt at a worker that stood still is tainted: its outcome does not count, whichever way the run ended.
func TestTaintedOutcomeDoesNotCount(t *testing.T) {
	for _, why := range []string{"", assay.WhyLimit, assay.WhyStop} {
		inBubble(t, func(b *bench) {
			b.hello(Worker{ID: "w"})
			u := b.stopAt(b.join(Study{Name: "s"}), 1, 20*time.Second)
			b.want("claim", b.claim("w"), "s 1.1")
			b.want("beat that is observed", b.beat("w", rid(1, 1), 20*time.Second, 0), Stop)
			b.beat("w", rid(1, 1), 21*time.Second, 31*time.Second)
			b.tell("w", rid(1, 1), 22*time.Second, why)
			b.want("booked", b.records["s"].booked(), []string{"1.1 tainted"})
			m, err := b.ended(u)
			b.want("error", err, stopped{})
			b.want("measured", m.Elapsed, 20*time.Second)
		})
	}
}
