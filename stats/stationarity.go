package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// KruskalWallis tests whether the groups are drawn from one distribution,
// against differences of location: the test for a spatially constant mean when the
// groups are regions of a space, by ranks (Kruskal & Wallis 1952). With R_g the rank sum of
// the n_g values of group g, corrected for ties,
//
//	H = (12/(n(n+1))·ΣR_g²/n_g - 3(n+1))/(1 - Σ(t³-t)/(n³-n)),
//
// χ² with groups-1 degrees of freedom, whence P, fair from 5 values a group.
// Empty groups are left out. The test cannot be made (P is 1) for fewer than two groups or
// equal values. NaN panics. Cost: n log n.
func KruskalWallis(groups ...[]float64) Test {
	groups = filled(groups)
	var all []float64
	for _, g := range groups {
		all = append(all, g...)
	}
	if hasNaN(all) {
		panic("stats: rank test of NaN")
	}
	if len(groups) < 2 || constant(all) {
		return Test{math.NaN(), 1, false}
	}
	r, ties := ranks(all)
	n := float64(len(all))
	var h float64
	for _, g := range groups {
		rankSum := sum(r[:len(g)])
		r = r[len(g):]
		// Invariant: r holds the ranks of the groups to come.
		h += rankSum * rankSum / float64(len(g))
	}
	h = (12/(n*(n+1))*h - 3*(n+1)) / (1 - ties/(n*n*n-n))
	return Test{h, chiSquaredSurvival(float64(len(groups)-1), h), false}
}

// BrownForsythe tests whether the groups have the same variance: the test for a
// spatially constant variance when the groups are regions of a space. It is
// Levene's test with medians, robust against skewed data (Brown & Forsythe 1974): an
// analysis of variance of |x - median of its group|, whose F has
// groups-1 and n-groups degrees of freedom, whence P. Empty groups are left out. The test
// cannot be made (P is 1) for fewer than two groups or if the deviations differ in
// no group. NaN and infinities panic. Cost: n log n.
func BrownForsythe(groups ...[]float64) Test {
	groups = filled(groups)
	var all []float64
	deviations := make([][]float64, len(groups))
	for i, g := range groups {
		checkFinite(g)
		m := Median(g)
		for _, v := range g {
			deviations[i] = append(deviations[i], math.Abs(v-m))
		}
		all = append(all, deviations[i]...)
	}
	k, n := float64(len(groups)), float64(len(all))
	if k < 2 || n <= k {
		return Test{math.NaN(), 1, false}
	}
	grand := Mean(all)
	var between, within float64
	for _, d := range deviations {
		m := Mean(d)
		between += float64(len(d)) * (m - grand) * (m - grand)
		within += sumSquares(d, m)
	}
	if within == 0 {
		return Test{math.NaN(), 1, false}
	}
	f := between / (k - 1) / (within / (n - k))
	// P[F > f] = I_{d2/(d2 + d1·f)}(d2/2, d1/2).
	p := mathext.RegIncBeta((n-k)/2, (k-1)/2, (n-k)/(n-k+(k-1)*f))
	return Test{f, p, false}
}

// MannKendall tests whether a series has a monotone trend, such as a machine
// that warms up (Mann 1945; Kendall 1975). The statistic is
//
//	S = Σ_{i<j} sign(x_j - x_i),
//
// positive for a rise; P is from its normal approximation with corrections for
// ties and continuity, fair from 10 values. The values must not be
// autocorrelated. The test cannot be made (P is 1) for n < 4 or equal values. NaN panics.
// Cost: n²/2.
func MannKendall(x []float64) Test {
	if hasNaN(x) {
		panic("stats: rank test of NaN")
	}
	if len(x) < 4 || constant(x) {
		return Test{math.NaN(), 1, false}
	}
	s := 0
	for j := range x {
		for i := range j {
			switch {
			case x[j] > x[i]:
				s++
			case x[j] < x[i]:
				s--
			}
		}
	}
	// Var S = (n(n-1)(2n+5) - Σt(t-1)(2t+5))/18 over groups of t equal values.
	eighteenths := kendallTerm(len(x))
	seen := map[float64]int{}
	for _, v := range x {
		seen[v]++
	}
	for _, t := range seen {
		eighteenths -= kendallTerm(t)
	}
	z := math.Max(0, math.Abs(float64(s))-1) / math.Sqrt(float64(eighteenths)/18)
	return Test{float64(s), math.Min(1, 2*NormCDF(-z)), false}
}

// kendallTerm returns t(t-1)(2t+5), an integer so that the order in which a map
// yields the groups does not matter.
func kendallTerm(t int) int { return t * (t - 1) * (2*t + 5) }

func filled(groups [][]float64) [][]float64 {
	var out [][]float64
	for _, g := range groups {
		if len(g) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// chiSquaredSurvival returns P[χ²_k > x].
func chiSquaredSurvival(k, x float64) float64 {
	return mathext.GammaIncRegComp(k/2, math.Max(x, 0)/2)
}
