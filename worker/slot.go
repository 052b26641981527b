package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/queue"
)

// slot takes tickets, one at a time, and runs what they turn into, until nothing more is to be
// taken.
func (w *worker) slot(n int) {
	for wait := newBackoff(); w.take.Err() == nil && w.waitAside(); {
		d, err := w.Carrier.Take(w.take, w.self.Apps, w.self.Class)
		if err != nil {
			if w.take.Err() == nil && !wait.sleep(w.take) {
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
			// A server that was started again does not know its workers; one that drains this one says so.
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

// keeps keeps a delivery whose claim was not answered; false if it may be somebody else's by now.
func (w *worker) keeps(d queue.Delivery) bool {
	ctx, cancel := context.WithTimeout(w.take, callLimit)
	defer cancel()
	return d.Renew(ctx) == nil
}

// done gives a ticket back that was used. One that cannot be given back comes again, and is
// dropped then.
func (w *worker) done(d queue.Delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.kill), callLimit)
	defer cancel()
	_ = d.Done(ctx)
}

// tell tells an outcome that is in the spool, until the server has it: then it is dropped. It
// returns when the worker ends and the server is away too: the outcome stays in the spool.
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
				w.out.f("%s: %v", label(o.ID), err) // told again at the next start, which changes nothing
			}
			return
		case class == assay.ClassUsage || class == assay.ClassNotFound:
			w.out.f("%s: the server does not want the outcome: %v", label(o.ID), err)
			w.kept.refused(o.ID)
			if err := w.spool.refuse(o.ID); err != nil {
				w.out.f("%s: %v", label(o.ID), err)
			}
			return
		}
		if !wait.sleep(give) {
			return
		}
	}
}

// label names an attempt for people, such as "x264/17.1": trial 17, attempt 1.
func label(id assay.RunID) string {
	trial := fmt.Sprintf("%s/%d", id.Study, id.Trial)
	if id.Repeat > 0 {
		trial += fmt.Sprintf("+%d", id.Repeat)
	}
	return fmt.Sprintf("%s.%d", trial, id.Attempt)
}
