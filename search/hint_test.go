package search

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
)

func TestHintConformance(t *testing.T) {
	assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
		a := lightAuto(s, AutoOptions{Initial: 3})
		a.Hint(func(c assay.Config) float64 { return s.Unit(c)[0] })
		return a
	}, assaytest.SearcherOptions{Exhausts: true, Trials: 12})
}

// hintedBest returns the mean best of n trials over seeds of an Auto search.
func hintedBest(t *testing.T, space *assay.Space, n int, f func(assay.Config) float64,
	hint func(assay.Config) float64,
) float64 {
	t.Helper()
	seeds := testbed.Times(4, 12)
	var sum float64
	for seed := range uint64(seeds) {
		a := lightAuto(space, AutoOptions{Seed: seed})
		if hint != nil {
			a.Hint(hint)
		}
		best := math.Inf(1)
		for range n {
			ps, err := a.Ask(1)
			if err != nil {
				t.Fatal(err)
			}
			v := f(ps[0].Config)
			best = min(best, v)
			if err := a.Tell(assay.Trial{Proposal: ps[0], State: assay.Done, Value: v}); err != nil {
				t.Fatal(err)
			}
		}
		sum += best / float64(seeds)
	}
	return sum
}

// A hint that is right, but for a scale and a trend, is worth many trials, whether
// the whole space is scored or not; one that is noise costs little.
func TestHintHelps(t *testing.T) {
	t.Parallel()
	pooled := gridSpace(t)
	params := slices.Clone(pooled.Params)
	for i := range params {
		params[i].Kind = assay.Real
	}
	sampled := must(assay.NewSpace(params))
	for name, space := range map[string]*assay.Space{"pool": pooled, "sampled": sampled} {
		t.Run(name, func(t *testing.T) {
			without := hintedBest(t, space, 14, rugged, nil)
			right := hintedBest(t, space, 14, rugged, func(c assay.Config) float64 { return math.Sqrt(rugged(c))/8 + c[1]/200 })
			noise := hintedBest(t, space, 14, rugged, func(c assay.Config) float64 {
				_, f := math.Modf(1e3 * math.Abs(math.Sin(c[0]+10*c[1]+100*c[2])))
				return f
			})
			t.Logf("best: %.3f without, %.3f right, %.3f noise", without, right, noise)
			if right-1 > 0.6*(without-1) || noise-1 > 1.5*(without-1) {
				t.Errorf("best: %.3f without, %.3f with a right hint, %.3f with noise", without, right, noise)
			}
		})
	}
}

// rugged has many local optima; its least value is 1.
func rugged(c assay.Config) float64 {
	v := 1.0
	for i, x := range c {
		v += (x-7)*(x-7)*float64(i+1)/20 + 2 - 2*math.Cos(2*(x-7))
	}
	return v
}

// A hint is replaced: all models that follow see the new one, at the trials of before too, whether the whole space is
// scored or not.
func TestHintIsReplaced(t *testing.T) {
	pooled := gridSpace(t)
	params := slices.Clone(pooled.Params)
	params[0].Kind = assay.Real
	for name, space := range map[string]*assay.Space{"pool": pooled, "sampled": must(assay.NewSpace(params))} {
		t.Run(name, func(t *testing.T) {
			a := lightAuto(space, AutoOptions{Seed: 1, Initial: 3})
			a.Hint(func(c assay.Config) float64 { return c[0] })
			width := len(a.bayes.encode(space.FromUnit(make([]float64, space.Dim()))))
			driveAuto(t, a, 6, rugged)
			second := func(c assay.Config) float64 { return 100 + c[1] }
			a.Hint(second)
			driveAuto(t, a, 6, rugged)
			for _, e := range a.bayes.trials {
				if n := len(e.features); n != width || e.features[n-1] != second(e.config) {
					t.Fatalf("features %v of %v, want %d that end with %v", e.features, e.config, width, second(e.config))
				}
			}
			if p := a.bayes.pool; p != nil {
				row := make([]float64, p.width)
				p.expand(5, row)
				if want := a.bayes.encode(space.At(5)); !slices.Equal(row, want) {
					t.Errorf("row %v of the pool, want %v", row, want)
				}
			}
		})
	}
}
