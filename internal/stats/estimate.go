package stats

import (
	"fmt"
	"math"
)

// defaultLevel is the confidence level where an option is left zero.
const defaultLevel = 0.95

// An Estimate is a statistic of a sample with its confidence interval.
//
// If the sample is too small for the level, the interval is infinite on the side that is not bounded and a warning
// names the required sample. Value is NaN for an empty sample.
type Estimate struct {
	Value     float64 // the statistic
	Low, High float64 // the interval; ±Inf where nothing is known
	Level     float64 // its confidence level: at least the requested one if the interval is exact
	N         int     // size of the sample
	Warnings  []error // reasons for caution
}

// Contains reports whether x is in the interval, ends included.
func (e Estimate) Contains(x float64) bool { return e.Low <= x && x <= e.High }

// warn adds a warning.
func (e *Estimate) warn(format string, args ...any) {
	e.Warnings = append(e.Warnings, fmt.Errorf(""+format, args...))
}

// unbounded returns the estimate of value with nothing known about it.
func unbounded(value, level float64, n int) Estimate {
	return Estimate{Value: value, Low: math.Inf(-1), High: math.Inf(1), Level: level, N: n}
}

// levelOr returns level, or the default if it is 0. It panics outside [0, 1).
func levelOr(level float64) float64 {
	if level < 0 || level >= 1 || math.IsNaN(level) {
		panic(fmt.Sprintf("stats: confidence level %v", level))
	}
	if level == 0 {
		return defaultLevel
	}
	return level
}

// hasNaN reports whether x has a NaN.
func hasNaN(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) {
			return true
		}
	}
	return false
}
