package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Gantt is a drawing of who was busy with which work and when: a row for each worker, a bar for each
// piece of work, a colour for each kind.
type Gantt struct {
	Title string
	Row   string // the name of a row, "slot"
	Rows  int
	Span  float64              // length of the axis of time in seconds, from 0
	Time  func(float64) string // text of the length of a bar
	Bars  []GanttBar
}

// A GanttBar is one piece of work. To >= From, and Row is below the Gantt's Rows.
type GanttBar struct {
	Row        int
	From, To   float64
	Name, Kind string
}

const (
	// maxBars bounds the bars of a drawing: a bar narrower than a pixel is not seen, and a browser must be
	// able to open it.
	maxBars = 20000

	ganttWidth = 900.0
	ganttLeft  = 60.0 // of the axis
	ganttTop   = 40.0
	ganttRow   = 18.0 // height of a row, as long as there are at most ganttTall
	ganttTall  = 40

	ganttTicks  = 6    // about how many times are labelled
	ganttLegend = 16.0 // height of a line of the legend
	ganttLines  = 3    // of the legend, at most
)

// WriteSVG writes the drawing as one SVG document. If there are more than 20,000 bars, it draws the
// longest.
func (g *Gantt) WriteSVG(w io.Writer) error {
	row := ganttRow
	if g.Rows > ganttTall {
		row = max(1, 720/float64(g.Rows))
	}
	bottom := ganttTop + row*float64(g.Rows)
	b := &svg{}
	b.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`role="img" font-family="sans-serif" font-size="11">`, ganttWidth, bottom+80, ganttWidth, bottom+80)
	b.add(`<title>%s</title>`, xmlText(g.Title))
	b.add(`<style>.grid{stroke:#bbb}text{fill:#333}</style>`)
	b.add(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	b.add(`<text x="%.0f" y="20" font-size="14" font-weight="bold">%s</text>`, ganttLeft, xmlText(g.Title))
	span := max(g.Span, 1e-12) // of an empty drawing too
	scale := (ganttWidth - ganttLeft - 20) / span
	kinds := g.kinds()
	colour := map[string]int{}
	for i, k := range kinds {
		colour[k.name] = i
	}
	for _, x := range g.longest() {
		b.add(`<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"><title>%s %s</title></rect>`,
			ganttLeft+x.From*scale, ganttTop+row*float64(x.Row), max((x.To-x.From)*scale, 0.3), row*0.9,
			hue(colour[x.Kind]), xmlText(x.Name), g.Time(x.To-x.From))
	}
	for _, at := range timeTicks(g.Span, ganttTicks) {
		label, x := Seconds(at), ganttLeft+at*scale
		b.line("grid", x, ganttTop, x, bottom+4)
		// A label must end within the picture.
		b.text(min(x, ganttWidth-4-3.5*float64(Width(label))), bottom+18, "middle", label)
	}
	b.add(`<text x="8" y="%.1f">%s</text>`, ganttTop+10, xmlText(g.Row))
	b.legendOfKinds(kinds, bottom+28)
	return b.close(w)
}

// A ganttKind is a kind of bars and how long all of them are together.
type ganttKind struct {
	name  string
	total float64
}

// kinds returns the kinds of all bars, the one that takes longest first.
func (g *Gantt) kinds() []ganttKind {
	total := map[string]float64{}
	for _, x := range g.Bars {
		total[x.Kind] += x.To - x.From
	}
	var out []ganttKind
	for k, t := range total {
		out = append(out, ganttKind{k, t})
	}
	slices.SortFunc(out, func(a, b ganttKind) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name))
	})
	return out
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

// legendOfKinds names the kinds that take longest with their share of the time, in as many lines as the
// drawing has room for, and counts the rest.
func (b *svg) legendOfKinds(kinds []ganttKind, y float64) {
	all := 0.0
	for _, k := range kinds {
		all += k.total
	}
	prefix := commonPrefix(kinds)
	at, line, rest := ganttLeft, 1, 1.0
	for i, k := range kinds {
		name := shortKind(k.name[prefix:])
		share := 0.0
		if all > 0 {
			share = k.total / all
		}
		text := fmt.Sprintf("%s %.0f %%", name, 100*share)
		width := 30 + 7.6*float64(Width(text)) // of capitals, which most kinds are
		if at+width > ganttWidth && at > ganttLeft {
			at, y, line = ganttLeft, y+ganttLegend, line+1
		}
		// The last line keeps room to count the rest.
		if line > ganttLines || line == ganttLines && i < len(kinds)-1 && at+width > ganttWidth-180 {
			b.text(at, y+9, "start", fmt.Sprintf("and %d more, %.0f %%", len(kinds)-i, 100*max(0, rest)))
			return
		}
		b.add(`<rect x="%.1f" y="%.1f" width="10" height="10" fill="%s"/>`, at, y, hue(i))
		b.text(at+14, y+9, "start", text)
		at += width
		rest -= share
	}
}

// commonPrefix returns how long the beginning is that the names of all kinds share,
// up to and with its last dot or colon.
func commonPrefix(kinds []ganttKind) int {
	if len(kinds) < 2 {
		return 0
	}
	same := kinds[0].name
	for _, k := range kinds[1:] {
		for !strings.HasPrefix(k.name, same) {
			same = same[:len(same)-1]
		}
	}
	return strings.LastIndexAny(same, ".:") + 1
}

// shortKind returns the end of a long name, from a dot or colon if there is one.
func shortKind(s string) string {
	const most = 30
	if Width(s) <= most {
		return s
	}
	if i := strings.LastIndexAny(s, ".:"); i >= 0 && i < len(s)-1 && Width(s[i+1:]) <= most {
		return "…" + s[i+1:]
	}
	r := []rune(s)
	return "…" + string(r[max(0, len(r)-most):])
}

// hue returns the colour of number i. Steps of 137 degrees, about the golden
// angle, keep any few consecutive colours apart.
func hue(i int) string { return fmt.Sprintf("hsl(%d 60%% 60%%)", i*137%360) }
