package report

import (
	"math"
	"strconv"
)

// Measured returns a value with its interval, both to the digits that the
// interval deserves: "1.23 s ± 0.04", or "1.23 s [1.20, 1.31]" if the interval is
// not nearly symmetric. The uncertainty has one significant digit, two if the
// first is a 1 or 2. An interval of zero width adds nothing, an infinite or unknown one
// adds "± ∞".
func Measured(value, low, high float64, unit string) string {
	if math.IsNaN(value) || math.IsInf(value, 0) || low == value && high == value {
		return SI(value, unit)
	}
	if math.IsNaN(low+high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return SI(value, unit) + " ± ∞"
	}
	u := unitFor(Round(max(math.Abs(value), math.Abs(low), math.Abs(high)), digits), scalesOf(unit))
	below, above := (value-low)/u.size, (high-value)/u.size
	half := max(math.Abs(below), math.Abs(above))
	places := placesOf(half)
	name := ""
	if u.name != "" {
		name = " " + u.name
	}
	text := fixed(value/u.size, places) + name
	if math.Abs(above-below) <= 0.2*half {
		return text + " ± " + fixed(half, places)
	}
	return text + " [" + fixed(low/u.size, places) + ", " + fixed(high/u.size, places) + "]"
}

// Percent returns a fraction as a signed percentage of at most three
// significant digits: "+12.5 %", "−31 %", "0 %".
func Percent(fraction float64) string {
	text := Number(100*fraction, digits) + " %"
	if fraction > 0 {
		return "+" + text
	}
	return text
}

// placesOf returns how many decimals an uncertainty deserves.
func placesOf(half float64) int {
	if half <= 0 {
		return digits - 1
	}
	exponent := int(math.Floor(math.Log10(half)))
	places := -exponent
	if lead := half / math.Pow(10, float64(exponent)); lead < 2.95 {
		places++
	}
	return min(max(places, 0), 9)
}

// fixed returns x with a fixed number of decimals.
func fixed(x float64, places int) string {
	text := strconv.FormatFloat(x, 'f', places, 64)
	if zero, err := strconv.ParseFloat(text, 64); err == nil && zero == 0 {
		return strconv.FormatFloat(0, 'f', places, 64) // never −0
	}
	return minus(text)
}
