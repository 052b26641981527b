package prune

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// plane is a space of two reals.
func plane() *assay.Space {
	return must(assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Real, Lo: 0, Hi: 1},
		{Name: "y", Kind: assay.Real, Lo: 0, Hi: 1},
	}))
}

// field is a stationary random field: many cosines of random direction and phase,
// and noise of variance nugget.
func field(seed uint64, nugget float64) func(assay.Config) float64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	type wave struct{ a, b, phase float64 }
	waves := make([]wave, 200)
	for i := range waves {
		waves[i] = wave{20 * rng.NormFloat64(), 20 * rng.NormFloat64(), 2 * math.Pi * rng.Float64()}
	}
	return func(c assay.Config) float64 {
		var v float64
		for _, w := range waves {
			v += math.Cos(w.a*c[0]+w.b*c[1]+w.phase) * math.Sqrt(2/float64(len(waves)))
		}
		return 10 + v*math.Sqrt(1-nugget) + rng.NormFloat64()*math.Sqrt(nugget)
	}
}

// A surface without noise is continuous, noise alone is not: alpha is 1 - nugget/sill.
// Reference: section 3.6. A single sample may fail a test at the level of 0.05, and
// then has the fixed value: the means over the samples of 40 that pass are compared.
func TestSuggestAlpha(t *testing.T) {
	space := plane()
	mean := func(nugget float64) (sum float64) {
		n := 0.0
		for seed := range uint64(40) {
			if a, note := SuggestAlpha(space, earlier("s", space, 150, seed, field(seed, nugget)).Trials, 0.99); note == "" {
				sum += a
				n++
			}
		}
		if n < 8 {
			t.Fatalf("%v of 40 fields of nugget %v had a variogram", n, nugget)
		}
		return sum / n
	}
	smooth, half, noise := mean(0), mean(0.5), mean(1)
	if smooth < 0.8 || half < 0.25 || half > 0.75 || noise > 0.25 {
		t.Errorf("alpha %.2f without noise, %.2f with half, %.2f with nothing else; want about 1, 0.5 and 0",
			smooth, half, noise)
	}
}

// Alpha is 0.6 if the outcomes are no stationary normal field, and the user gets a
// warning. Reference: section 3.6, last paragraph.
func TestSuggestAlphaFixed(t *testing.T) {
	space := plane()
	rng := rand.New(rand.NewPCG(5, 5))
	for _, tc := range []struct {
		name string
		n    int
		f    func(assay.Config) float64
		want string
	}{
		{"few", 5, func(c assay.Config) float64 { return c[0] }, "too few"},
		{
			"two humps", 150, func(c assay.Config) float64 { return math.Round(c[0])*100 - 50 + rng.NormFloat64() },
			"not normal",
		},
		{"trend", 150, func(c assay.Config) float64 { return 100 + 2*c[0] + rng.NormFloat64() }, "constant mean"},
	} {
		alpha, note := SuggestAlpha(space, earlier("s", space, tc.n, 1, tc.f).Trials, 0)
		if alpha != FixedAlpha || !strings.Contains(note, tc.want) {
			t.Errorf("%s: alpha %v with note %q, want %v and %q", tc.name, alpha, note, FixedAlpha, tc.want)
		}
	}
	spreading := earlier("s", space, 150, 1,
		func(c assay.Config) float64 { return rng.NormFloat64() * (1 + 2*math.Round(c[0])) }).Trials
	if got := unsteady(space, spreading, finishedValues(spreading)); got != "variance" {
		t.Errorf("%q differs between the sides of x, want the variance", got)
	}
	if alpha, _ := SuggestAlpha(space, nil, 0.3); alpha != 0.3 {
		t.Errorf("alpha %v above its cap 0.3", alpha)
	}
	if alpha, _ := SuggestAlpha(space, earlier("s", space, 150, 3, field(3, 0)).Trials, 0); alpha > 0.9 {
		t.Errorf("alpha %v above the default cap", alpha)
	}
}
