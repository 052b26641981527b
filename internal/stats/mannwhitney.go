package stats

import "math"

// maxExactRanks is the total number of values up to which [MannWhitney] counts
// every arrangement; it bounds the counts by C(50, 25) < 2^53.
const maxExactRanks = 50

// A Test is the outcome of a hypothesis test.
type Test struct {
	Statistic float64 // NaN if the test could not be made
	P         float64 // two-sided probability of a statistic at least as extreme; 1 if it could not be made
	Exact     bool    // whether P is exact rather than an approximation for large n
}

// MannWhitney tests whether a value of a is as likely to be above one of b as
// below (Mann & Whitney 1947). The statistic is U, the number of pairs with
// a_i > b_j, equal pairs counting half.
//
// Up to 50 values in all, P is the exact share of the C(n, len(a)) equally likely
// splits of the observed values, ties included, whose U is at least as far from
// its mean. Above, it is from the normal approximation with the corrections for
// ties and for continuity. P is 1 for an empty sample. NaN
// panics. Cost of the exact P: (len(a)·len(b))²/2 additions, at most 200,000; ten
// times that with ties.
func MannWhitney(a, b []float64) Test {
	if hasNaN(a) || hasNaN(b) {
		panic("stats: rank test of NaN")
	}
	na, nb := float64(len(a)), float64(len(b))
	if na == 0 || nb == 0 {
		return Test{math.NaN(), 1, false}
	}
	all := make([]float64, 0, len(a)+len(b))
	r, ties := ranks(append(append(all, a...), b...))
	var rankSum float64
	for i := range a {
		rankSum += r[i]
	}
	u := rankSum - na*(na+1)/2
	switch {
	case len(r) > maxExactRanks:
	case ties == 0:
		return Test{u, countP(splitCounts(len(a), len(b)), u), true}
	default:
		return Test{u, splitP(r, len(a)), true}
	}
	n := na + nb
	variance := na * nb / 12 * (n + 1 - ties/(n*(n-1)))
	return Test{u, normalP(u-na*nb/2, variance), false}
}

// countP returns the share of the counts of u, which are symmetric, at least as
// far from the middle as u.
func countP(counts []float64, u float64) float64 {
	last := len(counts) - 1
	edge := min(int(u), last-int(u))
	var extreme, all float64
	for v, c := range counts {
		all += c
		if v <= edge || v >= last-edge {
			extreme += c
		}
	}
	return extreme / all
}

// splitP returns the share of the subsets of k ranks whose sum is at least as far from the mean of all subsets as the
// sum of the first k.
func splitP(r []float64, k int) float64 {
	// Mid-ranks are multiples of 1/2: twice a rank is an integer.
	total, observed := 0, 0
	for i, x := range r {
		total += int(2 * x)
		if i < k {
			observed += int(2 * x)
		}
	}
	// count[j][s] is the number of subsets of j of the ranks so far whose
	// doubled ranks add up to s.
	count := make([][]float64, k+1)
	for j := range count {
		count[j] = make([]float64, total+1)
	}
	count[0][0] = 1
	sum := 0
	for i, x := range r {
		v := int(2 * x)
		sum += v
		for j := min(k, i+1); j >= 1; j-- {
			for s := sum; s >= v; s-- {
				count[j][s] += count[j-1][s-v]
			}
		}
	}
	// The mean of the sums is total·k/n; n·s is compared, in integers.
	n := len(r)
	far := abs(n*observed - k*total)
	var extreme, all float64
	for s, c := range count[k] {
		all += c
		if abs(n*s-k*total) >= far {
			extreme += c
		}
	}
	return extreme / all
}

// WilcoxonSignedRank tests whether the differences d are symmetric about 0
// (Wilcoxon 1945). Zero differences are dropped. The statistic is the sum of the
// ranks of |d| of the positive ones.
//
// Up to 100 differences, P is the exact share of the 2^n equally likely sign
// assignments whose statistic is at least as far from its mean, ties included.
// Above, it is from the normal approximation. P is 1 if every difference is 0.
// NaN panics. Cost: n³ additions at most for the exact P.
func WilcoxonSignedRank(d []float64) Test {
	if hasNaN(d) {
		panic("stats: rank test of NaN")
	}
	var size []float64
	var positive []bool
	for _, v := range d {
		if v != 0 {
			size = append(size, math.Abs(v))
			positive = append(positive, v > 0)
		}
	}
	if len(size) == 0 {
		return Test{math.NaN(), 1, false}
	}
	r, ties := ranks(size)
	var w float64
	for i, x := range r {
		if positive[i] {
			w += x
		}
	}
	n := float64(len(r))
	if len(r) <= 2*maxExactRanks {
		return Test{w, signP(r, w), true}
	}
	variance := n*(n+1)*(2*n+1)/24 - ties/48
	return Test{w, normalP(w-n*(n+1)/4, variance), false}
}

// signP returns the probability that the sum of the ranks that a fair coin
// picks is at least as far from its mean as w.
func signP(r []float64, w float64) float64 {
	doubled := make([]int, len(r))
	for i, x := range r {
		doubled[i] = int(2 * x)
	}
	p := coinSums(doubled)
	total := len(p) - 1
	far := abs(4*int(2*w) - 2*total)
	var extreme float64
	for s, q := range p {
		if abs(4*s-2*total) >= far {
			extreme += q
		}
	}
	return min(extreme, 1)
}

// coinSums returns, for each sum up to all of them, the probability that the numbers that a fair coin picks have it.
// The numbers are not negative.
func coinSums(numbers []int) []float64 {
	total := 0
	for _, v := range numbers {
		total += v
	}
	p := make([]float64, total+1)
	p[0] = 1
	for _, v := range numbers {
		for s := total; s >= 0; s-- {
			picked := 0.0
			if s >= v {
				picked = p[s-v]
			}
			p[s] = p[s]/2 + picked/2
		}
	}
	return p
}

// normalP returns the two-sided P of a rank statistic at a distance from its
// mean, with the continuity correction of half a rank.
func normalP(distance, variance float64) float64 {
	if variance <= 0 {
		return 1
	}
	z := max(0, math.Abs(distance)-0.5) / math.Sqrt(variance)
	return min(1, 2*NormCDF(-z))
}

func abs(x int) int { return max(x, -x) }
