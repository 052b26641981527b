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

// logTicks returns ticks of a logarithmic axis to base 10, at least two, and the
// span with a little room on both sides: the data fill the axis, whether or not they
// end at round values. Ticks are whole powers, with 2 and 5 times them if there are
// fewer than 3, or all multiples if there are still fewer.
func logTicks(s span) ([]tick, span) {
	s = logRoom(s)
	every := math.Ceil((s.high - s.low) / 8)
	for _, minor := range [][]float64{{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}} {
		var out []tick
		for e := math.Floor(s.low); e <= s.high; e += every {
			for _, m := range minor {
				if v := e + math.Log10(m); s.low <= v && v <= s.high {
					out = append(out, tick{v, Number(m*math.Pow(10, e), 3)})
				}
			}
		}
		if len(out) >= 3 {
			return out, s
		}
	}
	return narrowTicks(s, func(v float64) string { return Number(v, 4) }), s
}

// logRoom returns the span with a thirtieth of it on both sides, at least a tenth of
// the value.
func logRoom(s span) span {
	room := max((s.high-s.low)/30, 0.04)
	return span{s.low - room, s.high + room}
}

// narrowTicks returns three ticks of a span of logarithms that no round values are
// in.
func narrowTicks(s span, label func(float64) string) []tick {
	var out []tick
	for _, at := range []float64{0.15, 0.5, 0.85} {
		v := s.low + at*(s.high-s.low)
		out = append(out, tick{v, label(math.Pow(10, v))})
	}
	return out
}

// The steps of ticks of a time, coarse and fine, in seconds.
var (
	coarseTimes = []float64{1, 10, 60, 600, 3600, 6 * 3600, 86400, 10 * 86400, 100 * 86400}
	middleTimes = []float64{
		1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 4 * 3600, 8 * 3600, 16 * 3600, 86400,
		2 * 86400, 5 * 86400, 10 * 86400, 20 * 86400, 50 * 86400, 100 * 86400,
	}
	fineTimes = []float64{
		1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 55, 60, 75, 90, 105, 120, 150,
		180, 210, 240, 300, 360, 420, 480, 540, 600, 720, 840, 960, 1080, 1200, 1500, 1800, 2100, 2400, 2700, 3000,
		3300, 3600, 4500, 5400, 6300, 7200, 9000, 10800, 12600, 14400, 5 * 3600, 6 * 3600, 7 * 3600, 8 * 3600,
		10 * 3600, 12 * 3600, 14 * 3600, 16 * 3600, 20 * 3600, 86400, 36 * 3600, 2 * 86400, 3 * 86400, 4 * 86400,
		5 * 86400, 6 * 86400, 8 * 86400, 10 * 86400, 15 * 86400, 20 * 86400, 30 * 86400, 40 * 86400, 50 * 86400,
		75 * 86400, 100 * 86400,
	}
)

// logTimeTicks is logTicks for logarithms of seconds: at round seconds, minutes,
// hours and days.
func logTimeTicks(s span) ([]tick, span) {
	if s.low < 0 || s.high > math.Log10(100*86400) {
		out, s := logTicks(s)
		for i := range out {
			out[i].label = Seconds(math.Pow(10, out[i].at))
		}
		return out, s
	}
	s = logRoom(s)
	for _, times := range [][]float64{coarseTimes, middleTimes, fineTimes} {
		var out []tick
		for _, t := range times {
			if v := math.Log10(t); s.low <= v && v <= s.high {
				out = append(out, tick{v, Seconds(t)})
			}
		}
		if len(out) >= 3 {
			return out, s
		}
	}
	return narrowTicks(s, Seconds), s
}

// timeTicks returns round times from 0 to at most high, about n of them; 0 alone if
// high is not positive.
func timeTicks(high float64, n int) []float64 {
	if !(high > 0) {
		return []float64{0}
	}
	step := niceStep(high / float64(n))
	for _, t := range middleTimes {
		if step > 5 && t >= high/float64(n) {
			step = t
			break
		}
	}
	var out []float64
	for k := 0.0; k*step <= high*(1+1e-9); k++ {
		out = append(out, k*step)
	}
	return out
}
