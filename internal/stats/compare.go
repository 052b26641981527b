package stats

import (
	"fmt"
	"math"
)

// A Verdict is the result of a comparison.
type Verdict int8

const (
	Less      Verdict = -1 // b is less than a: faster, if the values are run times
	Undecided Verdict = 0  // no difference was shown, which does not mean that there is no difference
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

// A Comparison is the measured difference of b from a.
type Comparison struct {
	A, B Estimate // the centres, each with its own interval

	// Change is the relative difference of the centres, (b-a)/|a|: -0.3 is 30 % less. It is NaN if a is 0 or not finite.
	// Low and High are its interval at Level; -Inf (-1 for the ratios of pairs) and +Inf if no interval exists.
	Change, Low, High float64
	Level             float64 // of the interval

	P        float64 // of no difference, by a rank test
	N        int     // size of the smaller sample, or number of pairs
	Verdict  Verdict
	Warnings []error // of the comparison; A and B have their own
}

// CompareOptions configures a comparison.
type CompareOptions struct {
	Level float64 // confidence level; 0 means 0.95
	Mean  bool    // compare means, not medians; not with heavy tails
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

func (c *Comparison) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Errorf(""+format, args...))
}

func (c *Comparison) checkChange() {
	if math.IsNaN(c.Change) || math.IsInf(c.Change, 0) {
		c.warn("no relative difference from %v to %v", c.A.Value, c.B.Value)
	}
}

// decide sets the verdict from P and the interval. Without a relative difference, as when a is 0, P and the centres
// decide alone.
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
