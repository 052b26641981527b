package model

import (
	"math"

	"github.com/assay-run/assay"
)

// forestBlock is how many rows of a batch are quantised before they are walked through the trees: enough that the trees
// are read from memory rarely, few enough that the ranks stay in the second-level cache.
const forestBlock = 2048

// A forest is a fitted Forest. The trees lie one after another in nodes; the
// children of a node are numbers within its tree.
type forest struct {
	dim          int          // features
	columns      []rankColumn // quantise a row; nodes refer to them by index
	offset, half float64      // an outcome is offset + half·value
	roots        []int32      // where each tree starts, and where the last ends
	nodes        []forestNode // of all trees
	values       []float64    // of leaves
	covers       []int32      // draws
}

// reserve makes room for the given number of trees of about this number of nodes.
func (p *forest) reserve(trees, nodes int) {
	n := trees * (nodes + nodes/16)
	p.nodes = append(make([]forestNode, 0, n), p.nodes...)
	p.values = append(make([]float64, 0, n), p.values...)
	p.covers = append(make([]int32, 0, n), p.covers...)
}

// Predict implements [assay.Predictor].
func (p *forest) Predict(x []float64) assay.Prediction {
	var out [1]assay.Prediction
	p.PredictBatch([][]float64{x}, out[:])
	return out[0]
}

// PredictBatch implements [assay.BatchPredictor].
func (p *forest) PredictBatch(X [][]float64, out []assay.Prediction) {
	if len(X) != len(out) {
		panic("model: slice length mismatch")
	}
	rows := (min(len(X), forestBlock) + 3) / 4 * 4
	q := make([]uint16, rows*len(p.columns)+len(forestGroup{}))
	sums := make([]forestSums, rows)
	for len(X) > 0 {
		n := min(len(X), forestBlock)
		p.quantise(X[:n], q)
		s := sums[:(n+3)/4*4]
		clear(s)
		for t := range len(p.roots) - 1 {
			lo, hi := p.roots[t], p.roots[t+1]
			if len(p.columns) <= len(forestGroup{})/4 {
				walkForest(p.nodes[lo:hi], p.values[lo:hi], q, len(p.columns), s)
			} else {
				walkWideForest(p.nodes[lo:hi], p.values[lo:hi], q, len(p.columns), s)
			}
		}
		for i := range n {
			out[i] = p.prediction(s[i])
		}
		X, out = X[n:], out[n:]
	}
}

// quantise sets q to the ranks of X in groups of four rows: first the ranks in the first column, then in the second,
// and so on. Rows that are missing in the last group keep their previous ranks.
func (p *forest) quantise(X [][]float64, q []uint16) {
	for _, x := range X {
		if len(x) != p.dim {
			panic("model: slice length mismatch")
		}
	}
	for c := range p.columns {
		col := &p.columns[c]
		if len(col.cuts) == 1 {
			cut := col.cuts[0]
			for i, x := range X {
				r := uint16(1)
				if x[col.feature] <= cut {
					r = 0
				}
				q[i/4*4*len(p.columns)+4*c+i%4] = r
			}
			continue
		}
		for i, x := range X {
			q[i/4*4*len(p.columns)+4*c+i%4] = col.quantise(x[col.feature])
		}
	}
}

// forestSums are the sums over trees of a row's values, and of their squares.
type forestSums struct{ sum, squares float64 }

func (s *forestSums) add(v float64) {
	s.sum += v
	s.squares += v * v
}

// A forestGroup is the ranks of four rows in at most 64 columns. Its length is the range of an 8-bit number, which
// saves a bounds check.
type forestGroup [256]uint16

// leafBits is 0 in a leaf only.
const leafBits = math.MaxUint16 << 24

