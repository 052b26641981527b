package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// A Chart is a line chart for a page.
type Chart struct {
	Title          string
	XLabel, YLabel string // with the unit
	LogX, LogY     bool   // logarithmic axes; points that are not positive are gaps
	Series         []Series
	Width, Height  int // in pixels; 0 means 640 and 400
}

// A Bar is a bar of a [BarChart] with its interval.
type Bar struct {
	Name      string
	Value     float64 // not finite: no bar
	Low, High float64 // both 0: no interval
}

// A BarChart is a chart of horizontal bars from 0, one below the other.
type BarChart struct {
	Title, XLabel string
	Bars          []Bar
	Width         int // in pixels; 0 means 640
}

// colours are those of Okabe & Ito 2008, which colour-blind people can tell
// apart; the black is left to the axes.
var colours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// An svg collects the elements of a picture.
type svg struct{ strings.Builder }

func (b *svg) add(format string, args ...any) {
	fmt.Fprintf(&b.Builder, format+"\n", args...)
}

func (b *svg) text(x, y float64, anchor, s string) {
	b.add(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, xmlText(s))
}

func (b *svg) line(class string, x1, y1, x2, y2 float64) {
	b.add(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// open starts the picture. It has no script and no reference to anything outside.
func (b *svg) open(width, height int, title string) {
	b.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="12">`, width, height, width, height)
	b.add(`<title>%s</title>`, xmlText(title))
	b.add(`<style>.axis{stroke:#333}.grid{stroke:#ddd}.whisker{stroke:#333;stroke-width:1.5}text{fill:#333}</style>`)
	b.add(`<rect width="%d" height="%d" fill="#fff"/>`, width, height)
	if title != "" {
		b.add(`<text x="%d" y="20" text-anchor="middle" font-size="14" font-weight="bold">%s</text>`, width/2, xmlText(title))
	}
}

func (b *svg) close(w io.Writer) error {
	b.add("</svg>")
	_, err := io.WriteString(w, b.String())
	return err
}

// xmlText escapes s, without the characters that XML 1.0 does not allow.
func xmlText(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// WriteSVG writes the chart as one SVG document. A chart without a finite point
// has axes only. Series of different lengths of X and Y panic.
func (c Chart) WriteSVG(w io.Writer) error {
	width, height := c.Width, c.Height
	if width == 0 {
		width = 640
	}
	if height == 0 {
		height = 400
	}
	series := c.scaled()
	x, y := ranges(series)
	if !isFinite(x.low) {
		x, y = span{0, 1}, span{0, 1}
	}
	xTicks, x := axisTicks(x, c.LogX, max(2, width/100))
	yTicks, y := axisTicks(y, c.LogY, max(2, height/60))

	margin := 0.0
	for _, t := range yTicks {
		margin = max(margin, float64(Width(t.label)))
	}
	left, right := 30+7*margin, float64(width)-15
	top, bottom := 35.0, float64(height)-45
	if len(series) > 1 {
		bottom -= 20
	}
	px := func(v float64) float64 { return left + x.at(v)*(right-left) }
	py := func(v float64) float64 { return bottom - y.at(v)*(bottom-top) }

	var b svg
	b.open(width, height, c.Title)
	for _, t := range yTicks {
		b.line("grid", left, py(t.at), right, py(t.at))
		b.text(left-6, py(t.at)+4, "end", t.label)
	}
	for _, t := range xTicks {
		b.line("grid", px(t.at), top, px(t.at), bottom)
		b.text(px(t.at), bottom+16, "middle", t.label)
	}
	b.line("axis", left, bottom, right, bottom)
	b.line("axis", left, top, left, bottom)
	b.text((left+right)/2, bottom+34, "middle", c.XLabel)
	b.add(`<text transform="translate(14 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, (top+bottom)/2, xmlText(c.YLabel))
	for k, s := range series {
		b.series(s, colours[k%len(colours)], px, py)
	}
	if len(series) > 1 {
		b.legend(series, left, float64(height)-8)
	}
	return b.close(w)
}

// scaled returns the series on the scales of the axes.
func (c Chart) scaled() []Series {
	scale := func(v []float64, logarithmic bool) []float64 {
		if !logarithmic || v == nil {
			return v
		}
		out := make([]float64, len(v))
		for i := range v {
			out[i] = math.Log10(v[i]) // NaN or -Inf: a gap
		}
		return out
	}
	var out []Series
	for _, s := range c.Series {
		s.check()
		s.X, s.Y = scale(s.X, c.LogX), scale(s.Y, c.LogY)
		s.Low, s.High = scale(s.Low, c.LogY), scale(s.High, c.LogY)
		out = append(out, s)
	}
	return out
}

func axisTicks(s span, logarithmic bool, n int) ([]tick, span) {
	if logarithmic {
		return logTicks(s)
	}
	return ticks(s, n)
}

// series draws the band, then the line or the dots, one path for each stretch
// without a gap.
func (b *svg) series(s Series, colour string, px, py func(float64) float64) {
	for from := 0; from < len(s.X); {
		if !isFinite(s.X[from]) || !isFinite(s.Y[from]) {
			from++
			continue
		}
		to := from
		for to < len(s.X) && isFinite(s.X[to]) && isFinite(s.Y[to]) {
			to++
		}
		// Invariant: the points from:to are finite, and those at from-1 and
		// to are not, or do not exist.
		if s.Low != nil {
			b.band(s, from, to, colour, px, py)
		}
		if s.Dots || to-from == 1 {
			for i := from; i < to; i++ {
				b.add(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, px(s.X[i]), py(s.Y[i]), colour)
			}
		} else {
			b.WriteString(`<polyline fill="none" stroke="` + colour + `" stroke-width="2" points="`)
			for i := from; i < to; i++ {
				fmt.Fprintf(b, "%.1f,%.1f ", px(s.X[i]), py(s.Y[i]))
			}
			b.WriteString("\"/>\n")
		}
		from = to
	}
}

// band fills the area between Low and High; a bound that is not finite is the
// curve itself.
func (b *svg) band(s Series, from, to int, colour string, px, py func(float64) float64) {
	bound := func(v, y float64) float64 {
		if isFinite(v) {
			return v
		}
		return y
	}
	b.WriteString(`<polygon fill="` + colour + `" fill-opacity="0.2" points="`)
	for i := from; i < to; i++ {
		fmt.Fprintf(b, "%.1f,%.1f ", px(s.X[i]), py(bound(s.Low[i], s.Y[i])))
	}
	for i := to - 1; i >= from; i-- {
		fmt.Fprintf(b, "%.1f,%.1f ", px(s.X[i]), py(bound(s.High[i], s.Y[i])))
	}
	b.WriteString("\"/>\n")
}

func (b *svg) legend(series []Series, x, y float64) {
	for k, s := range series {
		b.add(`<rect x="%.1f" y="%.1f" width="12" height="4" fill="%s"/>`, x, y-6, colours[k%len(colours)])
		b.text(x+16, y, "start", s.Name)
		x += 30 + 7*float64(Width(s.Name))
	}
}

// WriteSVG writes the bars as one SVG document.
func (c BarChart) WriteSVG(w io.Writer) error {
	const row = 26
	width := c.Width
	if width == 0 {
		width = 640
	}
	height := 35 + row*len(c.Bars) + 45
	x := span{0, 0}
	names := 0
	for _, bar := range c.Bars {
		x.include(bar.Value)
		if isFinite(bar.Value) {
			x.include(bar.Low)
			x.include(bar.High)
		}
		names = max(names, Width(bar.Name))
	}
	marks, x := ticks(x, max(2, width/100))
	left, right := 20+7*float64(names), float64(width)-20
	bottom := float64(height) - 45
	px := func(v float64) float64 { return left + x.at(v)*(right-left) }

	var b svg
	b.open(width, height, c.Title)
	for _, t := range marks {
		b.line("grid", px(t.at), 30, px(t.at), bottom)
		b.text(px(t.at), bottom+16, "middle", t.label)
	}
	for i, bar := range c.Bars {
		y := 35 + row*float64(i)
		b.text(left-6, y+14, "end", bar.Name)
		if !isFinite(bar.Value) {
			b.text(px(0)+4, y+14, "start", "n/a")
			continue
		}
		from, to := min(px(0), px(bar.Value)), max(px(0), px(bar.Value))
		b.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="18" fill="%s"/>`, from, y, to-from, colours[0])
		if (bar.Low != 0 || bar.High != 0) && isFinite(bar.Low) && isFinite(bar.High) {
			b.line("whisker", px(bar.Low), y+9, px(bar.High), y+9)
			b.line("whisker", px(bar.Low), y+5, px(bar.Low), y+13)
			b.line("whisker", px(bar.High), y+5, px(bar.High), y+13)
		}
	}
	b.line("axis", px(0), 30, px(0), bottom)
	b.text((left+right)/2, bottom+34, "middle", c.XLabel)
	return b.close(w)
}
