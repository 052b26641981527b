package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
)

// A Gantt is a drawing of who was busy with what and when: a row for each worker,
// a bar for each piece of work, a colour for each kind.
type Gantt struct {
	Title string
	Row   string // what a row is, "slot"
	Rows  int
	Span  float64              // length of the axis of time, from 0
	Time  func(float64) string // text of a time or a length of time
	Bars  []GanttBar
}

// A GanttBar is one piece of work. To >= From, and Row is below the Gantt's Rows.
type GanttBar struct {
	Row        int
	From, To   float64
	Name, Kind string
}

const (
	// maxBars bounds the bars of a drawing: what is narrower than a pixel is not
	// seen, and a browser must be able to open it.
	maxBars = 20000

	ganttWidth = 900.0
	ganttLeft  = 60.0 // of the axis
	ganttTop   = 40.0
	ganttRow   = 18.0 // height of a row, as long as there are at most ganttTall
	ganttTall  = 40
)

// WriteSVG writes the drawing as one SVG document. Of more than 20,000 bars it
// draws the longest.
func (g *Gantt) WriteSVG(w io.Writer) error {
	row := ganttRow
	if g.Rows > ganttTall {
		row = max(1, 720/float64(g.Rows))
	}
	bottom := ganttTop + row*float64(g.Rows)
	b := &svg{}
	b.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`role="img" font-family="sans-serif" font-size="11">`, ganttWidth, bottom+60, ganttWidth, bottom+60)
	b.add(`<title>%s</title>`, xmlText(g.Title))
	b.add(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	b.add(`<text x="%.0f" y="20" font-size="14" font-weight="bold">%s</text>`, ganttLeft, xmlText(g.Title))
	span := max(g.Span, 1e-12) // of an empty drawing too
	scale := (ganttWidth - ganttLeft - 20) / span
	colour := map[string]int{} // of a kind, in the order of first bars
	for _, x := range g.longest() {
		if _, ok := colour[x.Kind]; !ok {
			colour[x.Kind] = len(colour)
		}
		b.add(`<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"><title>%s %s</title></rect>`,
			ganttLeft+x.From*scale, ganttTop+row*float64(x.Row), max((x.To-x.From)*scale, 0.3), row*0.9,
			hue(colour[x.Kind]), xmlText(x.Name), g.Time(x.To-x.From))
	}
	const steps = 5
	for i := range steps + 1 {
		at := span * float64(i) / steps
		b.text(ganttLeft+at*scale, bottom+16, "middle", g.Time(at))
	}
	b.add(`<text x="8" y="%.1f">%s</text>`, ganttTop+10, xmlText(g.Row))
	b.kinds(colour, bottom)
	return b.close(w)
}

// longest returns the bars to draw: all in their order, or the longest maxBars.
func (g *Gantt) longest() []GanttBar {
	if len(g.Bars) <= maxBars {
		return g.Bars
	}
	bars := slices.Clone(g.Bars)
	slices.SortStableFunc(bars, func(a, b GanttBar) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	return bars[:maxBars]
}

// kinds writes the legend below the axis, for as many kinds as there is room.
func (b *svg) kinds(colour map[string]int, bottom float64) {
	byNumber := func(x, y string) int { return cmp.Compare(colour[x], colour[y]) }
	at := ganttLeft
	for _, k := range slices.SortedFunc(maps.Keys(colour), byNumber) {
		b.add(`<rect x="%.1f" y="%.1f" width="10" height="10" fill="%s"/><text x="%.1f" y="%.1f">%s</text>`,
			at, bottom+28, hue(colour[k]), at+14, bottom+37, xmlText(k))
		if at += 24 + 7*float64(len(k)); at > ganttWidth-80 {
			return
		}
	}
}

// hue returns the colour of number i. Steps of 137 degrees, about the golden
// angle, keep any few consecutive colours apart.
func hue(i int) string { return fmt.Sprintf("hsl(%d 60%% 60%%)", i*137%360) }
