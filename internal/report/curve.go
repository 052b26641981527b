package report

import (
	"fmt"
	"math"
	"strings"
)

// A Series is a named curve of points (X[i], Y[i]) in ascending order of X. A
// point that is not finite is a gap.
type Series struct {
	Name string
	X, Y []float64
	// Low and High bound a band around the curve; nil for none.
	Low, High []float64
	Dots      bool // points without a line
	Sign      Sign // the mark of a point of Dots in a picture
}

// A Sign is the mark of a point.
type Sign uint8

const (
	Dot  Sign = iota
	Up        // a triangle that points up
	Down      // a triangle that points down
)

func (s Series) check() {
	if len(s.X) != len(s.Y) || s.Low != nil && len(s.Low) != len(s.X) || len(s.Low) != len(s.High) {
		panic("report: slice length mismatch")
	}
}

// Spark returns values as one line of at most width bars, "▁▃▇"; a bar is the
// mean of its share of the values and a space stands for no finite value. The
// least bar is the least mean, the greatest the greatest. It is "" if width < 1.
func Spark(values []float64, width int) string {
	const bars = "▁▂▃▄▅▆▇█"
	n := min(len(values), width)
	if n < 1 {
		return ""
	}
	means := make([]float64, n)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range means {
		means[i] = finiteMean(values[i*len(values)/n : (i+1)*len(values)/n])
		if isFinite(means[i]) {
			low, high = min(low, means[i]), max(high, means[i])
		}
	}
	runes := []rune(bars)
	var b strings.Builder
	for _, m := range means {
		switch {
		case !isFinite(m):
			b.WriteByte(' ')
		case high == low:
			b.WriteRune(runes[0])
		default:
			// Halves first: the difference of two great floats may overflow.
			at := (m/2 - low/2) / (high/2 - low/2)
			b.WriteRune(runes[min(int(at*float64(len(runes))), len(runes)-1)])
		}
	}
	return b.String()
}

func finiteMean(x []float64) float64 {
	var sum, n float64
	for _, v := range x {
		if isFinite(v) {
			n++
			sum += (v - sum) / n // the running mean cannot overflow early
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum
}

// isFinite reports whether x can be drawn: it is finite, and so far from the
// greatest float that the margins of an axis do not overflow.
func isFinite(x float64) bool { return math.Abs(x) <= 1e300 }

// marks are the characters of the series of a [Curve], in turn.
const marks = "•+x*o#"

// Curve draws series into a grid of width by height characters, with the ranges at the left and below,
// and a legend if there is more than one series. The units of the axes are formatted by [SI]. It is ""
// if no point is finite, and panics if width or height is less than 2.
func Curve(series []Series, width, height int, xUnit, yUnit string) string {
	if width < 2 || height < 2 {
		panic(fmt.Sprintf("report: a curve of %d by %d", width, height))
	}
	x, y := ranges(series)
	if !isFinite(x.low) {
		return ""
	}
	grid := make([][]rune, height)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", width))
	}
	for k, s := range series {
		mark := []rune(marks)[k%len([]rune(marks))]
		for i := range s.X {
			if isFinite(s.X[i]) && isFinite(s.Y[i]) {
				col := int(math.Round(x.at(s.X[i]) * float64(width-1)))
				row := int(math.Round((1 - y.at(s.Y[i])) * float64(height-1)))
				grid[row][col] = mark
			}
		}
	}
	top, bottom := SI(y.high, yUnit), SI(y.low, yUnit)
	margin := max(Width(top), Width(bottom))
	var b strings.Builder
	for i, row := range grid {
		label := ""
		switch i {
		case 0:
			label = top
		case height - 1:
			label = bottom
		}
		b.WriteString(strings.Repeat(" ", margin-Width(label)) + label + " │" + strings.TrimRight(string(row), " ") + "\n")
	}
	b.WriteString(strings.Repeat(" ", margin) + " └" + strings.Repeat("─", width) + "\n")
	from, to := SI(x.low, xUnit), SI(x.high, xUnit)
	gap := max(1, width-Width(from)-Width(to))
	b.WriteString(strings.Repeat(" ", margin+2) + from + strings.Repeat(" ", gap) + to + "\n")
	if len(series) > 1 {
		b.WriteString(strings.Repeat(" ", margin+1))
		for k, s := range series {
			b.WriteString(" " + string([]rune(marks)[k%len([]rune(marks))]) + " " + Visible(s.Name))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// A span is a range of an axis.
type span struct{ low, high float64 }

// at returns where x is, 0 at low and 1 at high, 1/2 if they are equal.
func (s span) at(x float64) float64 {
	if s.high == s.low {
		return 0.5
	}
	return min(1, max(0, (x/2-s.low/2)/(s.high/2-s.low/2)))
}

func (s *span) include(x float64) {
	if isFinite(x) {
		s.low, s.high = min(s.low, x), max(s.high, x)
	}
}

// ranges returns the ranges of the finite points and bands of the series;
// infinite ones if there are none.
func ranges(series []Series) (x, y span) {
	x, y = span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, s := range series {
		s.check()
		for i := range s.X {
			if !isFinite(s.X[i]) || !isFinite(s.Y[i]) {
				continue
			}
			x.include(s.X[i])
			y.include(s.Y[i])
			if s.Low != nil {
				y.include(s.Low[i])
				y.include(s.High[i])
			}
		}
	}
	return x, y
}
