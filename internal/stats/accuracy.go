package stats

import "math"

// RelativeError returns |found - optimum|/|optimum|, the error of the best
// configuration found (Ding et al. 2022, Eq. 6) and of a predicted makespan with the
// real one as the optimum (Pietri et al. 2014, Eq. 6). It is a fraction, not a
// percentage. With an optimum of 0 it is 0 if found is 0 and +Inf otherwise. A search
// that found nothing (+Inf) has an infinite error.
func RelativeError(found, optimum float64) float64 {
	if found == optimum {
		return 0
	}
	return math.Abs(found-optimum) / math.Abs(optimum)
}

// MAPE returns the mean absolute percentage error of predictions (Shivam et
// al. 2006, §3.6), in percent:
//
//	100/n·Σ |actual_i - predicted_i|/|actual_i|.
//
// An exact prediction of 0 counts as 0, any other prediction of an actual 0 makes the mean
// +Inf. It is NaN for no values, and panics if the lengths differ.
func MAPE(actual, predicted []float64) float64 {
	if len(actual) != len(predicted) {
		panic("stats: slice length mismatch")
	}
	errs := make([]float64, len(actual))
	for i := range errs {
		errs[i] = RelativeError(predicted[i], actual[i])
	}
	return 100 * Mean(errs)
}
