package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// HodgesLehmann returns the median of the Walsh averages (d_i + d_j)/2, i <= j, of a symmetric sample: as robust as the
// median for a third of the data and nearly as efficient as the mean (Hodges & Lehmann 1963). Its interval is the one
// of [WilcoxonSignedRank] (Tukey 1949; Hollander & Wolfe 1999, Eq. 3.27): the k-th smallest and k-th greatest Walsh
// average, k - 1 the greatest w with P(W <= w) <= (1-level)/2. Level is the attained confidence, exact for a continuous
// distribution that is symmetric about its centre; a level of 0 means 0.95, which takes 6 values. Above 100 values the
// normal approximation gives k. NaN panics. Cost: n log n.
func HodgesLehmann(d []float64, level float64) Estimate {
	level = levelOr(level)
	if hasNaN(d) {
		panic("stats: Walsh averages of NaN")
	}
	n := len(d)
	e := unbounded(math.NaN(), level, n)
	if n == 0 {
		e.warn("no centre of 0 values")
		return e
	}
	s := slices.Sorted(slices.Values(d))
	pairs := n * (n + 1) / 2
	e.Value = walshAverage(s, (pairs+1)/2)
	if pairs%2 == 0 {
		if next := walshAverage(s, pairs/2+1); next != e.Value {
			e.Value = e.Value/2 + next/2
		}
	}
	k, tail := signedRankRank(n, (1-level)/2)
	if k == 0 {
		e.warn("need >= %d pairs for a %.4g %% interval, have %d", minRunsForMedian(level), 100*level, n)
		return e
	}
	e.Low, e.High, e.Level = walshAverage(s, k), walshAverage(s, pairs+1-k), 1-2*tail
	return e
}

// walshAverage returns the k-th smallest of the averages (s_i + s_j)/2, i <= j,
// of a sorted sample, k from 1. It bisects the floating-point numbers
// themselves, so that the result is exact after at most 64 counts of cost n.
func walshAverage(s []float64, k int) float64 {
	low, high := orderedBits(s[0]), orderedBits(s[len(s)-1])
	for low < high {
		// Invariant: the k-th smallest average is in [low, high].
		mid := low + (high-low)/2
		if countWalsh(s, fromOrderedBits(mid)) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return fromOrderedBits(low)
}

// countWalsh returns the number of averages that are at most x.
func countWalsh(s []float64, x float64) int {
	count, j := 0, len(s)-1
	for i := range s {
		for j >= i && average(s[i], s[j]) > x {
			j--
		}
		if j < i {
			break
		}
		// Invariant: s[j] is the greatest whose average with s[i] is at most x.
		count += j - i + 1
	}
	return count
}

// average returns (a + b)/2 without overflow. It adds first, as the half of a subnormal number may have to be rounded.
func average(a, b float64) float64 {
	if sum := a + b; !math.IsInf(sum, 0) {
		return sum / 2
	}
	return a/2 + b/2
}

// orderedBits maps floating-point numbers to integers of the same order.
func orderedBits(x float64) uint64 {
	if x == 0 {
		x = 0 // -0 and 0 are equal
	}
	b := math.Float64bits(x)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func fromOrderedBits(b uint64) float64 {
	if b>>63 == 1 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

// signedRankRank returns the greatest k with P(W < k) <= alpha for the signed rank statistic W of n values without
// ties, and that probability; 0 and 0 if no k > 0 satisfies it.
func signedRankRank(n int, alpha float64) (k int, tail float64) {
	if n > 2*maxExactRanks {
		m := float64(n)
		mean, sd := m*(m+1)/4, math.Sqrt(m*(m+1)*(2*m+1)/24)
		law := distuv.Normal{Mu: mean, Sigma: sd}
		k = int(law.Quantile(alpha) + 0.5) // continuity: P(W < k) ≈ Φ((k-0.5-mean)/sd)
		return k, law.CDF(float64(k) - 0.5)
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	p := coinSums(ranks)
	for k <= len(p)/2 && tail+p[k] <= alpha*(1+1e-12) {
		// Invariant: tail = P(W < k) <= alpha.
		tail += p[k]
		k++
	}
	return k, tail
}
