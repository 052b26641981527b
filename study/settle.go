package study

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// settle takes the outcome of a run, and those of others that have ended meanwhile: the more trials run
// side by side, the more share one append and one Ask for what takes their place.
func (l *loop) settle(ctx context.Context, o outcome) error {
	var over []assay.Trial
	for more := true; more; o, more = l.alsoEnded() {
		i := slices.IndexFunc(l.running, func(r Running) bool { return r.ID == o.trial.ID })
		l.running = slices.Delete(l.running, i, i+1)
		if detached(ctx) || o.again || o.lost || o.err != nil {
			err := l.tell(ctx, over)
			if other := l.settleOther(ctx, o); !errors.Is(err, other) {
				err = errors.Join(err, other)
			}
			return err
		}
		delete(l.cancels, o.trial.ID)
		if w, ok := l.leaving[o.trial.ID]; ok {
			delete(l.leaving, o.trial.ID)
			w.ended(errWithdrawn) // it was quicker
		}
		over = append(over, o.trial)
	}
	return l.tell(ctx, over)
}

// alsoEnded returns an outcome that is there already, if there is one. In simulated time it depends on the
// machine which are, and there is none.
func (l *loop) alsoEnded() (o outcome, ok bool) {
	if l.actors != nil {
		return o, false
	}
	select {
	case o = <-l.ended:
		return o, true
	default:
		return o, false
	}
}

// settleOther takes the outcome of a run of which the searcher hears nothing.
func (l *loop) settleOther(ctx context.Context, o outcome) error {
	if detached(ctx) {
		return nil // what it comes to is for the next session to see
	}
	if o.again {
		return l.settleAgain(ctx, o)
	}
	delete(l.cancels, o.trial.ID)
	w, ok := l.leaving[o.trial.ID]
	delete(l.leaving, o.trial.ID)
	switch {
	case ok && o.lost:
		err := l.takeBack(ctx, withdrawal{o.trial.Proposal, w.Withdrawal})
		w.ended(err)
		return err
	case ok:
		w.ended(errWithdrawn)
	}
	return o.err
}

// tell records trials that have ended and tells the searcher. What cannot be recorded is in the Result all
// the same, but the searcher does not hear of it: it must not know more than the record. All are in the
// history before the searcher hears of the first, as they are when the record is read.
func (l *loop) tell(ctx context.Context, over []assay.Trial) error {
	if len(over) == 0 {
		return nil
	}
	t0 := time.Now()
	defer func() { l.overhead += time.Since(t0) }()
	events := make([]assay.Event, len(over))
	for i := range over {
		l.keepOutput(&over[i])
		events[i].Told = &over[i]
	}
	err := l.keepEach(ctx, events)
	for i := range over {
		l.judge.remember(over[i])
		l.judge.choose()
		if l.endedBy == "" && l.judge.hopeless() {
			l.endedBy = "failures"
		}
		l.notify(false)
	}
	if err != nil {
		return err
	}
	for _, t := range over {
		if err := l.Searcher.Tell(t); err != nil {
			return err
		}
	}
	return l.lookForDrift(ctx)
}

// keepEach is keep of events that stand for themselves: one that cannot be stored takes no other with it.
func (l *loop) keepEach(ctx context.Context, events []assay.Event) error {
	err := l.keep(ctx, events...)
	if len(events) == 1 || assay.ClassOf(err) != assay.ClassUsage || l.journal.Err() != nil {
		return err
	}
	var errs []error
	for i := range events {
		errs = append(errs, l.journal.keep(ctx, context.WithoutCancel(ctx), events[i:i+1]))
	}
	return cmp.Or(errors.Join(errs...), err)
}

// detached reports whether the session lets go of its runs.
func detached(ctx context.Context) bool { return errors.Is(context.Cause(ctx), assay.ErrDetached) }

// keepOutput hands out the output of a run and forgets it, so that a long study
// does not hold every output in memory.
func (l *loop) keepOutput(t *assay.Trial) {
	if l.Output != nil {
		l.Output(*t)
	}
	t.Measurement.Stdout, t.Measurement.Stderr = nil, nil
}
