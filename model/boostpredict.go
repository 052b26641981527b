package model

import (
	"math"

	"github.com/assay-run/assay"
)

// maxFlatDepth is the depth up to which trees are laid out in full.
const maxFlatDepth = 8

// boosted is a fitted sum of trees. Rows are predicted in blocks of four that
// go down a tree together, without branches that depend on the data.
type boosted struct {
	trees []Tree     // predict one after another if flat is nil
	bias  float64    // the margin without trees
	flat  []flatTree // nil if a tree is deeper than maxFlatDepth
	d     int        // 1 + the highest feature that is used
}

// A flatTree is a full binary tree of the given depth: the children of node i
// are 2i and 2i+1, the root is 1, and the leaves follow the inner nodes.
type flatTree struct {
	depth int
	nodes []flatNode // 1<<depth; the 0th is not used
	leaf  []float64  // 1<<depth
}

// A flatNode sends a row left if its feature is at most the threshold.
type flatNode struct {
	threshold float64
	feature   int // its index times lanes; see margins
}

// lanes is the number of rows in a block.
const lanes = 4

func newBoosted(trees []Tree, bias float64) *boosted {
	b := &boosted{trees: trees, bias: bias}
	depth := 0
	for _, t := range trees {
		depth = max(depth, t.depth())
		for _, n := range t {
			b.d = max(b.d, int(n.Feature)+1)
		}
	}
	if depth > maxFlatDepth || b.d == 0 {
		return b
	}
	b.flat = make([]flatTree, len(trees))
	for k, t := range trees {
		b.flat[k] = newFlatTree(t)
	}
	return b
}

// depth returns the number of splits on the longest way to a leaf.
func (t Tree) depth() int {
	d := make([]int, len(t)) // of the nodes
	most := 0
	for i, n := range t {
		most = max(most, d[i])
		if !n.Leaf() {
			d[n.Left], d[n.Right] = d[i]+1, d[i]+1
		}
	}
	return most
}

func newFlatTree(t Tree) flatTree {
	depth := t.depth()
	f := flatTree{depth, make([]flatNode, 1<<depth), make([]float64, 1<<depth)}
	var fill func(at, level int, node int32)
	fill = func(at, level int, node int32) {
		n := t[node]
		switch {
		case level == depth:
			f.leaf[at-1<<depth] = n.Value
		case n.Leaf(): // both children are copies of it
			f.nodes[at].threshold = math.Inf(1)
			fill(2*at, level+1, node)
			fill(2*at+1, level+1, node)
		default:
			f.nodes[at] = flatNode{n.Threshold, int(n.Feature) * lanes}
			fill(2*at, level+1, n.Left)
			fill(2*at+1, level+1, n.Right)
		}
	}
	fill(1, 0, 0)
	return f
}

// margin returns the bias plus the sum of the trees at x.
func (b *boosted) margin(x []float64) float64 {
	var sum float64
	for _, t := range b.trees {
		sum += t.Predict(x)
	}
	return b.bias + sum
}

// margins sets out[i].Mean to the margin at X[i].
func (b *boosted) margins(X [][]float64, out []assay.Prediction) {
	i := 0
	if b.flat != nil {
		block := make([]float64, b.d*lanes)
		var sum [lanes]float64
		for ; i+lanes <= len(X); i += lanes {
			for k, x := range X[i : i+lanes] {
				for f, v := range x[:b.d] {
					block[f*lanes+k] = v
				}
			}
			sum = [lanes]float64{}
			for k := range b.flat {
				b.flat[k].add(block, &sum)
			}
			for k, s := range sum {
				out[i+k].Mean = b.bias + s
			}
		}
	}
	for ; i < len(X); i++ {
		out[i].Mean = b.margin(X[i])
	}
}

// add adds the tree's prediction for each row of block to sum.
func (t *flatTree) add(block []float64, sum *[lanes]float64) {
	nodes := t.nodes
	i0, i1, i2, i3 := 1, 1, 1, 1
	for range t.depth {
		n0, n1, n2, n3 := &nodes[i0], &nodes[i1], &nodes[i2], &nodes[i3]
		i0 = i0*2 + goesRight(block[n0.feature], n0.threshold)
		i1 = i1*2 + goesRight(block[n1.feature+1], n1.threshold)
		i2 = i2*2 + goesRight(block[n2.feature+2], n2.threshold)
		i3 = i3*2 + goesRight(block[n3.feature+3], n3.threshold)
	}
	n := len(nodes)
	sum[0] += t.leaf[i0-n]
	sum[1] += t.leaf[i1-n]
	sum[2] += t.leaf[i2-n]
	sum[3] += t.leaf[i3-n]
}

// goesRight is 1 unless x <= t, without a branch.
func goesRight(x, t float64) int {
	left := 0
	if x <= t {
		left = 1
	}
	return 1 - left
}

// Predict implements assay.Predictor.
func (b *boosted) Predict(x []float64) assay.Prediction {
	return assay.Prediction{Mean: b.margin(x), Std: math.NaN()}
}

// PredictBatch implements assay.BatchPredictor.
func (b *boosted) PredictBatch(X [][]float64, out []assay.Prediction) {
	if len(X) != len(out) {
		panic("model: slice length mismatch")
	}
	b.margins(X, out)
	for i := range out {
		out[i].Std = math.NaN()
	}
}

// Ensemble implements [Trees].
func (b *boosted) Ensemble() Ensemble {
	return Ensemble{Trees: b.trees, Bias: b.bias, Scale: 1}
}
