package abtest

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

func TestParseGate(t *testing.T) {
	for text, want := range map[string]Gate{
		"slower > 3%":     {Slower, 0.03},
		"slower>3 %":      {Slower, 0.03},
		" slower > 0.03 ": {Slower, 0.03},
		"slower":          {Slower, 0},
		"worse > 5%":      {Slower, 0.05},
		"more > 0.5%":     {More, 0.005},
		"less > 10%":      {Less, 0.1},
		"slower > 150%":   {Slower, 1.5},
	} {
		g, err := ParseGate(text)
		if err != nil || g.Side != want.Side || !(math.Abs(g.Limit-want.Limit) <= 1e-12) {
			t.Errorf("%q is %+v, %v; want %+v", text, g, err, want)
			continue
		}
		again, err := ParseGate(g.String())
		if err != nil || *again != *g {
			t.Errorf("%q prints as %q, which is %+v, %v", text, g, again, err)
		}
	}
	for _, text := range []string{
		"", "3%", "slower > ", "slower > x", "slower > -3%", "slower < 3%", "faster > 3%", "slower > 3", "less > 100%",
		"slower > 3% or so", "slower > 1e999%", "slower > 1.2.3%",
	} {
		if g, err := ParseGate(text); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q is %+v, %v", text, g, err)
		}
	}
}

// A gate fails a difference that is certainly beyond its limit, and passes only one that is within.
func TestGateJudges(t *testing.T) {
	for _, c := range []struct {
		gate      string
		maximize  bool
		low, high float64
		want      Outcome
	}{
		{"slower > 3%", false, 0.04, 0.2, Failed},
		{"slower > 3%", false, 0.02, 0.2, Unknown},
		{"slower > 3%", false, -0.2, 0.02, Passed},
		{"slower > 3%", true, 0.04, 0.2, Passed},
		{"slower > 3%", true, -0.2, -0.04, Failed},
		{"slower > 3%", true, -0.2, -0.02, Unknown},
		{"more > 3%", true, 0.04, 0.2, Failed},
		{"less > 3%", false, -0.2, -0.04, Failed},
		{"slower", false, 0, 0, Passed},
		{"slower", false, 0.001, 0.1, Failed},
		{"slower > 3%", false, math.Inf(-1), math.Inf(1), Unknown},
	} {
		if got := gate(t, c.gate).judge(c.low, c.high, c.maximize); got != c.want {
			t.Errorf("%s, maximize %v: [%v, %v] is %s, want %s", c.gate, c.maximize, c.low, c.high, got, c.want)
		}
	}
}

// A gate without a budget asks for the pairs that the noise needs, and no more.
func TestAsks(t *testing.T) {
	var pairs []int
	for _, sd := range []float64{0.005, 0.03, 0.1} {
		d, _ := fresh(1, 1, sd)
		d.Pairs, d.Gate = 0, gate(t, "slower > 3%")
		r := run(t, d)
		if r.Outcome != Passed {
			t.Errorf("noise %v: %+v", sd, r)
		}
		pairs = append(pairs, r.Pairs)
	}
	if !(pairs[0] <= 12 && pairs[0] < pairs[1] && pairs[1] < pairs[2] && pairs[2] <= maxAsked) {
		t.Errorf("pairs %v for more and more noise", pairs)
	}
}

// The advice names the processor's time at once if it can decide and the clock cannot, with
// the number of pairs that it takes.
func TestNamesCPU(t *testing.T) {
	d, f := fresh(0.01, 0.01, 0)
	f.noise, f.cpu = gauss(0.6), gauss(0.02)
	d.Pairs, d.Gate = 0, gate(t, "slower > 3%")
	r := run(t, d)
	if r.Outcome != Unknown || r.Pairs > 18 {
		t.Errorf("outcome %q after %d pairs", r.Outcome, r.Pairs)
	}
	if text := strings.Join(r.Advice, "\n"); !strings.Contains(text, "use --metric cpu") ||
		!strings.Contains(text, "the ratio of two runs in turn varies by") {
		t.Errorf("advice %q", r.Advice)
	}
	// The advice does not name it if that metric is as noisy.
	d, f = fresh(0.01, 0.01, 0)
	f.noise, f.cpu = gauss(0.6), gauss(0.6)
	d.Pairs, d.Gate = 0, gate(t, "slower > 3%")
	if r = run(t, d); r.Outcome != Unknown || strings.Contains(strings.Join(r.Advice, ""), "cpu") {
		t.Errorf("outcome %q, advice %q", r.Outcome, r.Advice)
	}
	if !strings.Contains(strings.Join(r.Advice, ""), "are short") {
		t.Errorf("advice %q", r.Advice)
	}
}

// A comparison whose budget is too small for the noise reports how many pairs would do.
func TestSaysHowManyPairs(t *testing.T) {
	d, _ := fresh(1, 1, 0.08)
	d.Pairs, d.Gate = 20, gate(t, "slower > 3%")
	r := run(t, d)
	if r.Outcome != Unknown || r.Pairs != 20 || r.Needs <= 20 || r.Needs > 2000 {
		t.Errorf("%q after %d pairs, needs %d", r.Outcome, r.Pairs, r.Needs)
	}
	// As many pairs do decide.
	d, _ = fresh(1, 1, 0.08)
	d.Pairs, d.Gate = r.Needs, gate(t, "slower > 3%")
	if r = run(t, d); r.Outcome != Passed {
		t.Errorf("%q after %d pairs", r.Outcome, r.Pairs)
	}
}

// Values that never vary, such as sizes, are decided at the first look. The gate cannot decide
// if there is no relative difference.
func TestSteadyValues(t *testing.T) {
	for b, want := range map[float64]Outcome{1: Passed, 1.02: Passed, 1.05: Failed, 0.5: Passed} {
		d, _ := fresh(1, b, 0)
		d.Pairs, d.Gate = 0, gate(t, "slower > 3%")
		if r := run(t, d); r.Outcome != want || r.Pairs != stats.FirstLook {
			t.Errorf("%v against 1: %q after %d pairs, want %q", b, r.Outcome, r.Pairs, want)
		}
	}
	d, _ := fresh(0, 0, 0)
	d.Gate = gate(t, "slower > 3%")
	if r := run(t, d); r.Outcome != Unknown {
		t.Errorf("0 against 0: %+v", r)
	}
}
