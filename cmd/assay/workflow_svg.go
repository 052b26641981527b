package main

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// maxBars bounds the tasks of a drawing: what is narrower than a pixel is not
// seen, and a browser must be able to open it.
const maxBars = 20000

// sortBy sorts s by less.
func sortBy[T any](s []T, less func(a, b T) bool) {
	slices.SortFunc(s, func(a, b T) int {
		switch {
		case less(a, b):
			return -1
		case less(b, a):
			return 1
		}
		return 0
	})
}

// ganttSVG draws a schedule: a row a slot, a bar a task, a colour a kind.
func ganttSVG(out io.Writer, w *workflow.Workflow, s *workflow.Schedule) error {
	const width, left, top = 900.0, 60.0, 40.0
	row := 18.0
	if s.Slots > 40 {
		row = max(1, 720/float64(s.Slots))
	}
	height := top + row*float64(s.Slots) + 60
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" font-family="sans-serif" font-size="11">`+"\n", width, height, width, height)
	title := fmt.Sprintf("%s on %d slots: %s", w.Name, s.Slots, clock(s.Makespan))
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%.0f\" y=\"20\" font-size=\"14\" font-weight=\"bold\">%s</text>\n", html.EscapeString(title), left, html.EscapeString(title))
	order := make([]int, len(w.Tasks))
	for i := range order {
		order[i] = i
	}
	if len(order) > maxBars { // the longest are what can be seen
		sortBy(order, func(a, b int) bool { return s.End[a]-s.Start[a] > s.End[b]-s.Start[b] })
		order = order[:maxBars]
	}
	colour := map[string]int{}
	span := max(s.Makespan, 1e-12)
	scale := (width - left - 20) / span
	for _, t := range order {
		kind := w.Tasks[t].Kind
		if _, ok := colour[kind]; !ok {
			colour[kind] = len(colour)
		}
		fmt.Fprintf(&b, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="hsl(%d 60%% 60%%)"><title>%s %s</title></rect>`+"\n",
			left+s.Start[t]*scale, top+row*float64(s.Slot[t]), max((s.End[t]-s.Start[t])*scale, 0.3), row*0.9, colour[kind]*137%360,
			html.EscapeString(w.Tasks[t].ID), clock(s.End[t]-s.Start[t]))
	}
	bottom := top + row*float64(s.Slots)
	for i := range 6 {
		x := span * float64(i) / 5
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", left+x*scale, bottom+16, clock(x))
	}
	fmt.Fprintf(&b, `<text x="8" y="%.1f">slot</text>`+"\n", top+10)
	x := left
	for _, k := range sortedKeys(colour) {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="10" height="10" fill="hsl(%d 60%% 60%%)"/><text x="%.1f" y="%.1f">%s</text>`+"\n", x, bottom+28, colour[k]*137%360, x+14, bottom+37, html.EscapeString(k))
		if x += 24 + 7*float64(len(k)); x > width-80 {
			break
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// sortedKeys returns the keys of m by value.
func sortedKeys(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sortBy(out, func(a, b string) bool { return m[a] < m[b] })
	return out
}
