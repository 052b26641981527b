package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func atof(t *rapid.T, s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ExampleSpark() {
	fmt.Println(Spark([]float64{9, 8, 6, 6, 3, 2, 1, 1}, 8))
	// Output: ██▆▆▃▂▁▁
}

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{nil, 10, ""},
		{[]float64{1}, 0, ""},
		{[]float64{1, 1}, 10, "▁▁"},
		{[]float64{0, nan, 1}, 10, "▁ █"},
		{[]float64{0, 0, 1, 1}, 2, "▁█"},
		{[]float64{nan, inf}, 10, "  "},
		{[]float64{-1e300, 1e300}, 10, "▁█"},
	} {
		if got := Spark(c.values, c.width); got != c.want {
			t.Errorf("Spark(%v, %d) = %q, want %q", c.values, c.width, got, c.want)
		}
	}
}

func TestSparkProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOf(rapid.Float64()).Draw(t, "x")
		width := rapid.IntRange(0, 50).Draw(t, "width")
		if got := utf8.RuneCountInString(Spark(x, width)); got != min(len(x), width) {
			t.Fatalf("%d bars of %d values in %d columns", got, len(x), width)
		}
	})
}

func ExampleCurve() {
	best := Series{Name: "best", X: []float64{0, 15, 30, 45, 60}, Y: []float64{4, 2, 1.5, 1.2, 1.2}}
	for line := range strings.Lines(Curve([]Series{best}, 25, 5, "s", "s")) {
		fmt.Print(strings.TrimRight(line, "\n"), "\n")
	}
	// Output:
	//   4 s │•
	//       │
	//       │
	//       │      •
	// 1.2 s │            •     •     •
	//       └─────────────────────────
	//        0 s                 1 min
}

func TestCurve(t *testing.T) {
	if got := Curve([]Series{{X: []float64{1}, Y: []float64{nan}}}, 10, 3, "", ""); got != "" {
		t.Errorf("a curve of nothing: %q", got)
	}
	two := []Series{
		{Name: "a", X: []float64{0, 1}, Y: []float64{0, 1}},
		{Name: "b", X: []float64{0, 1}, Y: []float64{1, 0}},
	}
	got := Curve(two, 5, 3, "", "")
	want := "1 │+   •\n  │\n0 │•   +\n  └─────\n   0   1\n   • a + b\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for name, f := range map[string]func(){
		"flat":    func() { Curve(two, 1, 1, "", "") },
		"lengths": func() { Curve([]Series{{X: []float64{1}}}, 5, 5, "", "") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s    span
		want string
	}{
		{span{0, 10}, "0 2 4 6 8 10"},
		{span{0.13, 0.97}, "0 0.2 0.4 0.6 0.8 1"},
		{span{-5, 5}, "−6 −4 −2 0 2 4 6"},
		{span{3, 3}, "2.6 2.8 3 3.2 3.4"},
		{span{0, 0}, "−1 −0.5 0 0.5 1"},
	} {
		got, _ := ticks(c.s, 5)
		var labels []string
		for _, k := range got {
			labels = append(labels, k.label)
		}
		if s := strings.Join(labels, " "); s != c.want {
			t.Errorf("ticks(%v) = %s, want %s", c.s, s, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-1e12, 1e12).Draw(t, "a"), rapid.Float64Range(-1e12, 1e12).Draw(t, "b")
		s := span{min(a, b), max(a, b)}
		got, wide := ticks(s, 6)
		slack := 1e-8 * max(math.Abs(a), math.Abs(b))
		if len(got) < 2 || len(got) > 20 || wide.low > s.low+slack || wide.high < s.high-slack {
			t.Fatalf("%d ticks over %v for %v", len(got), wide, s)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-300, 300).Draw(t, "a"), rapid.Float64Range(-300, 300).Draw(t, "b")
		got, wide := logTicks(span{min(a, b), max(a, b)})
		if len(got) < 2 || len(got) > 20 || wide.low > min(a, b)+1e-8 || wide.high < max(a, b)-1e-8 {
			t.Fatalf("%d ticks over %v for %v to %v", len(got), wide, a, b)
		}
	})
}
