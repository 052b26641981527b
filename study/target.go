package study

import (
	"context"
	"fmt"
	"time"

	"github.com/assay-run/assay"
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

// settleOnTarget runs five of the leading configurations again on the target class, if runs were made on
// machines of any class: what is the best of all may not be on those that the answer is for. The runs are made one
// at a time, as those of the race. What is on record of an earlier session counts.
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
			r.short = fmt.Sprintf("of the time budget %v was left, less than a run on the class %s takes",
				max(left, 0).Round(time.Millisecond), r.final.targetClass())
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
