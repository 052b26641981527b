package report

import (
	"bytes"
	"encoding/xml"
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
			{Name: "random", X: []float64{0, 2, 4}, Y: []float64{1, 0.7, 0.3}, Low: []float64{0.9, 0, 0.2}, High: []float64{1.1, 0.8, 0.4}},
			{Name: "runs", X: []float64{1, 2}, Y: []float64{1, 2}, Dots: true},
			{Name: "one", X: []float64{3}, Y: []float64{1}},
		},
	})
	if n["svg"] != 1 || n["polyline"] != 3 || n["polygon"] != 1 || n["circle"] != 3 || n["title"] != 1 || n["script"] != 0 {
		t.Errorf("elements: %v", n)
	}
	for _, want := range []string{"Error &lt;over&gt; time &amp;", "bayes", "random", "time (s)", ">0.01<", ">10<"} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %q in the chart", want)
		}
	}
}

func TestEmptyCharts(t *testing.T) {
	if _, n := render(t, Chart{}); n["line"] < 4 || n["polyline"] != 0 {
		t.Errorf("an empty chart: %v", n)
	}
	if _, n := render(t, Chart{LogX: true, LogY: true, Series: []Series{{X: []float64{-1, nan}, Y: []float64{1, inf}}}}); n["polyline"] != 0 {
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
			return rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{nan, inf, -inf, 0, 1, 1e-300})), n, n).Draw(t, name)
		}
		s := Series{Name: rapid.String().Draw(t, "name"), X: values("x"), Y: values("y"), Dots: rapid.Bool().Draw(t, "dots")}
		if rapid.Bool().Draw(t, "band") {
			s.Low, s.High = values("low"), values("high")
		}
		render(t, Chart{Title: rapid.String().Draw(t, "title"), LogX: rapid.Bool().Draw(t, "logx"), LogY: rapid.Bool().Draw(t, "logy"), Series: []Series{s, s}})
		var bars []Bar
		for i := range n {
			bars = append(bars, Bar{"b", s.X[i], s.Y[i], s.Y[i]})
		}
		render(t, BarChart{Bars: bars})
	})
}
