package main

import (
	"cmp"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/search"
)

// simplexKeys are the options of the direct searches.
func simplexKeys() []string { return []string{"minimal", "size", "restarts"} }

// rankKeys are those of the rank ordering methods.
func rankKeys() []string { return append(simplexKeys(), "grow") }

// simplexOptions reads the options of a direct search. Unlike the library it
// starts again after a local minimum, as long as there is a budget.
func simplexOptions(seed uint64, o *options) search.SimplexOptions {
	return search.SimplexOptions{
		Minimal: o.text("minimal", "false") == "true", Size: o.number("size", 0.2, 0.001, 1),
		Grow:     o.text("grow", "false") == "true",
		Restarts: o.int("restarts", -1, -1, 1_000_000), Remember: true, Seed: seed,
	}
}

func newPRO(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return search.NewPRO(s, simplexOptions(seed, o)), nil
}

func newSRO(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return search.NewSRO(s, simplexOptions(seed, o)), nil
}

func newNelderMead(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return search.NewNelderMead(s, simplexOptions(seed, o)), nil
}

// repeated returns s with its proposals run more than once, if the study says so.
// As many as it takes are 2 to 10 for minima, and 4 to 12 for medians and means,
// whose rank test needs 4.
func repeated(s assay.Searcher, r config.Repeat) assay.Searcher {
	name := cmp.Or(r.Estimator, "min")
	reduce := estimators()[name]
	switch {
	case r.Auto && name == "min":
		return search.Adaptive(s, search.AdaptiveOptions{Reduce: reduce})
	case r.Auto:
		return search.Adaptive(s, search.AdaptiveOptions{Min: 4, Max: 12, Reduce: reduce, Settled: search.Shift(0.9)})
	case r.Runs > 1:
		return search.Replicate(s, r.Runs, reduce)
	}
	return s
}
