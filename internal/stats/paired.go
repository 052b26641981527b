package stats

import (
	"math"
	"slices"
)

// ComparePaired compares two samples whose runs were interleaved: a[i] and b[i] ran next to each other, so that a drift
// of the machine is in both. It panics if the lengths differ.
//
// The statistic is the sum of the ranks of b among all values, less the sum of the ranks of a, as in [MannWhitney].
// Its distribution is the one over the 2^n ways to exchange the two runs within each pair, so that P is exact if they
// are exchangeable, whatever differs between the pairs. A slow outlier has no more weight than any other slow run,
// unlike in [WilcoxonSignedRank], where its pair has the greatest rank. Conover & Iman 1981, §4, have ranks in place of
// values in the paired t test; the distribution is Fisher's.
//
// Change is computed as in [CompareShift]. Its interval has the shifts of b by which P is above 1-Level on neither
// side; it needs 6 pairs at 0.95. From 50 pairs on, P is from the normal approximation. opts.Mean chooses the centres
// A and B only. NaN panics. Cost: n² log n.
func ComparePaired(a, b []float64, opts CompareOptions) Comparison {
	if len(a) != len(b) {
		panic("stats: slice length mismatch")
	}
	if hasNaN(a) || hasNaN(b) {
		panic("stats: comparison of NaN")
	}
	c := opts.unknown(a, b)
	x, y, back := comparisonScale(a, b, c.A.Value)
	if slices.ContainsFunc(x, isInf) && slices.ContainsFunc(y, isInf) {
		c.warn("two runs have no difference: both values are infinite")
		return c
	}
	n := len(x)
	if n == 0 {
		c.warn("no difference of 0 pairs")
		return c
	}
	p, mirrored := newPairRanks(x, y), newPairRanks(negated(x), negated(y))
	c.P = min(1, 2*min(p.tail(0, false), mirrored.tail(0, false)))
	c.Change = back(p.kth((n*n+1)/2)/2 + p.kth(n*n/2+1)/2)
	alpha := (1 - c.Level) / 2
	if math.Exp2(-float64(n)) > alpha {
		c.warn("need >= %d pairs for a %.4g %% interval, have %d", minRunsForMedian(c.Level), 100*c.Level, n)
		c.Low, c.High = back(math.Inf(-1)), back(math.Inf(1))
	} else {
		c.Low, c.High = back(p.low(alpha)), back(-mirrored.low(alpha))
	}
	c.checkChange()
	c.decide()
	return c
}

// pairRanks are the pairs of x[i] and y[i], and the ranks of each value in its own sample, times two.
type pairRanks struct {
	x, y             []float64
	rankX, rankY     []int
	sortedX, sortedY []float64
}

func newPairRanks(x, y []float64) *pairRanks {
	twice := func(x []float64) []int {
		r := make([]int, len(x))
		for i, v := range Ranks(x) {
			r[i] = int(2 * v)
		}
		return r
	}
	return &pairRanks{
		x, y, twice(x), twice(y), slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)),
	}
}

// kth returns the k-th smallest y[j] - x[i], k from 1.
func (p *pairRanks) kth(k int) float64 { return kthDifference(p.sortedX, p.sortedY, k) }

// low returns the least shift of y that is not refuted by y being too great, with an error of alpha. If all values are
// above, the shift is refuted: the caller has seen to it that there are enough pairs.
func (p *pairRanks) low(alpha float64) float64 {
	least, most := 1, len(p.x)*len(p.x)
	for least < most {
		// Invariant: a shift of a little more than the most-th difference is not refuted.
		mid := least + (most-least)/2
		if p.tail(p.kth(mid), true) > alpha {
			most = mid
		} else {
			least = mid + 1
		}
	}
	low := p.kth(least)
	if low > 0 && p.tail(0, false) > alpha {
		return 0 // tail is not monotone everywhere, and P decides about no shift
	}
	return low
}

// tail returns the probability that exchanges within the pairs make the statistic as great as it is, with the values of
// y lowered by a shift, or with over by a little more than it. It counts all exchanges of up to 50 pairs.
func (p *pairRanks) tail(shift float64, over bool) float64 {
	weights, sum, all := make([]int, len(p.x)), 0, 0
	for i := range p.x {
		w := p.rankY[i] - p.rankX[i]
		for k := range p.x {
			w += above(p.y[i]-p.x[k], shift, over) // the rank of y[i] among x
			w -= 2 - above(p.y[k]-p.x[i], shift, over)
		}
		sum += w
		weights[i] = max(w, -w)
		all += weights[i]
	}
	if len(weights) >= maxExactRanks {
		var squares float64
		for _, w := range weights {
			squares += float64(w) * float64(w)
		}
		if squares == 0 {
			return 1
		}
		return NormCDF((1 - float64(sum)) / math.Sqrt(squares))
	}
	var tail float64
	for _, share := range coinSums(weights)[(all+sum+1)/2:] { // the sum of the weights that are not picked is taken away
		tail += share
	}
	return tail
}

// above returns twice how much a difference is above a shift: by one, or a half if they are equal and the shift is not
// a little more.
func above(difference, shift float64, over bool) int {
	switch {
	case difference > shift:
		return 2
	case difference == shift && !over:
		return 1
	}
	return 0
}

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}
