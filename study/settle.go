package study

import (
	"context"
	"errors"
	"time"

	"github.com/assay-run/assay"
)

// settle takes the outcome of a run, and of others that have ended meanwhile: the more trials run side by side, the
// more share one append and one Ask for their successors.
func (l *loop) settle(ctx context.Context, o outcome) error {
	var over []assay.Trial
	for more := true; more; o, more = l.run.alsoEnded() {
		l.run.dropOne(o.trial.ID)
		if detached(ctx) || o.again || o.lost || o.err != nil {
			err := l.tell(ctx, over)
			if other := l.settleOther(ctx, o); !errors.Is(err, other) {
				err = errors.Join(err, other)
			}
			return err
		}
		if w, ok := l.run.left(o.trial.ID); ok {
			w.ended(errWithdrawn) // it was quicker
		}
		over = append(over, o.trial)
	}
	return l.tell(ctx, over)
}

// settleOther takes the outcome of a run that the searcher does not get.
func (l *loop) settleOther(ctx context.Context, o outcome) error {
	if detached(ctx) {
		return nil // the next session takes its result
	}
	if o.again {
		return l.settleAgain(ctx, o)
	}
	w, ok := l.run.left(o.trial.ID)
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

// settleAgain records a repeated run. A run that the end of the budget cut off is dropped: it has less information
// than the existing runs.
func (l *loop) settleAgain(ctx context.Context, o outcome) error {
	redoes := l.race.redoes(o.trial.ID)
	if o.lost || o.err != nil || o.trial.State == assay.Censored && !o.trial.Stopped() {
		if redoes && o.err == nil && ctx.Err() == nil {
			l.race.redone(o.trial.ID) // there was no time for it
		}
		return o.err
	}
	l.repeated(&o.trial, true)
	l.judge.choose()
	redone := redoes && l.race.redone(o.trial.ID)
	err := l.record.keep(ctx, assay.Event{Checked: &o.trial, Race: true, Redone: redone})
	l.notify(false)
	if err == nil && redone {
		err = l.ask.tellRedone(o.trial)
	}
	if err != nil {
		return err
	}
	return l.lookForDrift(ctx)
}

// compared records a run that compares the best with the first.
func (l *loop) compared(ctx context.Context, t assay.Trial) error {
	l.repeated(&t, false)
	if err := l.record.keep(ctx, assay.Event{Checked: &t}); err != nil {
		return err
	}
	l.judge.choose()
	l.notify(false)
	return nil
}

// repeated takes in a run that was made again, without its output.
func (l *loop) repeated(t *assay.Trial, race bool) {
	t.Measurement.Stdout, t.Measurement.Stderr = nil, nil
	l.judge.recheck(*t, race)
	l.run.counted(t.Config)
}

// repeats reports whether a configuration runs again.
func (l *loop) repeats(c assay.Config) bool { return l.run.repeats(c) }

// again runs a trial once more, outside the search, and returns its outcome. stopper may be
// nil, and no rule ends it then.
func (l *loop) again(ctx context.Context, t assay.Trial, left time.Duration, stopper assay.Stopper) outcome {
	l.begin(ctx, launch{Proposal: t.Proposal, again: true, id: l.run.repeated(t.Proposal), left: left, stopper: stopper})
	for {
		o, what := l.wait(ctx)
		switch what {
		case ended:
		case drained:
			l.control.end("interrupt")
			continue
		case roomy:
			continue
		}
		l.run.clear()
		o.trial.ID = t.ID
		if detached(ctx) {
			o.lost = true
		}
		return o
	}
}

// tell records trials that have ended and passes them to the searcher. A trial that cannot be recorded is in the
// Result all the same, but the searcher does not get it: it must not know more than the record. All are in the
// history before the searcher gets the first, as when the record is read.
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
	err := l.record.keepEach(ctx, events)
	for i := range over {
		l.judge.remember(over[i])
		l.judge.choose()
		if l.control.endedBy() == "" && l.judge.hopeless() {
			l.control.end("failures")
		}
		l.notify(false)
	}
	if err != nil {
		return err
	}
	if err := l.ask.tell(over...); err != nil {
		return err
	}
	return l.lookForDrift(ctx)
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
