package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// leastSpread is the least number of degrees of freedom of the spread in [CompareFew]: fewer differences are no
// evidence.
const leastSpread = 3

// adrift is how much the speed of a machine may have changed between the only run of a and the runs of b, as a
// logarithm. On recorded run times of equal commands up to 60 runs apart, intervals without it contain 0 in 77 to 85 of
// 100 cases, and with it in 96 to 97.
const adrift = 0.3

// CompareFew compares two samples that are too small for ranks: the means of the logarithms of the values if all are
// positive, else of the values, with Student's t. It assumes that the spread of runs is the same share of the value in
// all configurations of a program, so that runs of other configurations add to the estimate: more are the repeated runs
// of other configurations, a list for each.
//
//	s² = Σ_g Σ_i (x_gi - mean_g)² / Σ_g (n_g - 1)
//	interval: mean b - mean a ± t(level; Σ_g (n_g - 1))·s·√(1/n_a + 1/n_b)
//
// (the pooled variance of a one-way layout; Scheffé 1959, §3.1). The interval is wider by adrift on each side if a is
// one run and runs differ. It has no bounds below 2 values of b, without a value of a, or with fewer than 3 degrees of
// freedom. Change is the difference of the means, and P the tail of t. NaN panics. Values that are not finite have no
// interval. Cost: linear.
func CompareFew(a, b []float64, more [][]float64, opts CompareOptions) Comparison {
	groups := slices.Concat([][]float64{a, b}, more)
	if slices.ContainsFunc(groups, hasNaN) {
		panic("stats: comparison of NaN")
	}
	c := opts.unknown(a, b)
	if len(a) == 0 || len(b) == 0 {
		c.warn("no difference of %d and %d runs", len(a), len(b))
		return c
	}
	infinite := func(x []float64) bool { return slices.ContainsFunc(x, isInf) }
	if slices.ContainsFunc(groups, infinite) {
		c.warn("a value is not finite")
		return c
	}
	groups, back, unit := pooledScale(groups, c.A.Value)
	x, y := groups[0], groups[1]
	shift := Mean(y) - Mean(x)
	c.Change = back(shift)
	c.checkChange()
	sum, free := 0.0, 0
	for _, g := range groups {
		if len(g) > 1 {
			sd := StdDev(g)
			sum, free = sum+sd*sd*float64(len(g)-1), free+len(g)-1
		}
	}
	if len(y) < 2 || free < leastSpread {
		c.warn("%d and %d runs, and %d differences of equal ones, are too few for an interval", len(x), len(y), free)
		return c
	}
	law := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(free)}
	off := math.Sqrt(sum/float64(free)) * math.Sqrt(1/float64(len(x))+1/float64(len(y)))
	if off == 0 {
		c.Low, c.High, c.P = c.Change, c.Change, 1
		if shift != 0 {
			c.P = 0
		}
	} else {
		more := 0.0
		if len(x) == 1 {
			more = adrift * unit
		}
		half := law.Quantile(1-(1-c.Level)/2)*off + more
		c.Low, c.High = back(shift-half), back(shift+half)
		c.P = 2 * law.CDF(-max(0, math.Abs(shift)-more)/off)
	}
	c.decide()
	return c
}

// pooledScale returns copies of the groups on the scale on which their spread is the same, logarithms if all values are
// positive, the map from a shift to a change relative to center, and the shift of a change of about 1.
func pooledScale(groups [][]float64, center float64) (
	scaled [][]float64, back func(shift float64) float64, unit float64,
) {
	scaled = make([][]float64, len(groups))
	positive := true
	for i, g := range groups {
		scaled[i] = slices.Clone(g)
		for _, v := range g {
			positive = positive && v > 0
		}
	}
	if !positive {
		return scaled, func(shift float64) float64 { return shift / math.Abs(center) }, math.Abs(center)
	}
	for _, g := range scaled {
		for i, v := range g {
			g[i] = math.Log(v)
		}
	}
	return scaled, math.Expm1, 1
}
