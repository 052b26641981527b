package model

import "github.com/assay-run/assay"

// A Node is one node of a [Tree].
type Node struct {
	Feature   int32   // the feature that is tested, or -1 in a leaf
	Left      int32   // where x[Feature] <= Threshold continues; 0 in a leaf
	Right     int32   // where it continues otherwise; 0 in a leaf
	Threshold float64 // 0 in a leaf
	Value     float64 // prediction of a leaf; in an inner node the Cover-weighted mean of its leaves
	Cover     float64 // training weight that reached the node: the sum of its children's
}

// Leaf reports whether the node has no children.
func (n Node) Leaf() bool { return n.Feature < 0 }

// A Tree is a binary regression tree. Node 0 is the root, and the children of node i are Left and Right, both greater
// than i: a loop from the last node to the first meets children before their parents. A Tree is never empty and is not
// modified once it is built.
type Tree []Node

// Leaf returns the index of the leaf that x falls into. A NaN goes right. Cost: the depth of the leaf.
func (t Tree) Leaf(x []float64) int {
	i := int32(0)
	for t[i].Feature >= 0 {
		if n := &t[i]; x[n.Feature] <= n.Threshold {
			i = n.Left
		} else {
			i = n.Right
		}
	}
	return int(i)
}

// Predict returns the value of the leaf that x falls into.
func (t Tree) Predict(x []float64) float64 { return t[t.Leaf(x)].Value }

// An Ensemble is a sum of trees,
//
//	f(x) = Bias + Scale · Σ_k Trees[k](x):
//
// a forest has the centre of the outcomes as Bias and Scale 1/len(Trees); boosting has its base score as Bias, and
// Scale 1 with the learning rate inside the leaves.
type Ensemble struct {
	Trees []Tree  // of any depth
	Bias  float64 // the prediction without trees
	Scale float64 // factor on the sum of the trees
}

// Predict returns f(x).
func (e Ensemble) Predict(x []float64) float64 {
	var sum float64
	for _, t := range e.Trees {
		sum += t.Predict(x)
	}
	return e.Bias + e.Scale*sum
}

// Trees is a Predictor that can be explained tree by tree.
type Trees interface {
	assay.Predictor
	// Ensemble returns trees whose sum is the predictive mean, up to rounding, or a monotone transform of it if the
	// documentation of the predictor's type defines one. The trees belong to the predictor: the caller must not change
	// them. It may build them on each call.
	Ensemble() Ensemble
}
