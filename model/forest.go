package model

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/assay-run/assay"
)

const (
	forestTrees   = 100     // scikit-learn's default
	maxForestRows = 1 << 16 // examples are 16-bit numbers while a tree grows
	maxForestCols = 1<<16 - 1
)

// Forest learns a random regression forest (Breiman 2001), the surrogate of Cello (Ding et al. 2022, §3.2.1). Each tree
// is grown on a bootstrap sample of the size of the data. A node is split where the squared error falls most, until its
// outcomes or its features are all equal. The prediction is the mean over the trees, and Std their population standard
// deviation: the disagreement of the trees, not the noise of an outcome. Std is NaN for a single tree.
//
// A threshold lies halfway between two neighbouring values of the training set, so that the scale of a feature affects
// predictions only between those values. Splits that reduce the error equally, as is common in small nodes and among
// 0/1 features, are chosen between at random. With more than 65,536 examples, a random 65,536 are used. More than
// 65,535 features are an error.
//
// Fit needs one example. It sorts every feature once for all trees, and a tree costs examples · features · depth, about
// 3 ns each; features with up to a dozen values are cheaper. A prediction costs Trees · depth, about 2 ns each in a
// batch and 5 alone. If time is short, as in Bayesian optimization after each of a thousand trials, 30 trees with
// MaxFeatures a third of the features and MinLeaf 3 are a fifth of the cost.
type Forest struct {
	Trees       int    // 0 means 100
	MinLeaf     int    // least draws in a leaf; 0 means 1
	MaxFeatures int    // features tried at each node, not counting those that are constant there; 0 means all
	Seed        uint64 // of draws and ties
}

var (
	_ assay.Learner        = Forest{}
	_ assay.BatchPredictor = (*forest)(nil)
	_ Trees                = (*forest)(nil)
)

// Fit implements [assay.Learner]. The Predictor is a [Trees] and an [assay.BatchPredictor].
func (f Forest) Fit(d assay.Data) (assay.Predictor, error) {
	if err := CheckExact(d, 1); err != nil {
		return nil, err
	}
	if f.Trees < 0 || f.MinLeaf < 0 || f.MaxFeatures < 0 {
		panic("model: negative option of a forest")
	}
	if n := len(d.X[0]); n > maxForestCols {
		return nil, fmt.Errorf("%d features for a forest, at most %d", n, maxForestCols)
	}
	X, Y := d.X, d.Y
	if n := len(Y); n > maxForestRows {
		X, Y = make([][]float64, maxForestRows), make([]float64, maxForestRows)
		perm := rand.New(rand.NewPCG(f.Seed, 0)).Perm(n)
		for i := range X {
			X[i], Y[i] = d.X[perm[i]], d.Y[perm[i]]
		}
	}
	trees := cmp.Or(f.Trees, forestTrees)
	p := &forest{dim: len(X[0]), columns: rankColumnsOf(X)}
	g := newForestGrower(p.columns, Y)
	g.minLeaf = cmp.Or(f.MinLeaf, 1)
	g.tries = len(p.columns)
	if f.MaxFeatures > 0 {
		g.tries = min(g.tries, f.MaxFeatures)
	}
	p.offset, p.half = g.offset, g.half
	for t := range trees {
		// Stream 0 is the choice of examples above.
		g.rng = rand.NewPCG(f.Seed, uint64(t)+1)
		g.grow()
		p.roots = append(p.roots, int32(len(p.nodes)))
		p.nodes = append(p.nodes, g.nodes...)
		p.values = append(p.values, g.values...)
		p.covers = append(p.covers, g.covers...)
		if t == 0 {
			p.reserve(trees, len(g.nodes))
		}
	}
	p.roots = append(p.roots, int32(len(p.nodes)))
	return p, nil
}

// fixedPoint returns u, numbers in [-1, 1], as whole numbers: times a power of two such that a sum of len(u) of them
// has at most 46 bits. Such sums are exact, so that the gain of a partition does not depend on the feature that makes
// it, nor on the order. The rounding, 2^-29 or less, matters only for the choice between nearly equal splits.
func fixedPoint(u []float64) []int64 {
	scale := math.Ldexp(1, 46-bits.Len(uint(len(u))))
	z := make([]int64, len(u))
	for i, v := range u {
		z[i] = int64(math.Round(v * scale))
	}
	return z
}
