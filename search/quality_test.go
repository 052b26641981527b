package search

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/model"
)

// Over recorded tables and seeds, after 50 trials, the geometric mean of
// best/optimum, less 1, is at most 0.55 of random search's without replacement.
// The goal is for 20 seeds over all tables together (ASSAY_SOAK=1); the ordinary
// run takes 5 seeds on the small tables. The means are ruled by the tables with
// the widest ranges, perfevo-fastdownward above all: read the lines of the single
// tables, where random search can still be as good.
func TestBayesQuality(t *testing.T) {
	testbed.System(t)
	folder := testbed.Data(t)
	seeds, sources := 5, tableSources
	soak := testbed.IsSystem()
	if soak {
		seeds, sources = 20, append(append([]tableSource(nil), sources...), heldOut...)
	}
	const trials = 50
	var random, bayes float64
	count := 0
	for _, src := range sources {
		tab := readTable(t, folder, src)
		if !soak && tab.space.Size().N > 400 {
			continue
		}
		mean := func(f func(seed uint64) assay.Searcher) float64 {
			var s float64
			for seed := range uint64(seeds) {
				s += regret(t, tab, f(seed), trials) / float64(seeds)
			}
			return s
		}
		r := mean(func(seed uint64) assay.Searcher { return NewRandom(tab.space, seed) })
		b := mean(func(seed uint64) assay.Searcher {
			return NewBayes(tab.space, BayesOptions{Learner: model.Forest{Trees: 30, Seed: seed}, Seed: seed})
		})
		t.Logf("%-70s %5d configurations: random %8.4f, bayes %8.4f", tab.name, tab.space.Size().N, math.Expm1(r),
			math.Expm1(b))
		random += r
		bayes += b
		count++
	}
	r, b := math.Expm1(random/float64(count)), math.Expm1(bayes/float64(count))
	t.Logf("geometric mean of %d tables: random %.4f, bayes %.4f, ratio %.3f", count, r, b, b/r)
	if b > 0.55*r {
		t.Errorf("bayes has %.3f of random's relative error, want at most 0.55", b/r)
	}
}
