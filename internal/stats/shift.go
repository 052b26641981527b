package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// CompareShift compares two independent samples by one number: the shift of the values of b against the values of a. If
// all values are positive, Change is exp(d) - 1, d the median of log b[j] - log a[i] over all pairs, so that the
// assumption is that b is distributed as a constant times a; otherwise it is the median of b[j] - a[i], divided by
// |centre of a|.
//
// Its interval is the one that belongs to [MannWhitney] (Moses; Hollander & Wolfe 1999, §4.2-4.3): exact for every
// continuous distribution and free of resampling. Without ties it excludes 0 exactly when P is at most 1-Level. Change
// is close to, but not, the relative difference of the medians in A and B. Above 50 values in all the interval is from
// the normal approximation.
//
// opts.Mean chooses the centres A and B only. NaN panics. Cost: n log n in addition to the cost of MannWhitney.
func CompareShift(a, b []float64, opts CompareOptions) Comparison {
	if hasNaN(a) || hasNaN(b) {
		panic("stats: comparison of NaN")
	}
	c := opts.unknown(a, b)
	c.P = MannWhitney(a, b).P
	x, y, back := comparisonScale(a, b, c.A.Value)
	switch {
	case len(a) == 0 || len(b) == 0:
		c.warn("no difference of %d and %d runs", len(a), len(b))
		return c
	case slices.ContainsFunc(x, isInf) || slices.ContainsFunc(y, isInf):
		c.warn("a value is not finite: ranks can be compared, not sizes")
		c.decide()
		return c
	}
	slices.Sort(x)
	slices.Sort(y)
	pairs := len(x) * len(y)
	c.Change = back(kthDifference(x, y, (pairs+1)/2)/2 + kthDifference(x, y, pairs/2+1)/2)
	if k := splitRank(len(x), len(y), (1-c.Level)/2); k == 0 {
		c.warn("%d and %d runs cannot show a difference at %g %%", len(a), len(b), 100*c.Level)
		c.Low, c.High = back(math.Inf(-1)), back(math.Inf(1))
	} else {
		c.Low, c.High = back(kthDifference(x, y, k)), back(kthDifference(x, y, pairs+1-k))
	}
	c.checkChange()
	c.decide()
	return c
}

// comparisonScale returns copies of the samples on the scale on which a shift is
// looked for, logarithms if all values are positive, and the map from a shift
// to a change relative to center.
func comparisonScale(a, b []float64, center float64) (x, y []float64, back func(shift float64) float64) {
	x, y = slices.Clone(a), slices.Clone(b)
	for _, s := range [][]float64{a, b} {
		for _, v := range s {
			if v <= 0 {
				return x, y, func(shift float64) float64 { return shift / math.Abs(center) }
			}
		}
	}
	for i := range x {
		x[i] = math.Log(x[i])
	}
	for i := range y {
		y[i] = math.Log(y[i])
	}
	return x, y, math.Expm1
}

func isInf(x float64) bool { return math.IsInf(x, 0) }

// kthDifference returns the k-th smallest y[j] - x[i] of two sorted samples, k
// from 1, by at most 64 counts as in walshAverage.
func kthDifference(x, y []float64, k int) float64 {
	low, high := orderedBits(y[0]-x[len(x)-1]), orderedBits(y[len(y)-1]-x[0])
	for low < high {
		// Invariant: the k-th smallest difference is in [low, high].
		mid := low + (high-low)/2
		if countDifferences(x, y, fromOrderedBits(mid)) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return fromOrderedBits(low)
}

// countDifferences returns the number of pairs with y[j] - x[i] <= d.
func countDifferences(x, y []float64, d float64) int {
	count, j := 0, 0
	for i := range x {
		for j < len(y) && y[j]-x[i] <= d {
			j++
		}
		// Invariant: y[:j] are the values that differ from x[i] by at most d.
		count += j
	}
	return count
}

// splitRank returns the greatest k with P(U < k) <= alpha for the statistic U of [MannWhitney] without ties; 0 if no k
// > 0 satisfies it.
func splitRank(na, nb int, alpha float64) int {
	if na+nb > maxExactRanks {
		m, n := float64(na), float64(nb)
		law := distuv.Normal{Mu: m * n / 2, Sigma: math.Sqrt(m * n * (m + n + 1) / 12)}
		return max(0, int(law.Quantile(alpha)+0.5))
	}
	count := splitCounts(na, nb)
	var all, tail float64
	for _, c := range count {
		all += c
	}
	k := 0
	for k < len(count) && tail+count[k] <= alpha*(1+1e-12)*all {
		// Invariant: tail/all = P(U < k) <= alpha.
		tail += count[k]
		k++
	}
	return k
}

// splitCounts returns, for each u, in how many of the C(na+nb, na) splits U is
// u: the coefficients of the Gaussian binomial, by (Mann & Whitney 1947)
//
//	N(u; m, n) = N(u-n; m-1, n) + N(u; m, n-1).
func splitCounts(na, nb int) []float64 {
	// rows[m][u] is N(u; m, n) for the n of the outer loop.
	rows := make([][]float64, na+1)
	for m := range rows {
		rows[m] = make([]float64, na*nb+1)
		rows[m][0] = 1 // n = 0
	}
	for n := 1; n <= nb; n++ {
		for m := 1; m <= na; m++ {
			for u := m * n; u >= n; u-- {
				rows[m][u] += rows[m-1][u-n]
			}
		}
	}
	return rows[na]
}
