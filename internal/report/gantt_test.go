package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func drawGantt(t *testing.T, g *Gantt) string {
	t.Helper()
	if g.Time == nil {
		g.Time = func(s float64) string { return fmt.Sprint(s, " s") }
	}
	var b strings.Builder
	if err := g.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, b.String())
		}
	}
}

// TestGantt checks where bars are: 820 pixels are the span, 18 a row.
func TestGantt(t *testing.T) {
	got := drawGantt(t, &Gantt{Title: "a < b", Row: "slot", Rows: 2, Span: 10, Bars: []GanttBar{
		{Row: 0, From: 0, To: 5, Name: "x&y", Kind: "map"},
		{Row: 1, From: 5, To: 10, Name: "z", Kind: "reduce"},
		{Row: 0, From: 5, To: 5, Name: "none", Kind: "map"},
	}})
	for _, want := range []string{
		`<title>a &lt; b</title>`,
		`<rect x="60.00" y="40.00" width="410.00" height="16.20" fill="hsl(0 60% 60%)"><title>x&amp;y 5 s</title>`,
		`<rect x="470.00" y="58.00" width="410.00" height="16.20" fill="hsl(137 60% 60%)"><title>z 5 s</title>`,
		`width="0.30" height="16.20" fill="hsl(0 60% 60%)"><title>none 0 s</title>`, // seen, though it takes no time
		`>10 s</text>`,
		`>reduce</text>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Count(got, ">map</text>") != 1 {
		t.Error("a kind has more than one place in the legend")
	}
}

// TestGanttLimits checks that many bars are the longest, and that an empty drawing
// and a high one are drawn.
func TestGanttLimits(t *testing.T) {
	g := &Gantt{Rows: 100, Span: 1}
	for i := range maxBars + 10 {
		g.Bars = append(g.Bars, GanttBar{Row: i % 100, To: float64(i%7) / 7, Name: fmt.Sprintf("b%d", i%7)})
	}
	got := drawGantt(t, g)
	if n := strings.Count(got, "<title>b"); n != maxBars {
		t.Errorf("%d bars, want %d", n, maxBars)
	}
	if short := (len(g.Bars) + 6) / 7; strings.Count(got, "<title>b0 ") != short-10 ||
		!strings.Contains(got, "<title>b1 ") {
		t.Errorf("%d of the %d shortest bars are drawn, want all but ten", strings.Count(got, "<title>b0 "), short)
	}
	if !strings.Contains(got, `height="820"`) { // 720 for the rows
		t.Error("a hundred rows are not squeezed into 720 pixels")
	}
	drawGantt(t, &Gantt{Title: "empty"})
}
