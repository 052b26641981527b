package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// BootstrapOptions configures a bootstrap.
type BootstrapOptions struct {
	Level     float64 // confidence level; 0 means 0.95
	Resamples int     // 0 means 2000
	Seed      uint64  // of the resampling
}

func (o BootstrapOptions) resolve() BootstrapOptions {
	o.Level = levelOr(o.Level)
	if o.Resamples < 0 {
		panic(fmt.Sprintf("stats: %d resamples", o.Resamples))
	}
	if o.Resamples == 0 {
		o.Resamples = 2000
	}
	return o
}

// smallBootstrap is the size below which resampling the sample is a poor
// picture of drawing from the population: a warning says so.
const smallBootstrap = 6

// Bootstrap returns a statistic of x with its percentile interval: the
// quantiles (1±level)/2 of the statistic over samples drawn from x with
// replacement (Efron & Tibshirani 1993, §13.3).
//
// The statistic must not retain or change its argument, which is reused. It must
// not be an extreme (minimum, maximum): those are not consistent under the
// bootstrap. Cost: Resamples calls of the statistic.
func Bootstrap(x []float64, statistic func([]float64) float64, opts BootstrapOptions) Estimate {
	opts = opts.resolve()
	e, values := resample(x, statistic, opts)
	if values != nil {
		e.Low = sortedQuantile(values, (1-opts.Level)/2)
		e.High = sortedQuantile(values, (1+opts.Level)/2)
	}
	return e
}

// BootstrapBCa returns a statistic of x with its bias-corrected and accelerated
// interval (Efron 1987; Efron & Tibshirani 1993, Eq. 14.9-14.15), which is
// second-order accurate for smooth statistics such as means and their ratios.
// Where the correction does not exist (the statistic of every resample is on
// one side of that of x, or the jackknife is degenerate, as for a median of
// equal values) the percentile interval is returned with a warning. See
// [Bootstrap] for what a statistic may be. Cost: Resamples + n calls.
func BootstrapBCa(x []float64, statistic func([]float64) float64, opts BootstrapOptions) Estimate {
	opts = opts.resolve()
	e, values := resample(x, statistic, opts)
	if values == nil {
		return e
	}
	low, high := (1-opts.Level)/2, (1+opts.Level)/2
	z0 := biasCorrection(values, e.Value)
	a := acceleration(x, statistic)
	if math.IsInf(z0, 0) || math.IsNaN(a) {
		e.warn("no bias correction: percentile interval instead")
	} else {
		low, high = bcaLevel(low, z0, a), bcaLevel(high, z0, a)
	}
	e.Low, e.High = sortedQuantile(values, low), sortedQuantile(values, high)
	return e
}

// resample returns the estimate without an interval and the sorted statistics
// of the resamples, nil if there is nothing to resample.
func resample(x []float64, statistic func([]float64) float64, opts BootstrapOptions) (Estimate, []float64) {
	e := unbounded(math.NaN(), opts.Level, len(x))
	if len(x) == 0 {
		e.warn("no values to resample")
		return e, nil
	}
	e.Value = statistic(x)
	if len(x) < 2 {
		e.warn("need >= 2 runs for a bootstrap interval, have %d", len(x))
		return e, nil
	}
	if len(x) < smallBootstrap {
		e.warn("a bootstrap interval of %d runs is narrower than it says", len(x))
	}
	rng := rand.New(rand.NewPCG(opts.Seed, 0x626f6f74))
	draw, values := make([]float64, len(x)), make([]float64, opts.Resamples)
	for i := range values {
		drawFrom(rng, x, draw)
		values[i] = statistic(draw)
	}
	slices.Sort(values)
	if math.IsNaN(e.Value) || math.IsNaN(values[0]) { // NaN sorts first
		e.warn("the statistic is not a number in the sample or a resample")
		return e, nil
	}
	return e, values
}

// drawFrom fills out with values of x, drawn with replacement.
func drawFrom(rng *rand.Rand, x, out []float64) {
	for i := range out {
		out[i] = x[rng.IntN(len(x))]
	}
}

// biasCorrection returns z0 = Φ⁻¹(share of values below v), values equal to v
// counting half, as a discrete statistic such as the median needs.
func biasCorrection(sorted []float64, v float64) float64 {
	below, _ := slices.BinarySearch(sorted, v)
	above, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
	return NormQuantile((float64(below) + float64(above)) / 2 / float64(len(sorted)))
}

// acceleration returns Σd³/(6·(Σd²)^1.5) of the jackknife deviations
// d_i = mean - θ_(i), NaN if all are equal.
func acceleration(x []float64, statistic func([]float64) float64) float64 {
	theta, rest := make([]float64, len(x)), make([]float64, len(x)-1)
	for i := range x {
		copy(rest, x[:i])
		copy(rest[i:], x[i+1:])
		theta[i] = statistic(rest)
	}
	m := Mean(theta)
	var cubes, squares float64
	for _, t := range theta {
		d := m - t
		squares += d * d
		cubes += d * d * d
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

// bcaLevel returns Φ(z0 + (z0+z)/(1-a·(z0+z))), z = Φ⁻¹(p), and the limit of 0
// or 1 where the pole is passed.
func bcaLevel(p, z0, a float64) float64 {
	z := z0 + NormQuantile(p)
	if a*z >= 1 {
		return NormCDF(math.Copysign(math.Inf(1), z))
	}
	return NormCDF(z0 + z/(1-a*z))
}
