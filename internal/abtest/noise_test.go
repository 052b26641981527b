package abtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

var usual = Options{Difference: 0.05, Error: 0.05}

// normalNoise returns n runs with a standard deviation, heavy n with a Pareto tail of that
// index above 1.
func normalNoise(n int, sd float64, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 + sd*rng.NormFloat64()
	}
	return x
}

func heavy(n int, index float64, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Pow(1-rng.Float64(), -1/index)
	}
	return x
}

// Light noise of 10 % needs 16 runs of a mean to know it to 5 %: (1.96·0.1/0.05)² is
// 15.4. A heavy tail needs minima.
func TestAdvice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	light, err := NoiseOf([]NoiseSample{{Config: "a=1", Values: normalNoise(2000, 0.1, rng)}}, "s", usual)
	if err != nil {
		t.Fatal(err)
	}
	if light.Tail.Kind != "light" || light.Estimator != "mean" || light.Repeat < 14 || light.Repeat > 17 {
		t.Errorf("light noise: %s, %s of %d", light.Tail.Kind, light.Estimator, light.Repeat)
	}
	if light.Config != "a=1" || light.Configs != 1 || light.Unit != "s" || light.Runs != 2000 ||
		!(math.Abs(light.Median-1) <= 0.01) {
		t.Errorf("%+v", light)
	}
	// The least K with p^K < 0.05 is taken for runs with P[y > 1.05·min] = p.
	tail, err := NoiseOf([]NoiseSample{{Config: "a=1", Values: heavy(2000, 1.5, rng)}}, "s", usual)
	if err != nil {
		t.Fatal(err)
	}
	if tail.Tail.Kind != "heavy" || tail.Estimator != "min" || *tail.Tail.Index < 1.2 || *tail.Tail.Index > 1.8 {
		t.Errorf("heavy noise: %s of index %v, %s", tail.Tail.Kind, *tail.Tail.Index, tail.Estimator)
	}
	p := math.Pow(1.05, -1.5) // of the distribution
	if want := math.Log(0.05) / math.Log(p); !(math.Abs(float64(tail.Repeat)-want) <= 0.15*want) ||
		tail.RepeatPareto == nil {
		t.Errorf("K %d, want about %.1f; by the model %v", tail.Repeat, want, tail.RepeatPareto)
	}
	if !strings.HasPrefix(tail.Advice, "--repeat ") || !strings.HasSuffix(tail.Advice, "only where they are needed") {
		t.Errorf("advice %q", tail.Advice)
	}
	few, err := NoiseOf([]NoiseSample{{Config: "a=1", Values: []float64{1, 2, 3}}}, "s", usual)
	if err != nil || !strings.Contains(few.Advice, "; 3 runs are few to be sure") {
		t.Errorf("advice of few runs %q, %v", few.Advice, err)
	}
	same, err := NoiseOf([]NoiseSample{{Config: "a=1", Values: slices.Repeat([]float64{2}, 30)}}, "s", usual)
	if err != nil || same.Repeat != 1 || same.Estimator != "min" {
		t.Errorf("without noise %d runs of %s, %v", same.Repeat, same.Estimator, err)
	}
}

// The configuration with the most runs stands for all. If its runs are few, the runs of
// all are pooled, as shares of their medians.
func TestSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	scaled := func(x []float64, by float64) []float64 {
		x = slices.Clone(x)
		for i := range x {
			x[i] *= by
		}
		return x
	}
	a, b := normalNoise(20, 0.05, rng), normalNoise(30, 0.05, rng)
	n, err := NoiseOf([]NoiseSample{
		{Config: "a", Values: scaled(a, 7)},
		{Config: "b", Values: scaled(b, 100)},
		{Config: "c", Values: []float64{1, 9}},
		{Config: "d", Values: []float64{0, 0, 0}},
	}, "s", usual)
	if err != nil {
		t.Fatal(err)
	}
	if n.Configs != 2 || n.Runs != 50 || n.Config != "" || n.Unit != "" || !(math.Abs(n.Median-1) <= 0.02) {
		t.Errorf("pooled: %d configurations, %d runs, median %v in %q", n.Configs, n.Runs, n.Median, n.Unit)
	}
	if n, err = NoiseOf([]NoiseSample{{Config: "a", Values: a}, {Config: "b", Values: normalNoise(60, 0.05, rng)}}, "s",
		usual); err != nil ||
		n.Config != "b" || n.Runs != 60 {
		t.Errorf("of the most runs: %+v, %v", n, err)
	}
	if n, err = NoiseOf([]NoiseSample{{Config: "a", Values: a[:5]}}, "s", usual); err != nil || n.Config != "a" ||
		n.Configs != 1 {
		t.Errorf("of the only ones: %+v, %v", n, err)
	}
	if _, err = NoiseOf([]NoiseSample{{Config: "a", Values: a[:2]}}, "s", usual); !errors.Is(err, assay.ErrTooFew) {
		t.Errorf("of two runs: %v", err)
	}
}

