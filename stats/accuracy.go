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

// RMSE returns the root of the mean squared error √(1/n·Σ(actual-predicted)²), in
// the unit of the values. It is NaN for no values, and panics if the lengths
// differ.
func RMSE(actual, predicted []float64) float64 {
	if len(actual) != len(predicted) {
		panic("stats: slice length mismatch")
	}
	squares := make([]float64, len(actual))
	for i := range squares {
		d := actual[i] - predicted[i]
		squares[i] = d * d
	}
	return math.Sqrt(Mean(squares))
}

// RSquared returns the coefficient of determination
//
//	1 - Σ(actual-predicted)²/Σ(actual-mean)²,
//
// 1 for exact predictions, 0 for those of the mean, negative for worse ones. It
// is NaN if all actual values are equal or there are none, and panics if the lengths
// differ.
func RSquared(actual, predicted []float64) float64 {
	if len(actual) != len(predicted) {
		panic("stats: slice length mismatch")
	}
	if len(actual) == 0 || constant(actual) {
		return math.NaN()
	}
	rmse := RMSE(actual, predicted)
	return 1 - rmse*rmse*float64(len(actual))/sumSquares(actual, Mean(actual))
}
