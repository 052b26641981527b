package abtest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// The runs of a configuration are one sample, in the order in which the configurations
// came first; an error ends them.
func TestSamplesOfRuns(t *testing.T) {
	runs := func(yield func(assay.Trial, error) bool) {
		for _, r := range [][2]float64{{1, 5}, {2, 7}, {1, 6}} {
			if !yield(assay.Trial{Proposal: assay.Proposal{Config: assay.Config{r[0]}}, Value: r[1]}, nil) {
				return
			}
		}
	}
	got, err := Samples(runs, func(c assay.Config) string { return []string{"", "one", "two"}[int(c[0])] })
	if err != nil || len(got) != 2 || got[0].Config != "one" ||
		!slices.Equal(got[0].Values, []float64{5, 6}) || got[1].Config != "two" {
		t.Errorf("got %+v, %v", got, err)
	}
	broken := errors.New("broken")
	_, err = Samples(func(yield func(assay.Trial, error) bool) { yield(assay.Trial{}, broken) }, nil)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestReportForPeople(t *testing.T) {
	o := Options{Difference: 0.05, Error: 0.05}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		samples []NoiseSample
		want    []string
	}{
		"one configuration": {[]NoiseSample{{Config: "n=1", Values: heavy(300, 1.5, rng)}}, []string{
			"runs       300 of n=1\n", "value      min ", "tail       ", "advice     ", "log₁₀ P[noise > x]",
		}},
		"several": {[]NoiseSample{
			{Config: "a", Values: normalNoise(40, 0.1, rng)}, {Config: "b", Values: normalNoise(40, 0.1, rng)},
		}, []string{
			"runs       80 of 2 configurations, each divided by its configuration's median\n", ", standard deviation ",
		}},
	} {
		n, err := NoiseOf(c.samples, "s", o)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := n.Write(&b, o.Difference); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, b.String())
			}
		}
	}
}

// Ranks are told apart by whether their noise can be compared, and what counts as late.
func TestRanksForPeople(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	r := Ranks{
		Ranks: 4, Rows: 50, Correlation: at(0.3), IndependentRuns: at(2.5),
		Late: "difference", LateShare: 0.2, AllLateShare: 0.1,
	}
	for want, change := range map[string]func(*Ranks){
		"4 at 50 times: some are constant": func(r *Ranks) { r.Correlation = nil },
		"all are more than 5 % above their fastest at once in 0.1 of the times, one in 0.2: " +
			"the minimum of one run on each is worth 2.5 independent runs [NaN, NaN]": func(*Ranks) {},
		"all are above their median at once":          func(r *Ranks) { r.Late = "median" },
		"is worth at least 2.5 independent runs [NaN": func(r *Ranks) { r.AllLateShare = 0 },
	} {
		s := r
		change(&s)
		if got := s.text(0.05); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
