package study

import (
	"context"
	"fmt"

	"github.com/assay-run/assay"
)

// check runs the best and the first configuration again, alternately, until
// each has been repeated Check times or the time budget is spent, so that the
// gain is stated from runs that the choice of the best did not depend on. The best
// of many trials is partly the luckiest: its own value promises too much.
//
// The runs are made one at a time, whatever Parallel is, so that neither configuration has the machine to itself when
// the other has not. They alternate, so that a machine that changes slowly changes for both; of a Sequential study see
// nextOfPair. No stopper ends them. Those on record count: a session that goes on makes the rest.
//
// A best that fails when it is run again, or breaks a limit, gives its place to the next
// best one, which is run again in its stead. One that was not yet run again without such
// an end is not recommended then: see holds.
//
// Nothing is run if there is nothing to compare: no best trial, a first trial
// that did not end well or failed when it was run again, or one configuration.
func (r *racer) check(ctx context.Context) error {
	if r.Goal.Several() {
		return nil // a front has no best to compare
	}
	for {
		best, first := r.duel.best(), r.duel.first()
		if best == nil {
			return nil
		}
		next := best
		alone := first == nil || first.State != assay.Done || best.Config.Equal(first.Config) || r.duel.broke(*first)
		switch {
		case alone && r.duel.holds(*best): // there is nothing to compare
			return nil
		case alone:
		case r.Sequential:
			if next = r.nextOfPair(best, first); next == nil {
				return nil
			}
		case r.duel.checked(first.ID) < r.duel.checked(best.ID):
			next = first
		}
		if r.duel.checked(next.ID) >= r.Check || r.limits.interrupted(ctx) {
			return nil
		}
		left := r.limits.budget().Time - r.record.spent()
		if r.limits.budget().Time > 0 && left < next.Measurement.Elapsed {
			r.short = fmt.Sprintf("of the time budget %s was left, less than a run takes", said(max(left, 0)))
			return nil
		}
		if r.limits.exhausted() {
			r.short = fmt.Sprintf("the budget of %g hours of processors was spent", r.limits.budget().CPUHours)
			return nil
		}
		o := r.runs.again(ctx, *next, max(left, 0), nil)
		if o.err != nil {
			return o.err
		}
		// Cut off by the end of the budget: half a run compares nothing.
		if o.lost || o.trial.State == assay.Censored {
			r.short = o.trial.Reason
			return nil
		}
		if err := r.runs.compared(ctx, o.trial); err != nil {
			return err
		}
	}
}
