package study

import (
	"context"

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
// Nothing is run if there is nothing to compare: no best trial, a first trial
// that did not end well, or one configuration.
func (l *loop) check(ctx context.Context) error {
	best, first := l.best, l.first
	if best == nil || first == nil || first.State != assay.Done || best.Config.Equal(first.Config) {
		return nil
	}
	done := func(id int64) (n int) {
		for _, t := range l.checks {
			if t.ID == id {
				n++
			}
		}
		return n
	}
	for {
		next := best
		if done(first.ID) < done(best.ID) {
			next = first
		}
		if done(next.ID) >= l.Check || l.interrupted(ctx) {
			return nil
		}
		left := l.Budget.Time - l.spent()
		if l.Budget.Time > 0 && left < next.Measurement.Elapsed {
			return nil
		}
		l.running = append(l.running, Running{next.Proposal, l.clock.Now()})
		l.notify(false)
		o := l.trial(ctx, next.Proposal, l.runs.check(l.Name, next.Proposal), max(left, 0), nil)
		l.running = l.running[:0]
		if o.err != nil {
			return o.err
		}
		// Cut off by the end of the budget: half a run compares nothing.
		if o.lost || o.trial.State == assay.Censored {
			return nil
		}
		o.trial.ID = next.ID
		o.trial.Measurement.Stdout, o.trial.Measurement.Stderr = nil, nil
		l.checks = append(l.checks, o.trial)
		l.runs.began(next.Config)
		if err := l.keep(ctx, assay.Event{Checked: &o.trial}); err != nil {
			return err
		}
		l.notify(false)
	}
}

// interrupted reports whether the user asked the study to end, and sets endedBy for
// Drain; Run sets it for ctx.
func (l *loop) interrupted(ctx context.Context) bool {
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
