package study

import (
	"context"
	"fmt"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// check runs the best and the first configuration again, alternately, until each has been repeated Check times or the
// time budget is spent, so that the gain is stated from runs that the choice of the best did not depend on. The best
// of many trials is partly the luckiest: its own value promises too much.
//
// The runs are made one at a time, with any Parallel, so that neither configuration alone has an idle machine.
// They alternate, so that a machine that changes slowly changes for both; for a Sequential study see nextOfPair. No
// stopper ends them. Runs on record count: a resumed session makes the rest.
//
// If the best fails in a repeated run, or breaks a limit, the next best one replaces it and is run again. From then
// on only a configuration that passed a repeated run is recommended: see holds.
//
// No run is made if nothing can be compared: no best trial, a first trial that did not end well or failed in a
// repeated run, or only one configuration.
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
			r.short = fmt.Sprintf("of the time budget %s was left, less than a run takes", report.Duration(max(left, 0)))
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
