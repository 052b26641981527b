package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// digits is the number of significant digits of a number without an interval.
const digits = 3

// A scale is a unit and how many base units it is.
type scale struct {
	name string
	size float64
}

var (
	times = []scale{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}
	// clock are the units from which a time is written in two parts.
	clock    = []scale{{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}}
	prefixes = []scale{
		{"p", 1e-12},
		{"n", 1e-9},
		{"µ", 1e-6},
		{"m", 1e-3},
		{"", 1},
		{"k", 1e3},
		{"M", 1e6},
		{"G", 1e9},
		{"T", 1e12},
		{"P", 1e15},
		{"E", 1e18},
	}
)

// Number returns x with at most the given number of significant digits and no
// trailing zeros after the point: "1.23", "0.00045", "12300". Outside 1e-5 to
// 1e9 it is "1.23e12". NaN is "n/a" and infinities are "∞" and "−∞".
func Number(x float64, significant int) string {
	switch {
	case math.IsNaN(x):
		return "n/a"
	case math.IsInf(x, 0):
		return sign(x) + "∞"
	case x == 0:
		return "0"
	}
	x = Round(x, significant)
	if a := math.Abs(x); a < 1e-5 || a >= 1e9 {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(a, 'e', significant-1, 64), "e")
		n, _ := strconv.Atoi(exponent)
		return sign(x) + trimZeros(mantissa) + "e" + minus(strconv.Itoa(n))
	}
	return minus(strconv.FormatFloat(x, 'f', -1, 64))
}

// Round rounds x to a number of significant digits.
func Round(x float64, significant int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', significant-1, 64), 64)
	if err != nil { // rounded up past the greatest float
		return x
	}
	return r
}

// Seconds returns a time in seconds for people: "45 ms", "1.23 s", "2 min 13 s",
// "2 h 13 min", "3 d 4 h". Zero is "0 s".
func Seconds(s float64) string {
	if s == 0 || math.IsNaN(s) || math.IsInf(s, 0) {
		return Number(s, digits) + " s"
	}
	a := Round(math.Abs(s), digits)
	if a < 60 {
		u := unitFor(a, times[:4])
		return sign(s) + Number(a/u.size, digits) + " " + u.name
	}
	// The greatest unit of which there is one after rounding to the next
	// smaller unit; at least minutes, since 59.95 s rounds to 60 s.
	a = math.Abs(s)
	i := 0
	for i < len(clock)-2 && math.Round(a/clock[i+1].size)*clock[i+1].size < clock[i].size {
		i++
	}
	big, small := clock[i], clock[i+1]
	n, per := math.Round(a/small.size), math.Round(big.size/small.size)
	text := sign(s) + strconv.FormatFloat(math.Floor(n/per), 'f', 0, 64) + " " + big.name
	if rest := math.Mod(n, per); rest > 0 {
		text += " " + strconv.FormatFloat(rest, 'f', 0, 64) + " " + small.name
	}
	return text
}

// ManyTimes is the ratio of two values above which their difference is shown as a factor: "25 times", not "2400 %".
const ManyTimes = 3

// Count returns "1 study" or "3 studies".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Duration is [Seconds] of d.
func Duration(d time.Duration) string { return Seconds(d.Seconds()) }

// SI returns x with a unit and the prefix that brings it between 1 and 1000: "1.23 MB", "45 mJ", "0 W".
// The unit "s" is formatted by [Seconds], and a unit of "" gives a plain [Number].
func SI(x float64, unit string) string {
	switch {
	case unit == "s":
		return Seconds(x)
	case unit == "":
		return Number(x, digits)
	case x == 0 || math.IsNaN(x) || math.IsInf(x, 0):
		return Number(x, digits) + " " + unit
	}
	u := unitFor(Round(x, digits), scalesOf(unit))
	return Number(x/u.size, digits) + " " + u.name
}

// Bytes returns a size with decimal prefixes: "512 B", "1.23 MB".
func Bytes(n float64) string { return SI(n, "B") }

// scalesOf returns the scales of a unit: times, SI prefixes (nothing below one
// byte), or the unit itself if it is not one that takes prefixes.
func scalesOf(unit string) []scale {
	switch unit {
	case "s":
		return times
	case "":
		return []scale{{"", 1}}
	}
	from := prefixes
	if strings.HasPrefix(unit, "B") {
		from = prefixes[4:]
	}
	if strings.ContainsAny(unit, "%0123456789 ") {
		from = prefixes[4:5]
	}
	scales := make([]scale, len(from))
	for i, p := range from {
		scales[i] = scale{p.name + unit, p.size}
	}
	return scales
}

// unitFor returns the greatest scale that is at most |x|, or the least one.
func unitFor(x float64, scales []scale) scale {
	u := scales[0]
	for _, s := range scales {
		if math.Abs(x) >= s.size*(1-1e-9) {
			u = s
		}
	}
	return u
}

func sign(x float64) string {
	if x < 0 {
		return "−"
	}
	return ""
}

// minus writes the ASCII minus of a number as U+2212.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
