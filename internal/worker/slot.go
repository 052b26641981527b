package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// slot takes tickets, one at a time, and runs them until the worker takes nothing more.
func (w *worker) slot(n int) {
	for wait := newBackoff(); w.take.Err() == nil && w.waitAside(); {
		d, err := w.next()
		if err != nil {
			if w.take.Err() == nil && w.isAside() == nil && !wait.sleep(w.take) {
				return
			}
			continue
		}
		if w.ticket(d, n) {
			wait = newBackoff()
		} else if !wait.sleep(w.take) {
			return
		}
	}
}

// ticket turns a delivery into a run and runs it. It returns false if the server did not answer, so
// that the ticket will be delivered again.
func (w *worker) ticket(d queue.Delivery, slot int) bool {
	var c queue.Claim
	greeted := false
	for wait := newBackoff(); ; {
		_, err := w.call(func(ctx context.Context) (err error) {
			c, err = w.Control.Claim(ctx, d.Ticket(), w.ID)
			return err
		})
		if err == nil {
			break
		}
		if assay.ClassOf(err) != assay.ClassUnavailable {
			// A restarted server does not know its workers; a draining worker is refused too.
			if _, err := w.call(w.obey); err == nil && !greeted && w.take.Err() == nil &&
				w.isAside() == nil {
				greeted = true
				continue
			}
			if w.take.Err() != nil || w.isAside() != nil {
				return false
			}
			w.out.f("a ticket for %s was refused: %v", d.Ticket().App, err)
			return false
		}
		if !wait.sleep(w.take) || !w.keeps(d) {
			return false
		}
	}
	if c.Verdict != queue.Go || !w.claim(c.Task.ID) {
		w.done(d)
		return true
	}
	defer w.release(c.Task.ID)
	w.attempt(d, c, slot)
	w.done(d)
	return true
}

// keeps renews a delivery whose claim was not answered. It returns false if the delivery may belong to another worker.
func (w *worker) keeps(d queue.Delivery) bool {
	ctx, cancel := context.WithTimeout(w.take, callLimit)
	defer cancel()
	return d.Renew(ctx) == nil
}

// done gives a used ticket back. If that fails, the ticket is delivered again, and dropped then.
func (w *worker) done(d queue.Delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.kill), callLimit)
	defer cancel()
	_ = d.Done(ctx)
}

// tell sends an outcome of the spool until the server has it, and drops it then. It gives up when the worker ends while
// the server is away: the outcome stays in the spool.
func (w *worker) tell(o queue.Outcome) {
	give, cancel := context.WithCancel(context.WithoutCancel(w.kill))
	defer cancel()
	stop := context.AfterFunc(w.take, func() {
		t := time.NewTimer(lastWords)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-give.Done():
		}
	})
	defer stop()
	for wait := newBackoff(); ; {
		_, err := w.call(func(ctx context.Context) error { return w.Control.Tell(ctx, o) })
		switch class := assay.ClassOf(err); {
		case err == nil:
			w.kept.told(o)
			if err := w.spool.drop(o.ID); err != nil {
				w.out.of(o.ID, "%v", err) // sent again at the next start, which is harmless
			}
			return
		case class == assay.ClassUsage || class == assay.ClassNotFound:
			w.out.of(o.ID, "the server does not want the outcome: %v", err)
			w.kept.refused(o.ID)
			if err := w.spool.refuse(o.ID); err != nil {
				w.out.of(o.ID, "%v", err)
			}
			return
		}
		if !wait.sleep(give) {
			return
		}
	}
}

// label returns the name of an attempt for messages, such as "x264/17.1": trial 17, attempt 1.
func label(id assay.RunID) string {
	trial := fmt.Sprintf("%s/%d", id.Study, id.Trial)
	if id.Repeat > 0 {
		trial += fmt.Sprintf("+%d", id.Repeat)
	}
	return fmt.Sprintf("%s.%d", trial, id.Attempt)
}
