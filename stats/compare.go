package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A Verdict is what a comparison has shown.
type Verdict int8

const (
	Less      Verdict = -1 // b is less than a: faster, if the values are run times
	Undecided Verdict = 0  // no difference has been shown, which does not mean that there is none
	More      Verdict = 1  // b is more than a
)

// String returns "less", "~" or "more".
func (v Verdict) String() string {
	switch v {
	case Less:
		return "less"
	case More:
		return "more"
	}
	return "~"
}

// A Comparison says how much b differs from a.
type Comparison struct {
	A, B Estimate // the centres, each with its own interval

	// Change is the relative difference of the centres, (b-a)/|a|: -0.3 is 30 %
	// less. It is NaN if a is 0 or not finite. Low and High are its interval at
	// Level; -Inf (-1 for the ratios of pairs) and +Inf if there is none.
	Change, Low, High float64
	Level             float64

	P        float64 // of no difference, by a rank test
	N        int     // size of the smaller sample, or number of pairs
	Verdict  Verdict
	Warnings []error // of the comparison; A and B have their own
}

// CompareOptions configures a comparison.
type CompareOptions struct {
	Level     float64 // confidence level; 0 means 0.95
	Mean      bool    // compare means, not medians; not with heavy tails
	Resamples int     // of Compare's bootstrap; 0 means 2000
	Seed      uint64  // of Compare's bootstrap
}

// Compare compares two independent samples by their medians (or means).
//
// The interval of the change is the percentile interval of a bootstrap that
// draws from both samples. P is that of [MannWhitney], exact for small samples.
// The verdict is a difference only if both agree: P is at most 1-Level and the
// interval excludes 0 on the side of the change; so the rate of false
// differences is at most that of the rank test. Below 4 + 4 runs no verdict at
// 0.95 is possible and a warning says so.
//
// [CompareShift] needs fewer runs where its assumption holds. If the machine
// drifts, interleave the runs and use [ComparePaired]. NaN
// panics. Cost: Resamples·n.
func Compare(a, b []float64, opts CompareOptions) Comparison {
	if hasNaN(a) || hasNaN(b) {
		panic("stats: comparison of NaN")
	}
	boot := opts.bootstrap()
	c := opts.unknown(a, b)
	c.P = MannWhitney(a, b).P
	c.Change = change(c.A.Value, c.B.Value)
	if best := leastSplitP(len(a), len(b)); best > 1-boot.Level {
		c.warn("%d and %d runs cannot show a difference at %g %%", len(a), len(b), 100*boot.Level)
	}
	if c.checkChange(); !math.IsNaN(c.Change) && len(a) > 1 && len(b) > 1 {
		c.bootstrapChange(a, b, opts.Mean, boot)
	}
	c.decide()
	return c
}

func (o CompareOptions) bootstrap() BootstrapOptions {
	return BootstrapOptions{Level: o.Level, Resamples: o.Resamples, Seed: o.Seed}.resolve()
}

// unknown returns the comparison of a and b that knows only their centres.
func (o CompareOptions) unknown(a, b []float64) Comparison {
	return Comparison{
		A: o.estimate(a), B: o.estimate(b),
		Change: math.NaN(), Low: math.Inf(-1), High: math.Inf(1), Level: levelOr(o.Level),
		P: 1, N: min(len(a), len(b)),
	}
}

func (o CompareOptions) estimate(x []float64) Estimate {
	if o.Mean {
		return MeanInterval(x, o.Level)
	}
	return MedianInterval(x, o.Level)
}

// change returns (b-a)/|a|, NaN if a is 0 or not finite.
func change(a, b float64) float64 {
	if a == 0 || math.IsInf(a, 0) {
		return math.NaN()
	}
	return (b - a) / math.Abs(a)
}

func (c *Comparison) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Errorf(""+format, args...))
}

func (c *Comparison) checkChange() {
	if math.IsNaN(c.Change) || math.IsInf(c.Change, 0) {
		c.warn("no relative difference from %v to %v", c.A.Value, c.B.Value)
	}
}

// bootstrapChange sets the interval of the change.
func (c *Comparison) bootstrapChange(a, b []float64, mean bool, opts BootstrapOptions) {
	if c.N < smallBootstrap {
		c.warn("a bootstrap interval of %d runs is narrower than it says", c.N)
	}
	rng := rand.New(rand.NewPCG(opts.Seed, 0x636f6d70))
	ra, rb := newResampler(a, mean), newResampler(b, mean)
	values := make([]float64, 0, opts.Resamples)
	for range opts.Resamples {
		if v := change(ra.draw(rng), rb.draw(rng)); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) < opts.Resamples {
		c.warn("%d of %d resamples have no relative difference", opts.Resamples-len(values), opts.Resamples)
		return
	}
	slices.Sort(values)
	c.Low = sortedQuantile(values, (1-opts.Level)/2)
	c.High = sortedQuantile(values, (1+opts.Level)/2)
}

// A resampler draws the mean or the median of samples with replacement from a
// sorted sample in a time that is linear in its size.
type resampler struct {
	sorted []float64
	mean   bool
	count  []int32 // how often each value was drawn
}

func newResampler(x []float64, mean bool) *resampler {
	return &resampler{slices.Sorted(slices.Values(x)), mean, make([]int32, len(x))}
}

func (r *resampler) draw(rng *rand.Rand) float64 {
	n := len(r.sorted)
	if r.mean {
		var s float64
		for range n {
			s += r.sorted[rng.IntN(n)]
		}
		return s / float64(n)
	}
	clear(r.count)
	for range n {
		r.count[rng.IntN(n)]++
	}
	// Invariant: seen values of the resample are at most sorted[i-1].
	seen, low := 0, -1
	for i, c := range r.count {
		seen += int(c)
		if low < 0 && 2*seen >= n {
			low = i
		}
		if 2*seen > n {
			if low == i || r.sorted[low] == r.sorted[i] {
				return r.sorted[i]
			}
			return r.sorted[low]/2 + r.sorted[i]/2
		}
	}
	panic("stats: a resample has no median")
}

// decide sets the verdict from P and the interval. Where there is no relative
// difference, as when a is 0, P and the centres decide alone.
func (c *Comparison) decide() {
	bounded := !math.IsNaN(c.Change)
	switch {
	case c.P > 1-c.Level:
	case bounded && c.High < 0, !bounded && c.B.Value < c.A.Value:
		c.Verdict = Less
	case bounded && c.Low > 0, !bounded && c.B.Value > c.A.Value:
		c.Verdict = More
	}
}

// leastSplitP returns 2/C(na+nb, na), the least P of an exact rank test.
func leastSplitP(na, nb int) float64 {
	lg := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	return math.Min(1, 2*math.Exp(lg(na)+lg(nb)-lg(na+nb)))
}
