package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// elements parses an SVG document and returns how many elements of each name
// there are. It fails on anything that is not well-formed, on coordinates that are
// not numbers, and on references to anything outside.
func elements(t interface{ Fatalf(string, ...any) }, doc []byte) map[string]int {
	n := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, doc)
		}
		el, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		n[el.Name.Local]++
		for _, a := range el.Attr {
			switch a.Name.Local {
			case "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "width", "height":
				if v, err := strconv.ParseFloat(a.Value, 64); err != nil || v < -50 || v > 5000 || v != v {
					t.Fatalf("<%s %s=%q>", el.Name.Local, a.Name.Local, a.Value)
				}
			case "points":
				if strings.Contains(a.Value, "N") || strings.Contains(a.Value, "I") {
					t.Fatalf("points %q", a.Value)
				}
			case "href", "src":
				t.Fatalf("a reference to %q", a.Value)
			}
		}
	}
}

func render(t interface{ Fatalf(string, ...any) }, c interface{ WriteSVG(io.Writer) error }) (string, map[string]int) {
	var b bytes.Buffer
	if err := c.WriteSVG(&b); err != nil {
		t.Fatalf("%v", err)
	}
	return b.String(), elements(t, b.Bytes())
}

func TestChart(t *testing.T) {
	doc, n := render(t, Chart{
		Title: "Error <over> time & \"space\"", XLabel: "time (s)", YLabel: "error", LogY: true,
		Series: []Series{
			{Name: "bayes", X: []float64{0, 1, 2, 3, 4}, Y: []float64{1, 0.5, 0, 0.1, 0.05}}, // 0 is a gap on a log axis
			{
				Name: "random", X: []float64{0, 2, 4}, Y: []float64{1, 0.7, 0.3},
				Low: []float64{0.9, 0, 0.2}, High: []float64{1.1, 0.8, 0.4},
			},
			{Name: "runs", X: []float64{1, 2}, Y: []float64{1, 2}, Dots: true},
			{Name: "one", X: []float64{3}, Y: []float64{1}},
		},
	})
	if n["svg"] != 1 || n["polyline"] != 3 || n["polygon"] != 1 ||
		n["circle"] != 4 || n["title"] != 1 || n["script"] != 0 {
		t.Errorf("elements: %v", n)
	}
	for _, want := range []string{"Error &lt;over&gt; time &amp;", "bayes", "random", "time (s)", ">0.05<", ">2<"} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %q in the chart", want)
		}
	}
}

