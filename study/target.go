package study

import (
	"context"
	"fmt"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// place has further runs begin on the target class alone, or anywhere.
func (r *racer) place(onTarget bool) {
	p, ok := r.Runner.(Placer)
	if !ok || !r.Anywhere {
		return
	}
	class := ""
	if onTarget {
		class = r.final.targetClass()
	}
	p.Place(class)
}

// settleOnTarget runs five of the leading configurations again on the target class, if runs were made on machines of
// any class: the best of all may not be the best on the target class. The runs are made one at a time, as in the
// race. Runs on record from an earlier session count.
func (r *racer) settleOnTarget(ctx context.Context) error {
	if !r.Anywhere || !r.racing() {
		return nil
	}
	r.place(true)
	for !r.limits.interrupted(ctx) {
		next, more := r.final.finalist()
		if !more {
			return nil
		}
		left := r.limits.budget().Time - r.record.spent()
		if r.limits.budget().Time > 0 && left < next.Measurement.Elapsed {
			r.short = fmt.Sprintf("of the time budget %s was left, less than a run on the class %s takes",
				report.Duration(max(left, 0)), r.final.targetClass())
			return nil
		}
		o := r.runs.again(ctx, next, max(left, 0), nil)
		if err := r.runs.settleAgain(ctx, o); err != nil {
			return err
		}
		if o.lost || o.trial.State == assay.Censored {
			return nil
		}
	}
	return nil
}
