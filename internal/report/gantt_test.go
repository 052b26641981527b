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
		`>reduce 50 %</text>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Count(got, ">map 50 %</text>") != 1 {
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
	if !strings.Contains(got, `height="840"`) { // 720 for the rows
		t.Error("a hundred rows are not squeezed into 720 pixels")
	}
	drawGantt(t, &Gantt{Title: "empty"})
}

// TestGanttLegend checks that the kinds that take longest are named, without the common
// prefix of all names, and that the last label ends within the picture.
func TestGanttLegend(t *testing.T) {
	g := &Gantt{Rows: 1, Span: 1450, Time: Seconds}
	for i := range 60 {
		at := float64(i * (i + 1) / 2)
		g.Bars = append(g.Bars, GanttBar{From: at, To: at + float64(i) + 1, Kind: fmt.Sprintf("P.Q.KIND_%02d", i)})
	}
	got := drawGantt(t, g)
	for _, want := range []string{">KIND_59 3 %</text>", ">KIND_50 3 %</text>", ">20 min</text>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, ">KIND_00") || !strings.Contains(got, " more, ") {
		t.Error("the legend names kinds that take no time, or does not say how many are left out")
	}
	for span, label := range map[float64]string{1200: "20 min", 1234.5: "20 min", 0.5: "500 ms", 1e6: "10 d"} {
		g := &Gantt{Rows: 1, Span: span, Time: Seconds, Bars: []GanttBar{{To: span}}}
		var at float64
		i := strings.Index(drawGantt(t, g), ">"+label+"</text>")
		if i < 0 {
			t.Errorf("no tick %s on %v s", label, span)
			continue
		}
		line := drawGantt(t, g)[:i]
		if _, err := fmt.Sscanf(line[strings.LastIndex(line, `x="`):], `x="%f"`, &at); err != nil ||
			at+3.5*float64(len(label)) > ganttWidth {
			t.Errorf("%s is at %v of %v (%v)", label, at, ganttWidth, err)
		}
	}
}

func TestShortKind(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a",
		"SOMETHING_THAT_IS_LONG.AND_THEN_SOME:SHORT": "…SHORT",
		strings.Repeat("x", 40):                      "…" + strings.Repeat("x", 30),
	} {
		if got := shortKind(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
