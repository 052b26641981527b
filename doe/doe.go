// Package doe designs experiments: it says where to measure before anything
// has been measured.
//
// A design lives on the unit cube or on level numbers, and knows nothing of
// parameters: a searcher maps it to configurations with assay.Space.FromUnit.
// [Sobol] fills the cube point by point and [LatinHypercube] with a number of
// points known beforehand, [Factorial] visits every combination of levels,
// [TwoLevel] the corners, [PlackettBurman] a few of them that tell all factors
// apart, [Bisection] one axis from its ends inwards, and
// [Permutation] a long range in random order without remembering it.
//
// Every design is a function of its arguments, the seed or random source among
// them. Nothing here measures, orders by result or adapts.
package doe
