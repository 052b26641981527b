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
	XLabel, YLabel string    // with the unit
	LogX, LogY     bool      // logarithmic axes; points that are not positive are gaps
	YTime          bool      // Y is in seconds; with LogY, ticks are round times
	XAt            []float64 // where X has ticks, nil for round values
	Series         []Series
	Marks          []Mark
	Width, Height  int // in pixels; 0 means 640 and 400
}

// A Mark is a ring around a point of a chart with a text beside it.
type Mark struct {
	X, Y float64
	Text string
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

// colours are the colours of Okabe & Ito 2008, which colour-blind people can distinguish; the black is
// left to the axes.
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
	b.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" `+
		`role="img" font-family="sans-serif" font-size="12">`, width, height, width, height)
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
	xTicks, x := c.xTicks(x, width)
	yTicks, y := c.yTicks(y, height)

	margin := 0.0
	for _, t := range yTicks {
		margin = max(margin, float64(Width(t.label)))
	}
	left, right := 30+7*margin, float64(width)-20
	rows := legendRows(series, right-left)
	if len(rows) > 2 { // the plot stays as high as with two
		height += legendLine * (len(rows) - 2)
	}
	top, bottom := 35.0, float64(height-45-legendLine*len(rows))
	px := func(v float64) float64 { return left + x.at(v)*(right-left) }
	py := func(v float64) float64 { return bottom - y.at(v)*(bottom-top) }

	var b svg
	b.open(width, height, c.Title)
	for _, t := range yTicks {
		b.line("grid", left, py(t.at), right, py(t.at))
		b.text(left-6, py(t.at)+4, "end", t.label)
	}
	free := 0.0 // of labels, from here to the right
	for _, t := range xTicks {
		b.line("grid", px(t.at), top, px(t.at), bottom)
		if half := 3.5 * float64(Width(t.label)); px(t.at)-half >= free {
			b.text(px(t.at), bottom+16, "middle", t.label)
			free = px(t.at) + half + 5
		}
	}
	b.line("axis", left, bottom, right, bottom)
	b.line("axis", left, top, left, bottom)
	b.text((left+right)/2, bottom+34, "middle", c.XLabel)
	b.add(`<text transform="translate(14 %.1f) rotate(-90)" text-anchor="middle">%s</text>`,
		(top+bottom)/2, xmlText(c.YLabel))
	for k, s := range series {
		b.series(s, k, px, py)
	}
	for _, m := range c.Marks {
		b.mark(px(scaled(m.X, c.LogX)), py(scaled(m.Y, c.LogY)), (left+right)/2, m.Text)
	}
	b.legend(series, rows, left, bottom+52)
	return b.close(w)
}

// scaled returns a value on the scale of its axis.
func scaled(v float64, logarithmic bool) float64 {
	if logarithmic {
		return math.Log10(v)
	}
	return v
}

// xTicks returns the ticks of X, and the span that its axis has.
func (c *Chart) xTicks(x span, width int) ([]tick, span) {
	if c.XAt == nil {
		return axisTicks(x, c.LogX, max(2, width/100))
	}
	var out []tick
	for _, v := range c.XAt {
		if at := scaled(v, c.LogX); x.low <= at && at <= x.high {
			out = append(out, tick{at, Number(v, 6)})
		}
	}
	if room := (x.high - x.low) / 30; room > 0 {
		return out, span{x.low - room, x.high + room}
	}
	return out, span{x.low - 1, x.high + 1}
}

// yTicks returns the ticks of Y, and the span that its axis has.
func (c *Chart) yTicks(y span, height int) ([]tick, span) {
	if c.YTime && c.LogY {
		return logTimeTicks(y)
	}
	return axisTicks(y, c.LogY, max(2, height/60))
}

// scaled returns the series on the scales of the axes.
func (c Chart) scaled() []Series {
	scale := func(v []float64, logarithmic bool) []float64 {
		if !logarithmic || v == nil {
			return v
		}
		out := make([]float64, len(v))
		for i := range v {
			out[i] = scaled(v[i], true) // NaN or -Inf: a gap
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
func (b *svg) series(s Series, k int, px, py func(float64) float64) {
	colour := colours[k%len(colours)]
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
				b.point(px(s.X[i]), py(s.Y[i]), s.Sign, colour)
			}
		} else {
			b.WriteString(`<polyline fill="none" stroke="` + colour + `" stroke-width="2"` + dashes(k) + ` points="`)
			for i := from; i < to; i++ {
				fmt.Fprintf(b, "%.1f,%.1f ", px(s.X[i]), py(s.Y[i]))
			}
			b.WriteString("\"/>\n")
		}
		from = to
	}
}

// dashes returns the pattern that distinguishes the lines of a chart that have one colour.
func dashes(k int) string {
	if k /= len(colours); k > 0 {
		return fmt.Sprintf(` stroke-dasharray="%d 3"`, 9/k)
	}
	return ""
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

// point draws one point of a series.
func (b *svg) point(x, y float64, sign Sign, colour string) {
	if sign == Dot {
		b.add(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x, y, colour)
		return
	}
	h := 5.0 // from the centre to the tip
	if sign == Down {
		h = -h
	}
	b.add(`<polygon fill="%s" points="%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`, colour, x, y-h, x-4.5, y+0.7*h, x+4.5, y+0.7*h)
}

// mark draws a ring and its text, on the side of the ring that is towards middle.
func (b *svg) mark(x, y, middle float64, text string) {
	b.add(`<circle class="mark" cx="%.1f" cy="%.1f" r="7" fill="none" stroke="#333" stroke-width="1.5"/>`, x, y)
	anchor, at := "start", x+10
	if x > middle {
		anchor, at = "end", x-10
	}
	b.add(`<text x="%.1f" y="%.1f" text-anchor="%s" font-weight="bold" `+
		`paint-order="stroke" stroke="#fff" stroke-width="3">%s</text>`, at, y-10, anchor, xmlText(text))
}

// legendLine is the height of a line of the legend.
const legendLine = 18

// legendRows returns how many series each line of the legend has: none for one
// series, which needs no name.
func legendRows(series []Series, width float64) (rows []int) {
	if len(series) < 2 {
		return nil
	}
	used := math.Inf(1)
	for _, s := range series {
		w := legendWidth(s)
		if used+w > width {
			rows, used = append(rows, 0), 0
		}
		rows[len(rows)-1]++
		used += w
	}
	return rows
}

func legendWidth(s Series) float64 { return 30 + 7*float64(Width(s.Name)) }

func (b *svg) legend(series []Series, rows []int, left, y float64) {
	k := 0
	for _, n := range rows {
		x := left
		for range n {
			s, colour := series[k], colours[k%len(colours)]
			if s.Dots {
				b.point(x+6, y-4, s.Sign, colour)
			} else {
				b.add(`<path d="M%.1f %.1fh13" stroke="%s" stroke-width="3"%s/>`, x, y-4, colour, dashes(k))
			}
			b.text(x+16, y, "start", s.Name)
			x += legendWidth(s)
			k++
		}
		y += legendLine
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
