package stats

import (
	"math"
	"slices"
)

// Min returns the least value, NaN if x is empty or has a NaN. It is the
// estimator of choice for heavy-tailed noise (Tabatabaee et al. 2005, Eq. 13):
// the minimum of K Pareto(α) values is Pareto(K·α).
func Min(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return slices.Min(x)
}

// Max returns the greatest value, NaN if x is empty or has a NaN.
func Max(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return slices.Max(x)
}

// Median returns the middle value, or the mean of the two middle values; NaN if
// x is empty or has a NaN. Cost: n log n.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// Quantile returns the p-quantile of x, 0 <= p <= 1, by linear interpolation
// between the order statistics at (n-1)·p: type 7 of Hyndman & Fan 1996, the
// default of R and NumPy. It is NaN if x is empty or has a NaN, and panics if p
// is out of range. Between a finite value and +Inf it is +Inf. Cost: n log n.
func Quantile(x []float64, p float64) float64 {
	if p < 0 || p > 1 || math.IsNaN(p) {
		panic("stats: quantile out of [0, 1]")
	}
	if len(x) == 0 || hasNaN(x) {
		return math.NaN()
	}
	return sortedQuantile(slices.Sorted(slices.Values(x)), p)
}

// sortedQuantile is Quantile of a sorted, non-empty sample without NaN.
func sortedQuantile(s []float64, p float64) float64 {
	at := float64(len(s)-1) * p
	i := int(at)
	frac := at - float64(i)
	if frac == 0 || s[i] == s[i+1] {
		return s[i]
	}
	return s[i]*(1-frac) + s[i+1]*frac
}

// MedianInterval returns the median with the exact, distribution-free interval between two order statistics (Conover
// 1999, §3.2; Le Boudec 2010, Theorem 2.1): with B binomial (n, 1/2) and k the greatest number with
//
//	P(B < k) <= (1-level)/2,
//
// it is [x_(k), x_(n+1-k)], counted from 1. Level is the attained confidence 1 - 2·P(B < k), which is at least the
// requested one (0 means 0.95), exactly for continuous data and more with ties. No such k exists for n < 6 at 0.95:
// then the interval is infinite and a warning names the required number of runs. Cost: n log n.
func MedianInterval(x []float64, level float64) Estimate {
	level = levelOr(level)
	n := len(x)
	e := unbounded(Median(x), level, n)
	if n == 0 || math.IsNaN(e.Value) {
		e.warn("no median of %d values", n)
		return e
	}
	k, tail := signTestRank(n, (1-level)/2)
	if k == 0 {
		e.warn("need >= %d runs for a %g %% interval of the median, have %d", minRunsForMedian(level), 100*level, n)
		return e
	}
	s := slices.Sorted(slices.Values(x))
	e.Low, e.High, e.Level = s[k-1], s[n-k], 1-2*tail
	return e
}

// signTestRank returns the greatest k with P(B < k) <= alpha for B binomial (n, 1/2), and that probability; 0 and 0 if
// no k > 0 satisfies it.
func signTestRank(n int, alpha float64) (k int, tail float64) {
	logP := -float64(n) * math.Ln2 // log P(B = k)
	for k <= n/2 {
		next := tail + math.Exp(logP)
		if next > alpha*(1+1e-12) {
			break
		}
		// Invariant: tail = P(B < k) <= alpha.
		tail = next
		logP += math.Log(float64(n-k)) - math.Log(float64(k+1))
		k++
	}
	return k, tail
}

// minRunsForMedian returns the least n with 2^-n <= (1-level)/2.
func minRunsForMedian(level float64) int {
	return int(math.Ceil(1 - math.Log2(1-level) - 1e-9))
}
