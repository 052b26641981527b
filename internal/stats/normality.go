package stats

import (
	"math"
	"slices"
)

// ShapiroFrancia tests whether x is normal: the statistic W' is the squared correlation of the sorted values with the
// expected normal order statistics, approximated by Blom's scores Φ⁻¹((i-3/8)/(n+1/4)) (Shapiro & Francia 1972). P is
// by Royston 1993: log(1-W') is nearly normal with, for u = log n,
//
//	μ = -1.2725 + 1.0521·(log u - u),  σ = 1.0308 - 0.26758·(log u + 2/u),
//
// good for 5 <= n <= 5000. A small P is evidence that x is not normal. The test cannot be made (P is 1) for n < 5 or
// equal values. NaN and infinities panic. Cost: n log n.
func ShapiroFrancia(x []float64) Test {
	checkFinite(x)
	n := float64(len(x))
	if n < 5 || constant(x) {
		return Test{math.NaN(), 1, false}
	}
	s := slices.Sorted(slices.Values(x))
	scores := make([]float64, len(s))
	for i := range scores {
		scores[i] = NormQuantile((float64(i) + 0.625) / (n + 0.25))
	}
	r := Correlation(s, scores)
	w := r * r
	u := math.Log(n)
	v := math.Log(u)
	z := (math.Log1p(-w) - (-1.2725 + 1.0521*(v-u))) / (1.0308 - 0.26758*(v+2/u))
	return Test{w, NormCDF(-z), false}
}

func checkFinite(x []float64) {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic("stats: test of values that are not finite")
		}
	}
}
