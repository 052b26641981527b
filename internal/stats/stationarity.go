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