// TestChartUsesItsAxes checks that the data reach both ends of logarithmic axes, but for
// a little room (slots to 16 went up to 100, and 980 to 9400 s from 100 to 10000),
// that seconds have ticks at round times, and that marks and triangles are drawn.
func TestChartUsesItsAxes(t *testing.T) {
	doc, n := render(t, Chart{
		Title: "w", LogX: true, LogY: true, YTime: true, XAt: []float64{2, 4, 8, 16},
		Series: []Series{
			{Name: "line", X: []float64{2, 4, 8, 16}, Y: []float64{9400, 4000, 2000, 980}},
			{Name: "up", X: []float64{4}, Y: []float64{3000}, Dots: true, Sign: Up},
			{Name: "down", X: []float64{4}, Y: []float64{5000}, Dots: true, Sign: Down},
		},
		Marks: []Mark{{X: 16, Y: 980, Text: "take 16 <"}},
	})
	for _, want := range []string{">2<", ">16<", ">20 min<", ">2 h<", ">take 16 &lt;<", `class="mark"`} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
	if strings.Contains(doc, ">100<") || strings.Contains(doc, ">1<") {
		t.Error("an axis goes on beyond the data")
	}
	if n["polygon"] != 4 { // and in the legend
		t.Errorf("%d triangles, want 4", n["polygon"])
	}
	var x1, y1, x2, y2 float64
	line := doc[strings.Index(doc, `<polyline`):]
	line = line[strings.Index(line, `points="`)+8:]
	f := strings.Fields(line[:strings.Index(line, `"`)])
	_, _ = fmt.Sscanf(f[0], "%f,%f", &x1, &y1)
	_, _ = fmt.Sscanf(f[3], "%f,%f", &x2, &y2)
	if x2-x1 < 450 || y2-y1 < 240 {
		t.Errorf("the curve is %v by %v of 640 by 400 pixels", x2-x1, y2-y1)
	}
	for _, y := range []Series{
		{Y: []float64{100, 100}}, {Y: []float64{100.1, 100.2}}, {Y: []float64{1e-3, 2e-3}}, {Y: []float64{1, 1e9}},
	} {
		y.X = []float64{1, 2}
		doc, _ := render(t, Chart{LogX: true, LogY: true, YTime: true, XAt: []float64{1, 2}, Series: []Series{y}})
		if n := strings.Count(doc, `text-anchor="end"`); n < 2 || n > 20 {
			t.Errorf("%v: %d ticks", y.Y, n)
		}
	}
	doc, _ = render(t, Chart{
		LogX: true, XAt: []float64{4, 240, 241, 256},
		Series: []Series{{X: []float64{4, 240, 241, 256}, Y: []float64{1, 2, 3, 4}}},
	})
	if !strings.Contains(doc, ">240<") || strings.Contains(doc, ">241<") {
		t.Error("labels lie on each other")
	}
	var many []Series
	for i := range 20 {
		many = append(many, Series{Name: fmt.Sprint("series of a long name ", i), X: []float64{1}, Y: []float64{2}})
	}
	doc, _ = render(t, Chart{Series: many})
	if !strings.Contains(doc, "name 19<") || !strings.Contains(doc, `height="544"`) {
		t.Error("a long legend is cut")
	}
}

func TestEmptyCharts(t *testing.T) {
	if _, n := render(t, Chart{}); n["line"] < 4 || n["polyline"] != 0 {
		t.Errorf("an empty chart: %v", n)
	}
	nothing := Chart{LogX: true, LogY: true, Series: []Series{{X: []float64{-1, nan}, Y: []float64{1, inf}}}}
	if _, n := render(t, nothing); n["polyline"] != 0 {
		t.Errorf("a chart of nothing finite: %v", n)
	}
	if _, n := render(t, BarChart{}); n["rect"] != 1 {
		t.Errorf("an empty bar chart: %v", n)
	}
}

func TestBarChart(t *testing.T) {
	doc, n := render(t, BarChart{Title: "Error", XLabel: "relative error", Bars: []Bar{
		{"random", 0.2, 0.15, 0.25}, {"bayes", 0.05, 0, 0}, {"failed", nan, 0, 0}, {"negative", -0.1, -0.2, 0.1},
	}})
	if n["rect"] != 1+3 || strings.Count(doc, `class="whisker"`) != 6 || !strings.Contains(doc, "n/a") {
		t.Errorf("elements: %v", n)
	}
}

func TestChartsAreAlwaysWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "n")
		values := func(name string) []float64 {
			value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{nan, inf, -inf, 0, 1, 1e-300}))
			return rapid.SliceOfN(value, n, n).Draw(t, name)
		}
		s := Series{Name: rapid.String().Draw(t, "name"), X: values("x"), Y: values("y"), Dots: rapid.Bool().Draw(t, "dots")}
		if rapid.Bool().Draw(t, "band") {
			s.Low, s.High = values("low"), values("high")
		}
		render(t, Chart{
			Title: rapid.String().Draw(t, "title"),
			LogX:  rapid.Bool().Draw(t, "logx"), LogY: rapid.Bool().Draw(t, "logy"),
			Series: []Series{s, s},
		})
		var bars []Bar
		for i := range n {
			bars = append(bars, Bar{"b", s.X[i], s.Y[i], s.Y[i]})
		}
		render(t, BarChart{Bars: bars})
	})
}
