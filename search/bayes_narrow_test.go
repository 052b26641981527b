package search

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/model"
)

// A narrowSearcher is a searcher that is a Narrower itself.
type narrowSearcher interface {
	assay.Searcher
	assay.Narrower
}

// narrowing makes the searchers whose limits are tested here.
func narrowing(s *assay.Space, seed uint64) map[string]narrowSearcher {
	auto := NewAuto(s, AutoOptions{Seed: seed, Initial: 4})
	auto.bayes.draws, auto.bayes.starts = 16, 1
	bayes := NewBayes(s, BayesOptions{Learner: model.Forest{Trees: 4}, Initial: 4, Seed: seed})
	bayes.draws, bayes.starts = 16, 1
	return map[string]narrowSearcher{"auto": auto, "bayes": bayes}
}

// cubes are spaces of a few points, with and without a pool, and one without
// an end.
func cubes(t testing.TB) map[string]*assay.Space {
	t.Helper()
	number := func(name string, hi float64) assay.Param {
		return assay.Param{Name: name, Kind: assay.Integer, Lo: 0, Hi: hi}
	}
	build := func(s *assay.Space, err error) *assay.Space {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	grid := []assay.Param{number("a", 4), number("b", 3)}
	var list []assay.Config
	for i := range 20 {
		if i%3 != 0 {
			list = append(list, assay.Config{float64(i / 4), float64(i % 4)})
		}
	}
	return map[string]*assay.Space{
		"pool":    build(assay.NewSpace(grid)),
		"list":    build(assay.NewList(grid, list)),
		"large":   build(assay.NewSpace([]assay.Param{number("a", 999), number("b", 999)})),
		"endless": build(assay.NewSpace([]assay.Param{{Name: "a", Kind: assay.Real, Lo: 0, Hi: 4}, number("b", 3)})),
	}
}

// Any sequence of limits keeps every proposal inside the one that stands, no
// configuration comes twice, and where the space is small ErrDone comes exactly
// when the limit holds nothing new.
func TestNarrowKeepsInside(t *testing.T) {
	spaces := cubes(t)
	rapid.Check(t, func(t *rapid.T) {
		space := spaces[rapid.SampledFrom([]string{"pool", "list", "large", "endless"}).Draw(t, "space")]
		name := rapid.SampledFrom([]string{"auto", "bayes"}).Draw(t, "searcher")
		s := narrowing(space, rapid.Uint64().Draw(t, "seed"))[name]
		seen := visited{}
		var keep func(assay.Config) bool
		for range rapid.IntRange(1, 8).Draw(t, "limits") {
			keep = nil
			if lo := rapid.Float64Range(-1, 3.5).Draw(t, "from"); lo >= 0 {
				keep = func(c assay.Config) bool { return c[0] >= lo && c[1] <= 3 }
			}
			s.Narrow(keep)
			for range rapid.IntRange(1, 7).Draw(t, "asks") {
				left := 0
				if n := space.Size().N; n > 0 && n <= 20 {
					for c := range space.All() {
						if !seen.has(c) && (keep == nil || keep(c)) {
							left++
						}
					}
				} else {
					left = 1
				}
				ps, err := s.Ask(1)
				if left == 0 {
					if !errors.Is(err, assay.ErrDone) {
						t.Fatalf("got %v and %v where the limit holds nothing new", ps, err)
					}
					break
				}
				if err != nil {
					t.Fatalf("%v with %d left", err, left)
				}
				c := ps[0].Config
				if keep != nil && !keep(c) || !space.Contains(c) || !seen.add(c) {
					t.Fatalf("proposed %v", c)
				}
				if err := s.Tell(doneTrial(ps[0], 1+c[0]+c[1])); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// A limit that holds little of a large space is filled to its last point, and the points outside of
// it return when it is lifted.
func TestNarrowLargeSpace(t *testing.T) {
	t.Parallel()
	testbed.Long(t)
	space := cubes(t)["large"]
	for name, s := range narrowing(space, 1) {
		driveAuto(t, s, 8, dishOfTwo)
		s.Narrow(func(c assay.Config) bool { return c[0] < 10 && c[1] >= 995 })
		n := 0
		for {
			ps, err := s.Ask(1)
			if errors.Is(err, assay.ErrDone) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n++
			if err := s.Tell(doneTrial(ps[0], dishOfTwo(ps[0].Config))); err != nil {
				t.Fatal(err)
			}
		}
		if n < 49 || n > 50 { // of 50, of which the start may have had one
			t.Errorf("%s: %d proposals inside a limit of 50", name, n)
		}
		s.Narrow(nil)
		best, _ := assay.Best(driveAuto(t, s, 25, dishOfTwo))
		if best.Value > 1.05 {
			t.Errorf("%s: found %v after the limit was lifted, the optimum is 1", name, best.Value)
		}
	}
}

func dishOfTwo(c assay.Config) float64 {
	x, y := c[0]/1000-0.3, c[1]/1000-0.6
	return 1 + x*x + y*y
}

func TestNarrowConformance(t *testing.T) {
	testbed.Long(t)
	opts := light(assaytest.SearcherOptions{Exhausts: true, Trials: 12})
	for _, name := range []string{"auto", "bayes"} {
		t.Run(name, func(t *testing.T) {
			assaytest.TestNarrower(t, func(s *assay.Space) assay.Searcher { return narrowing(s, 1)[name] }, opts)
		})
	}
}
