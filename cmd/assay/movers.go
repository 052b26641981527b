package main

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// The optimisers of Copper, whose search space JobPruner prunes (Silva et al.
// 2018, §3.3). They propose in batches.

func newPSO(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return search.NewPSO(s, search.PSOOptions{
		Particles: o.int("particles", 0, 1, 10_000), Inertia: o.number("inertia", 0, 0.01, 1), Pull: o.number("pull", 0, 0.01, 4), Seed: seed,
	}), nil
}

// newAnneal has a least Hot that is above the default of Cold.
func newAnneal(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return search.NewAnneal(s, search.AnnealOptions{
		Chains: o.int("chains", 0, 1, 10_000), Initial: o.int("initial", 0, 1, 10_000),
		Hot: o.number("hot", 0, 0.01, 100), Cooling: o.number("cooling", 0, 0.01, 0.9999), Seed: seed,
	}), nil
}

func newGRASP(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return search.NewGRASP(s, search.GRASPOptions{
		Initial: o.int("initial", 0, 1, 10_000), Alpha: o.number("alpha", 0, 0.001, 1), Seed: seed,
	}), nil
}

func newGPS(s *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	return search.NewGPS(s, search.GPSOptions{
		Initial: o.int("initial", 0, 1, 10_000), Mesh: o.number("mesh", 0, 1.0/64, 1), Seed: seed,
	}), nil
}
