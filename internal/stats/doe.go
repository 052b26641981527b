package stats

// This file designs experiments: it chooses the points of measurement in advance.
//
// A design lives on the unit cube or on level numbers, and does not use parameters: a searcher maps it to
// configurations with assay.Space.FromUnit. [Sobol] fills the cube point by point and [LatinHypercube] with a number of
// points known beforehand, [Factorial] visits every combination of levels, [TwoLevel] the corners, [PlackettBurman] a
// few corners that separate the effects of all factors, [Bisection] one axis from its ends inwards, and [Permutation] a
// long range in random order without storing it.
//
// Every design is a function of its arguments, the seed or random source among them. Nothing here measures, orders by
// result or adapts.
