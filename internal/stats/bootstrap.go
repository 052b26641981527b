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

// smallBootstrap is the size below which resampling the sample approximates drawing from the population poorly. Smaller
// samples get a warning.
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
		e.warn("a bootstrap interval of %d runs is narrower than its level", len(x))
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
