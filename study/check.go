package study

import (
	"context"
	"fmt"
	"time"

	"github.com/assay-run/assay"
)

// check runs the best and the first configuration again, alternately, until
// each has been repeated Check times or the time budget is spent, so that the
// gain is stated from runs that the choice of the best did not depend on. The best
// of many trials is partly the luckiest: its own value promises too much.
//
// The runs are made one at a time, whatever Parallel is, so that neither
// configuration has the machine to itself when the other has not. They alternate, so
// that a machine that changes slowly changes for both. No stopper ends them. Those
// on record count: a session that goes on makes the rest.
//
// A best that fails when it is run again, or breaks a limit, gives its place to the next
// best one, which is run again in its stead. One that was not yet run again without such
// an end is not recommended then: see holds.
//
// Nothing is run if there is nothing to compare: no best trial, a first trial
// that did not end well or failed when it was run again, or one configuration.
func (l *loop) check(ctx context.Context) error {
	if l.Goal.Several() {
		return nil // a front has no best to compare
	}
	for {
		best, first := l.judge.best(), l.judge.first()
		if best == nil {
			return nil
		}
		next := best
		switch alone := first == nil || first.State != assay.Done || best.Config.Equal(first.Config) || l.judge.broke(*first); {
		case alone && l.judge.holds(*best): // there is nothing to compare
			return nil
		case alone:
		case l.judge.checked(first.ID) < l.judge.checked(best.ID):
			next = first
		}
		if l.judge.checked(next.ID) >= l.Check || l.interrupted(ctx) {
			return nil
		}
		left := l.Budget.Time - l.spent()
		if l.Budget.Time > 0 && left < next.Measurement.Elapsed {
			l.short = fmt.Sprintf("of the time budget %v was left, less than a run takes",
				max(left, 0).Round(time.Millisecond))
			return nil
		}
		if l.exhausted() {
			l.short = fmt.Sprintf("the budget of %g hours of processors was spent", l.Budget.CPUHours)
			return nil
		}
		o := l.again(ctx, *next, max(left, 0), nil)
		if o.err != nil {
			return o.err
		}
		// Cut off by the end of the budget: half a run compares nothing.
		if o.lost || o.trial.State == assay.Censored {
			l.short = o.trial.Reason
			return nil
		}
		o.trial.Measurement.Stdout, o.trial.Measurement.Stderr = nil, nil
		l.judge.recheck(o.trial, false)
		l.runs.began(next.Config)
		if err := l.keep(ctx, assay.Event{Checked: &o.trial}); err != nil {
			return err
		}
		l.judge.choose()
		l.notify(false)
	}
}

// interrupted reports whether the user asked the study to end, or the search to go on, and sets
// endedBy for Drain; Run sets it for ctx. It returns when no pause holds the study.
func (l *loop) interrupted(ctx context.Context) bool {
	for l.paused && !l.reopened && l.failed() == nil {
		select {
		case <-ctx.Done():
			return true
		case <-l.Drain:
			l.endedBy = "interrupt"
			return true
		case <-l.journal.broken:
		case c := <-l.commands():
			l.carryOut(ctx, c)
		}
	}
	if l.reopened || l.failed() != nil {
		return true
	}
	select {
	case <-ctx.Done():
		return true
	case <-l.Drain:
		l.endedBy = "interrupt"
		return true
	default:
		return false
	}
}