// Ranks that are late together are worth one run; those that are late each for itself
// are worth as many as they are.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	columns := func(alike bool) [][]float64 {
		c := make([][]float64, 4)
		for range 500 {
			shared := rng.Float64()
			for j := range c {
				x := shared
				if !alike {
					x = rng.Float64()
				}
				late := 0.0
				if x > 0.7 {
					late = x
				}
				c[j] = append(c[j], float64(j+1)*(1+late))
			}
		}
		return c
	}
	alike, err := NoiseOfColumns(columns(true), usual)
	if err != nil {
		t.Fatal(err)
	}
	if r := alike.Ranks; r.Ranks != 4 || r.Rows != 500 || *r.Correlation < 0.95 || *r.IndependentRuns > 1.2 ||
		!(math.Abs(r.AllLateShare-r.LateShare) <= 1e-9) {
		t.Errorf("alike: %+v", r)
	}
	if !strings.Contains(alike.Advice, "repeat at different times") || alike.Runs != 2000 {
		t.Errorf("%d runs, advice %q", alike.Runs, alike.Advice)
	}
	own, err := NoiseOfColumns(columns(false), usual)
	if err != nil {
		t.Fatal(err)
	}
	if r := own.Ranks; *r.Correlation > 0.1 || *r.IndependentRuns < 3 ||
		strings.Contains(own.Advice, "different times") {
		t.Errorf("each for itself: %+v, %q", r, own.Advice)
	}
	one, err := NoiseOfColumns([][]float64{{1, 2, 3}}, usual)
	if err != nil || one.Ranks != nil || one.Runs != 3 {
		t.Errorf("one rank: %+v, %v", one, err)
	}
	if _, err := NoiseOfColumns([][]float64{{1, 2}, {0, 0}}, usual); assay.ClassOf(err) != assay.ClassUsage ||
		err.Error() != "the median of rank 2 is 0" {
		t.Errorf("a rank of zeros: %v", err)
	}
}

func TestReadColumns(t *testing.T) {
	for text, want := range map[string][][]float64{
		"1\n2.5\n":                   {{1, 2.5}},
		"# times\n\n1, 2\n3;4\n5\t6": {{1, 3, 5}, {2, 4, 6}},
	} {
		got, err := ReadColumns("in", strings.NewReader(text))
		if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                                 "in has no numbers",
		"1\nx\n":                           `in:2: "x" is not a number`,
		"1 2\n3\n":                         "in:2: 1 numbers, the first line has 2",
		"NaN":                              `in:1: "NaN" is not a number`,
		"1e301":                            `in:1: "1e301" is not a number`,
		",":                                `in:1: "," is not a number`,
		strings.Repeat("1 ", maxRanks+1):   "in:1: 4097 numbers, more than 4096",
		strings.Repeat("long ", 10) + "\n": `in:1: "long" is not a number`,
		strings.Repeat("x", 50):            `in:1: "` + strings.Repeat("x", 40) + `..." is not a number`,
		strings.Repeat("1", 2<<20):         "in: bufio.Scanner: token too long",
	} {
		_, err := ReadColumns("in", strings.NewReader(text))
		if err == nil || err.Error() != want || assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// The samples of a maximized metric are the negative values: the report has the printed ones, and never advises their
// greatest, which is luck.
func TestNoiseOfMaximized(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s NoiseSample
	for range 60 {
		s.Values = append(s.Values, -(100 + 10*r.NormFloat64()))
	}
	n, err := NoiseOf([]NoiseSample{s}, "B/s", Options{Difference: 0.05, Error: 0.05, Maximize: true})
	if err != nil {
		t.Fatal(err)
	}
	if n.Min < 50 || n.Median < 90 || n.Mean < 90 || n.Estimator == "min" || n.RepeatPareto != nil {
		t.Errorf("%+v", n)
	}
	if n.Repeat < 10 || n.Repeat > 25 { // (1.96 · 0.1 / 0.05)² = 15
		t.Errorf("%d runs: %s", n.Repeat, n.Advice)
	}
	var text strings.Builder
	if err := n.Write(&text, 0.05); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "fastest") || strings.Contains(text.String(), "−") {
		t.Errorf("got\n%s", text.String())
	}
	if s.Values[0] > 0 {
		t.Error("the samples of the caller changed")
	}
}
