package study

import (
	"time"

	"github.com/assay-run/assay"
)

// Saved estimates the time that early stopping saved. A stopped run that a
// model predicted to take longer saved the rest of its prediction; any other is
// taken to have gone on as long, on average, as those runs to the end that
// lasted longer than it had. Where there is neither, nothing is counted, so the
// estimate errs on the low side.
func Saved(trials []assay.Trial, goal assay.Goal) time.Duration {
	var saved time.Duration
	for _, t := range trials {
		if t.State != assay.Censored || t.Decision == nil {
			continue
		}
		at := t.Measurement.Elapsed
		if p := t.Decision.Predicted; goal.Metric == "elapsed" && p > t.Value {
			saved += time.Duration((p - t.Value) * float64(time.Second))
			continue
		}
		var rest time.Duration
		n := 0
		for _, d := range trials {
			if (d.State == assay.Done || d.State == assay.Infeasible) && d.Measurement.Elapsed > at {
				rest += d.Measurement.Elapsed - at
				n++
			}
		}
		if n > 0 {
			saved += rest / time.Duration(n)
		}
	}
	return saved
}
