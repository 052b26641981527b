package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Mean returns the arithmetic mean, NaN if x is empty. The mean of heavy-tailed
// noise does not converge (Tabatabaee et al. 2005, §5.1): see [DiagnoseTail].
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return sum(x) / float64(len(x))
}

// Variance returns the unbiased variance Σ(x-mean)²/(n-1) by two passes; NaN
// for fewer than two values.
func Variance(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	return sumSquares(x, Mean(x)) / float64(len(x)-1)
}

// StdDev returns the square root of [Variance].
func StdDev(x []float64) float64 { return math.Sqrt(Variance(x)) }

// MeanInterval returns the mean with Student's interval
//
//	mean ± t_{n-1}((1+level)/2)·s/√n,
//
// which is exact for normal data and fair for light tails and large n. A level of 0 means 0.95. For fewer than two
// values the interval is infinite, with a warning.
func MeanInterval(x []float64, level float64) Estimate {
	level = levelOr(level)
	e := unbounded(Mean(x), level, len(x))
	if len(x) < 2 {
		e.warn("need >= 2 runs for an interval of the mean, have %d", len(x))
		return e
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(x) - 1)}.Quantile((1 + level) / 2)
	half := t * StdDev(x) / math.Sqrt(float64(len(x)))
	if math.IsNaN(half) || math.IsInf(e.Value, 0) {
		e.warn("a value is not finite: the mean has no interval")
		return e
	}
	e.Low, e.High = e.Value-half, e.Value+half
	return e
}

// sum adds with Neumaier's compensation, so that the error does not grow with
// the number of terms.
func sum(x []float64) float64 {
	var s, c float64
	for _, v := range x {
		t := s + v
		if math.Abs(s) >= math.Abs(v) {
			c += (s - t) + v
		} else {
			c += (v - t) + s
		}
		s = t
	}
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return s // c is Inf-Inf
	}
	return s + c
}

// sumSquares returns Σ(x-m)².
func sumSquares(x []float64, m float64) float64 {
	var s float64
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return s
}
