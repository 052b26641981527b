package assay_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

// drawParam draws any valid parameter.
func drawParam(t *rapid.T, name string) assay.Param {
	p := assay.Param{Name: name}
	switch p.Kind = assay.Kind(rapid.IntRange(0, 4).Draw(t, "kind")); p.Kind {
	case assay.Real:
		p.Lo = rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		p.Hi = p.Lo + rapid.Float64Range(0, 1e6).Draw(t, "width")
		if p.Lo > 1e-3 {
			p.Log = rapid.Bool().Draw(t, "log")
		}
		if p.Hi-p.Lo > 1e-3 && rapid.Bool().Draw(t, "grid") {
			p.Step = (p.Hi - p.Lo) / float64(rapid.IntRange(1, 50).Draw(t, "steps"))
		}
	case assay.Integer:
		p.Lo = float64(rapid.IntRange(-100, 1000).Draw(t, "lo"))
		p.Hi = p.Lo + float64(rapid.IntRange(0, 300).Draw(t, "width"))
		p.Step = float64(rapid.IntRange(0, 7).Draw(t, "step"))
		if p.Lo > 0 {
			p.Log = rapid.Bool().Draw(t, "log")
		}
	case assay.Switch:
		p.Levels = []string{"off", "on"}
	default:
		for i := range rapid.IntRange(1, 7).Draw(t, "levels") {
			p.Levels = append(p.Levels, fmt.Sprint(1<<i))
		}
	}
	return p
}

func TestParamRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawParam(t, "p")
		x := p.FromUnit(rapid.Float64Range(0, 1).Draw(t, "u"))
		if !p.Contains(x) {
			t.Fatalf("FromUnit gives %v, which %+v does not contain", x, p)
		}
		if u := p.ToUnit(x); u < 0 || u > 1 || math.IsNaN(u) {
			t.Fatalf("ToUnit(%v) = %v", x, u)
		}
		if y := p.Unscale(p.ToUnit(x)); !p.Contains(y) || p.Count() > 0 && !(math.Abs(y-x) <= 1e-6*max(1, math.Abs(x))) {
			t.Fatalf("Unscale(ToUnit(%v)) = %v for %+v", x, y, p)
		}
		y, err := p.Parse(p.Text(x))
		if err != nil || !(math.Abs(x-y) <= 1e-9*max(1, math.Abs(x))) {
			t.Fatalf("Parse(Text(%v)) = %v, %v", x, y, err)
		}
		if s := p.Snap(x); s != x {
			t.Fatalf("Snap(%v) = %v", x, s)
		}
	})
}

// A uniform point of the unit interval gives each value of a linear countable
// parameter equally often.
func TestFromUnitIsUniform(t *testing.T) {
	for _, p := range []assay.Param{
		{Name: "int", Kind: assay.Integer, Lo: -2, Hi: 7},
		{Name: "step", Kind: assay.Integer, Lo: 1, Hi: 64, Step: 4},
		{Name: "grid", Kind: assay.Real, Lo: 0, Hi: 0.9, Step: 0.1},
		{Name: "cat", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}},
	} {
		count := map[float64]int{}
		const n = 48000
		for i := range n {
			count[p.FromUnit((float64(i)+0.5)/n)]++
		}
		if int64(len(count)) != p.Count() {
			t.Errorf("%s: %d values drawn of %d", p.Name, len(count), p.Count())
		}
		for x, k := range count {
			if want := n / int(p.Count()); k < want-1 || k > want+1 {
				t.Errorf("%s: %v drawn %d times, want %d", p.Name, x, k, want)
			}
		}
	}
	// On a logarithmic scale every octave has the same share.
	p := assay.Param{Name: "log", Kind: assay.Integer, Lo: 1, Hi: 1023, Log: true}
	octave := make([]int, 10)
	for i := range 10000 {
		octave[int(math.Log2(p.FromUnit((float64(i)+0.5)/10000)))]++
	}
	for i, k := range octave {
		if k < 990 || k > 1010 {
			t.Errorf("octave %d has %d of 10000, want 1000", i, k)
		}
	}
}

