// Package search holds the algorithms that propose configurations: each is an assay.Searcher.
//
// [NewRandom] draws, [NewGrid] enumerates, [NewLHS] and [NewSobol] fill the space evenly; none of them looks at
// results. [NewBayes] fits a model to the results and proposes the configuration with the largest expected
// improvement; [NewAuto] does so with several models in turn, [NewBliss] with a pool of them.
//
// [NewPRO], [NewSRO] and [NewNelderMead] are direct searches: a simplex of configurations that moves, grows and
// shrinks by the order of its values. [NewPSO], [NewAnneal], [NewGRASP] and [NewGPS] propose in batches: a swarm,
// several annealed walks, greedy random constructions with local searches, and polls on a mesh.
//
// Wrappers add behaviour to any searcher: [First] puts the user's own configurations in front, [Cache] runs no
// configuration twice, and [Replicate] measures each several times, [Adaptive] until their order is settled. They
// nest from the inside out:
//
//	search.First(search.Replicate(search.Cache(inner), 3, slices.Min), defaults...)
//
// is inner with remembered results, each taken three times, after the defaults once. Wrappers forward Observe to the
// searcher inside, and Narrow if they can keep its contract.
//
// Searchers are made of a few parts. A ledger numbers the proposals and checks the results. A visited set holds
// configurations, a limit is the rest of a narrowed space, and a source is a random source that can be set back. A
// place is all of these: it makes points of the unit cube proposals that are admissible and all different. A memoir
// makes a searcher whose proposals are costly to compute an assay.Resumer. CONTRIBUTING.md describes how to add a
// searcher.
//
// Searchers read a trial's State and Value and know nothing of measurements, clocks or budgets. How a searcher treats
// trials without an exact value is part of its own comment.
package search
