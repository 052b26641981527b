package study

import (
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// Saved estimates the time that early stopping saved, from measurements alone: no prediction of a rule counts, so a
// wrong model has saved nothing.
//
// A stopped run counts if it could not have been the answer: its value at the stop had reached the value of the best
// trial of all. Runs that were stopped sooner, by a prediction, count nothing, for any results of the others.
//
// The full time of a stopped run is estimated as the median of the complete runs (done or infeasible) that lasted
// longer, the lower one of an even number. The run saved the difference. If no run lasted longer, it saved nothing.
func Saved(trials []assay.Trial) time.Duration {
	best, ok := assay.Best(trials)
	if !ok {
		return 0
	}
	var ends []time.Duration
	for _, t := range trials {
		if t.State == assay.Done || t.State == assay.Infeasible {
			ends = append(ends, t.Measurement.Elapsed)
		}
	}
	slices.Sort(ends)
	var saved time.Duration
	for _, t := range trials {
		if !t.Stopped() || t.Value < best.Value {
			continue
		}
		at := t.Measurement.Elapsed
		i, _ := slices.BinarySearch(ends, at+1)
		if longer := ends[i:]; len(longer) > 0 {
			saved += longer[(len(longer)-1)/2] - at
		}
	}
	return saved
}

// Unproven returns how many trials in a row, up to the last one, were stopped on a prediction alone: before they had
// reached the value of the best trial at their time. None of them shows whether the prediction was right, so a long
// row is a reason to doubt the rule. A run that finishes, or is stopped at the best value or later, ends the row.
// Failed and withdrawn runs neither end it nor count. Before the first trial that is done there is no best value, and
// the row is empty.
func Unproven(trials []assay.Trial) int {
	best, n := math.Inf(1), 0
	for _, t := range trials {
		switch {
		case t.Stopped() && t.Value < best && !math.IsInf(best, 1):
			n++
		case t.State != assay.Failed && t.State != assay.Withdrawn:
			n = 0
		}
		if t.State == assay.Done {
			best = min(best, t.Value)
		}
	}
	return n
}