func TestParamCountAndText(t *testing.T) {
	for _, tt := range []struct {
		p     assay.Param
		count int64
		x     float64
		text  string
	}{
		{assay.Param{Name: "a", Kind: assay.Integer, Lo: 1, Hi: 19}, 19, 7, "7"},
		{assay.Param{Name: "a", Kind: assay.Integer, Lo: 1, Hi: 64, Step: 4}, 16, 61, "61"},
		{assay.Param{Name: "a", Kind: assay.Real, Lo: 0.1, Hi: 0.9}, 0, 0.25, "0.25"},
		{assay.Param{Name: "a", Kind: assay.Real, Lo: 0.1, Hi: 0.9, Step: 0.1}, 9, 0.3, "0.3"},
		{assay.Param{Name: "a", Kind: assay.Real, Lo: 0, Hi: 2e6}, 0, 1e6, "1000000"},
		{assay.Param{Name: "a", Kind: assay.Real, Lo: 0, Hi: 1}, 0, 1e-7, "1e-07"},
		{assay.Param{Name: "a", Kind: assay.Ordinal, Levels: []string{"1M", "4M"}}, 2, 1, "4M"},
		{assay.Param{Name: "a", Kind: assay.Switch, Levels: []string{"off", "on"}}, 2, 1, "on"},
	} {
		if got := tt.p.Count(); got != tt.count {
			t.Errorf("%+v: count %d, want %d", tt.p, got, tt.count)
		}
		if got := tt.p.Text(tt.x); got != tt.text {
			t.Errorf("%+v: text %q, want %q", tt.p, got, tt.text)
		}
	}
	if got := (assay.Param{Name: "g", Kind: assay.Real, Lo: 0.1, Hi: 0.9, Step: 0.1}).At(2); got != 0.3 {
		t.Errorf("third grid value is %v, want 0.3", got)
	}
}

// All values are given in order, or none: of more than the most, and of a continuous parameter.
func TestParamValues(t *testing.T) {
	steps := assay.Param{Name: "g", Kind: assay.Real, Lo: 0.1, Hi: 0.3, Step: 0.1}
	if got := steps.Values(3); !slices.Equal(got, []float64{0.1, 0.2, 0.3}) {
		t.Errorf("three of at most three: %v", got)
	}
	if got := steps.Values(2); got != nil {
		t.Errorf("three of at most two: %v", got)
	}
	if got := (assay.Param{Name: "r", Kind: assay.Real, Lo: 0, Hi: 1}).Values(100); got != nil {
		t.Errorf("a continuous parameter: %v", got)
	}
}