// walkForest adds the values of one tree to the sums of every row. q is their ranks in at most 64 columns, and is
// longer by a group. The walks of eight rows are interleaved, without branches, because each waits for memory twice at
// every step. There are two steps for each check that all are at leaves, where a step changes nothing.
func walkForest(nodes []forestNode, values []float64, q []uint16, columns int, sums []forestSums) {
	i := 0
	for ; i+8 <= len(sums); i += 8 {
		r, s := (*forestGroup)(q[i*columns:]), (*forestGroup)(q[(i+4)*columns:])
		a, b, c, d := nodes[0], nodes[0], nodes[0], nodes[0]
		e, f, g, h := nodes[0], nodes[0], nodes[0], nodes[0]
		for (a|b|c|d|e|f|g|h)&leafBits != 0 {
			a = nodes[a.next(r[uint8(a)])]
			b = nodes[b.next(r[uint8(b)|1])]
			c = nodes[c.next(r[uint8(c)|2])]
			d = nodes[d.next(r[uint8(d)|3])]
			e = nodes[e.next(s[uint8(e)])]
			f = nodes[f.next(s[uint8(f)|1])]
			g = nodes[g.next(s[uint8(g)|2])]
			h = nodes[h.next(s[uint8(h)|3])]

			a = nodes[a.next(r[uint8(a)])]
			b = nodes[b.next(r[uint8(b)|1])]
			c = nodes[c.next(r[uint8(c)|2])]
			d = nodes[d.next(r[uint8(d)|3])]
			e = nodes[e.next(s[uint8(e)])]
			f = nodes[f.next(s[uint8(f)|1])]
			g = nodes[g.next(s[uint8(g)|2])]
			h = nodes[h.next(s[uint8(h)|3])]
		}
		// The left child of a leaf is itself.
		to := (*[8]forestSums)(sums[i:])
		to[0].add(values[a.left()])
		to[1].add(values[b.left()])
		to[2].add(values[c.left()])
		to[3].add(values[d.left()])
		to[4].add(values[e.left()])
		to[5].add(values[f.left()])
		to[6].add(values[g.left()])
		to[7].add(values[h.left()])
	}
	for ; i < len(sums); i += 4 {
		r := (*forestGroup)(q[i*columns:])
		a, b, c, d := nodes[0], nodes[0], nodes[0], nodes[0]
		for (a|b|c|d)&leafBits != 0 {
			a = nodes[a.next(r[uint8(a)])]
			b = nodes[b.next(r[uint8(b)|1])]
			c = nodes[c.next(r[uint8(c)|2])]
			d = nodes[d.next(r[uint8(d)|3])]
		}
		to := (*[4]forestSums)(sums[i:])
		to[0].add(values[a.left()])
		to[1].add(values[b.left()])
		to[2].add(values[c.left()])
		to[3].add(values[d.left()])
	}
}

// walkWideForest is walkForest for any number of columns.
func walkWideForest(nodes []forestNode, values []float64, q []uint16, columns int, sums []forestSums) {
	for i := range sums {
		r := q[i/4*4*columns+i%4:]
		at := uint32(0)
		for {
			n := nodes[at]
			if n&leafBits == 0 {
				break
			}
			at = n.next(r[n.place()])
		}
		sums[i].add(values[at])
	}
}

// prediction returns the mean and standard deviation of trees with these sums.
func (p *forest) prediction(m forestSums) assay.Prediction {
	n := float64(len(p.roots) - 1)
	mean := m.sum / n
	std := math.NaN()
	if n > 1 {
		std = p.half * math.Sqrt(max(0, m.squares/n-mean*mean))
	}
	return assay.Prediction{Mean: p.offset + p.half*mean, Std: std}
}

// Ensemble implements [Trees]. It builds the trees anew on each call.
func (p *forest) Ensemble() Ensemble {
	trees := make([]Tree, len(p.roots)-1)
	for t := range trees {
		lo, hi := p.roots[t], p.roots[t+1]
		trees[t] = p.tree(p.nodes[lo:hi], p.values[lo:hi], p.covers[lo:hi])
	}
	return Ensemble{Trees: trees, Bias: p.offset, Scale: 1 / float64(len(trees))}
}

func (p *forest) tree(nodes []forestNode, values []float64, covers []int32) Tree {
	t := make(Tree, len(nodes))
	for i := len(t) - 1; i >= 0; i-- { // children before parents
		n := nodes[i]
		t[i] = Node{Feature: -1, Value: p.half * values[i], Cover: float64(covers[i])}
		if n.left() == i {
			continue
		}
		c := &p.columns[n.col()]
		l, r := &t[n.left()], &t[n.left()+1]
		t[i].Feature = int32(c.feature)
		t[i].Threshold = c.cuts[n.thr()]
		t[i].Left, t[i].Right = int32(n.left()), int32(n.left()+1)
		t[i].Value = (l.Cover*l.Value + r.Cover*r.Value) / (l.Cover + r.Cover)
	}
	return t
}
