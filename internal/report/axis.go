package report

import "math"

// A tick is a labelled place on an axis.
type tick struct {
	at    float64 // the value
	label string
}

// ticks returns round values that cover the span, about n of them: multiples of
// 1, 2 or 5 times a power of ten, and the span widened to the outer ones. A span
// that is too narrow for labels of six digits is widened first.
// Reference: Heckbert, "Nice numbers for graph labels", Graphics Gems 1990.
func ticks(s span, n int) ([]tick, span) {
	if size := max(math.Abs(s.low), math.Abs(s.high)); s.high-s.low <= 1e-5*size || size < 1e-300 {
		pad := size / 10
		if size < 1e-300 {
			pad = 1
		}
		s = span{s.low - pad, s.high + pad}
	}
	step := niceStep((s.high/2 - s.low/2) / float64(n) * 2)
	first, last := math.Floor(s.low/step+1e-9), math.Ceil(s.high/step-1e-9)
	var out []tick
	for k := first; k <= last; k++ {
		v := k * step
		out = append(out, tick{v, Number(v, 6)})
	}
	return out, span{first * step, last * step}
}

// niceStep returns the least of 1, 2, 5 or 10 times a power of ten that is at
// least x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if x <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logTicks is ticks for a span of logarithms to base 10: whole powers, with 2
// and 5 times them if there are fewer than 3.
func logTicks(s span) ([]tick, span) {
	s = span{math.Floor(s.low + 1e-9), math.Ceil(s.high - 1e-9)}
	if s.low == s.high {
		s.high++
	}
	minor := []float64{1}
	if s.high-s.low <= 2 {
		minor = []float64{1, 2, 5}
	}
	every := math.Ceil((s.high - s.low) / 8)
	var out []tick
	for e := s.low; e <= s.high; e += every {
		for _, m := range minor {
			if v := e + math.Log10(m); v <= s.high {
				out = append(out, tick{v, Number(m*math.Pow(10, e), 3)})
			}
		}
	}
	return out, s
}