func TestParamFlaws(t *testing.T) {
	for _, tt := range []struct {
		p    assay.Param
		want string
	}{
		{assay.Param{Kind: assay.Real}, "no name"},
		{assay.Param{Name: "a", Kind: assay.Integer, Lo: 2, Hi: 1}, "above max"},
		{assay.Param{Name: "a", Kind: assay.Real, Lo: 0, Hi: 1, Log: true}, "min > 0"},
		{assay.Param{Name: "a", Kind: assay.Real, Lo: 0, Hi: math.Inf(1)}, "not finite"},
		{assay.Param{Name: "a", Kind: assay.Real, Lo: math.NaN(), Hi: 1}, "not finite"},
		{assay.Param{Name: "a", Kind: assay.Integer, Lo: 0.5, Hi: 1}, "whole numbers"},
		{assay.Param{Name: "a", Kind: assay.Real, Hi: 1, Step: -1}, "not positive"},
		{assay.Param{Name: "a", Kind: assay.Categorical}, "no values"},
		{assay.Param{Name: "a", Kind: assay.Ordinal, Levels: []string{"x", "x"}}, "twice"},
		{assay.Param{Name: "a", Kind: assay.Switch, Levels: []string{"x"}}, "2 values"},
	} {
		_, err := assay.NewSpace([]assay.Param{tt.p})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got error %v, want one with %q", tt.p, err, tt.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"8": 8, "0.5": 0.5, "64M": 64 << 20, "2GiB": 2 << 30, "1k": 1024,
		"1KB": 1024, "-3": -3, "18ms": 0.018, "2s": 2, "50us": 50e-6, "100Mbit": 1e8, "9.6kbit": 9600,
		"100Mbit/s": 1e8, "20MB/s": 20 << 20, "2.4GHz": 2.4e9,
	} {
		if got, ok := assay.Number(text); !ok || got != want {
			t.Errorf("Number(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "M", "fast", "inf", "NaN", "B", "iB", "1X", "xM", "/s", "5/s", "ms", "Hz"} {
		if got, ok := assay.Number(text); ok {
			t.Errorf("Number(%q) = %v, want none", text, got)
		}
	}
}

func TestValueKeepsWhatWasWritten(t *testing.T) {
	p := assay.Param{Name: "a", Kind: assay.Categorical, Levels: []string{
		"true", "8", "1.5", "007", "64M", "inf",
		"1e3", "+1", "-2",
	}}
	want := []any{true, int64(8), 1.5, "007", "64M", "inf", 1e3, "+1", int64(-2)}
	for i := range p.Levels {
		if got := p.Value(float64(i)); got != want[i] {
			t.Errorf("Value of %q is %T %v, want %T %v", p.Levels[i], got, got, want[i], want[i])
		}
	}
}

// Parse reads the texts of a user for a value, and refuses wrong ones.
func TestParamParse(t *testing.T) {
	var (
		whole = assay.Param{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 65, Step: 4}
		real  = assay.Param{Name: "x", Kind: assay.Real, Lo: 0.1, Hi: 0.9, Step: 0.1}
		level = assay.Param{Name: "l", Kind: assay.Ordinal, Levels: []string{"1", "2", "64M", "4.0"}}
		flag  = assay.Param{Name: "f", Kind: assay.Switch, Levels: []string{"--no-x", "--x"}}
		wide  = assay.Param{Name: "w", Kind: assay.Categorical, Levels: strings.Split("abcdefghij", "")}
	)
	for _, tt := range []struct {
		p    assay.Param
		text string
		want float64
		err  string // a part of the error, "" for none
	}{
		{whole, "5", 5, ""},
		{whole, "0.5e1", 5, ""},
		{whole, "65", 65, ""},
		{whole, "6", 0, "6 is not in 1..65 by 4"},
		{whole, "69", 0, "is not in 1..65"},
		{whole, "five", 0, `"five" is not a number`},
		{whole, "NaN", 0, "is not in"},
		{real, "0.3", 0.3, ""},
		{real, "0.30000000000000004", 0.3, ""},
		{real, "0.35", 0, "is not in 0.1..0.9 by 0.1"},
		{real, "", 0, "is not a number"},
		{level, "64M", 2, ""},
		{level, "1.0", 0, ""},
		{level, "4", 3, ""},
		{level, "3", 0, `parameter "l" has no value "3" (it has 1, 2, 64M, 4.0)`},
		{flag, "--x", 1, ""},
		{flag, "on", 1, ""},
		{flag, "no", 0, ""},
		{flag, "maybe", 0, "has no value"},
		{wide, "j", 9, ""},
		{wide, "z", 0, "a, b, c, d, e, f, ... 10 in all"},
	} {
		got, err := tt.p.Parse(tt.text)
		switch {
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("%s: %q is read as %v, %v, want %v", tt.p.Name, tt.text, got, err, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: %q: got error %v, want one with %q", tt.p.Name, tt.text, err, tt.err)
		}
	}
}

// Snap gives the nearest value on the parameter's own scale, whatever it is given.
func TestSnapIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawParam(t, "p")
		x := rapid.Float64Range(-1e7, 1e7).Draw(t, "x")
		got := p.Snap(x)
		if !p.Contains(got) {
			t.Fatalf("Snap(%v) gives %v, which %+v does not contain", x, got, p)
		}
		for i := range min(p.Count(), 400) {
			if d := math.Abs(p.At(i) - x); d < math.Abs(got-x)-1e-6*max(1, math.Abs(x)) {
				t.Fatalf("Snap(%v) gives %v, and %v is nearer", x, got, p.At(i))
			}
		}
		if p.Contains(p.Snap(math.NaN())) == false {
			t.Fatal("Snap of NaN is no value")
		}
	})
}

func TestKindNames(t *testing.T) {
	want := []string{"real", "int", "ordinal", "categorical", "bool", "permutation", "Kind(6)"}
	for i, name := range want {
		if got := assay.Kind(i).String(); got != name {
			t.Errorf("kind %d is %q, want %q", i, got, name)
		}
	}
}
