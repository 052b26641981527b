package stats

import "math"

// Correlation returns Pearson's correlation of x and y, in [-1, 1]. It is NaN
// if one of them is constant, or for fewer than two pairs: there is no
// correlation then. It panics if the lengths differ. Cost: n.
func Correlation(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("stats: slice length mismatch")
	}
	if len(x) < 2 || constant(x) || constant(y) {
		return math.NaN()
	}
	mx, my := Mean(x), Mean(y)
	// Scaled by the greatest deviation so that no square overflows or
	// underflows.
	sx, sy := spread(x, mx), spread(y, my)
	var xx, yy, xy float64
	for i := range x {
		dx, dy := (x[i]-mx)/sx, (y[i]-my)/sy
		xx += dx * dx
		yy += dy * dy
		xy += dx * dy
	}
	return max(-1, min(1, xy/math.Sqrt(xx)/math.Sqrt(yy)))
}

// constant reports whether all values are equal, which a sum of rounded squares does not show.
func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

// spread returns max |x-m|, NaN if there is a NaN.
func spread(x []float64, m float64) float64 {
	var s float64
	for _, v := range x {
		s = max(s, math.Abs(v-m))
	}
	return s
}

// Spearman returns the rank correlation of x and y: [Correlation] of their
// [Ranks], equal values sharing the mean rank. +Inf is the greatest rank. NaN if
// one of them is constant or has a NaN. It panics if the lengths differ. Cost: n log n.
func Spearman(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("stats: slice length mismatch")
	}
	if hasNaN(x) || hasNaN(y) {
		return math.NaN()
	}
	return Correlation(Ranks(x), Ranks(y))
}

// CrossCorrelation returns the normalised cross-correlation of two surrogates f and g, sampled at the same n points
// (Silva et al. 2018, §3.4, whose formula is lost in the printed text):
//
//	NCC = 1/n·Σ (f_i - mean f)·(g_i - mean g)/(sd f·sd g),
//
// the standard deviations being a population's, so that NCC is in [-1, 1], is 1 for g = a·f + b with a > 0, and
// equals Pearson's correlation. The correlation of a constant surrogate is NaN, which compares as below every
// threshold. It panics if the lengths differ.
func CrossCorrelation(f, g []float64) float64 { return Correlation(f, g) }
