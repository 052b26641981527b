package request

import (
	"math"

	"github.com/assay-run/assay/workflow"
)

// A Rule is a request: Base + PerByte for each byte of input, but at least Low and at most High, times
// two for each attempt that failed. The unit is the unit of the resource: bytes or seconds.
//
// The zero Rule requests nothing: see [Rule.Known].
type Rule struct {
	Base    float64 `json:"base"`     // without input
	PerByte float64 `json:"per_byte"` // of input
	Low     float64 `json:"low"`
	High    float64 `json:"high"` // at least Low; +Inf is never written
}

// Constant returns the rule that requests x for every input.
func Constant(x float64) Rule { return Rule{Base: x, Low: x, High: x} }

// Known reports whether the rule asks for anything.
func (r Rule) Known() bool { return r.High > 0 }

// Sized reports whether the request depends on the size of the input.
func (r Rule) Sized() bool { return r.PerByte > 0 && r.High > r.Low }

// At returns the first request for a task with in bytes of input.
func (r Rule) At(in workflow.Bytes) float64 {
	return min(max(r.Base+r.PerByte*in, r.Low), r.High)
}

// Attempt returns the request of an attempt; 1 is the first.
func (r Rule) Attempt(in workflow.Bytes, attempt int) float64 {
	return math.Ldexp(r.At(in), attempt-1)
}

// times returns the rule that asks for f times as much.
func (r Rule) times(f float64) Rule {
	return Rule{Base: r.Base * f, PerByte: r.PerByte * f, Low: r.Low * f, High: r.High * f}
}

// plus returns the rule that asks for d more.
func (r Rule) plus(d float64) Rule {
	return Rule{Base: r.Base + d, PerByte: r.PerByte, Low: r.Low + d, High: r.High + d}
}

// rounded returns the rule with its amounts rounded up to whole units, at least floor. It asks for
// no less than r.
func (r Rule) rounded(unit, floor float64) Rule {
	up := func(x float64) float64 { return math.Ceil(x/unit-1e-9)*unit + 0 } // no -0
	low, high := max(up(r.Low), floor), max(up(r.High), floor)
	if !r.Sized() || low == high {
		return Constant(high)
	}
	return Rule{Base: up(r.Base), PerByte: upDigits(r.PerByte, 3), Low: low, High: high}
}

// upDigits rounds a positive number up to a number of digits.
func upDigits(x float64, digits int) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return x
	}
	e := math.Pow10(digits - 1 - int(math.Floor(math.Log10(x))))
	return math.Ceil(x*e*(1-1e-12)) / e
}
