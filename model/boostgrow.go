package model

import "math"

// minGain is the least gain for which a node is split (XGBoost's rt_eps).
const minGain = 1e-6

// A growing is a node of the tree that is being grown. While it is open, its rows in the order of each feature are at
// [start:end] of the feature's part of grower.order.
type growing struct {
	start, end int32
	left       int32    // its left child, the right one follows; 0 if it has none
	closed     bool     // it is known to be a leaf
	varying    []int    // which of grower.features may differ among its rows
	sum        gradient // over its rows
	base       float32  // the gain without a split, G²/(H+λ)
	weight     float32  // the leaf value before shrinkage, -G/(H+λ)

	// The best split so far.
	gain      float32
	feature   int32
	size      int32 // rows that go left
	threshold float64

	// The condition on a candidate to be better; see raise.
	slope, bar float64
}

// A grower grows trees on one set of rows, one level after the other. Gains are
// compared in float32 and summed in float64, as XGBoost does.
type grower struct {
	cols     *columns   // the training matrix
	opt      Boost      // depth, weights and shrinkage of a tree
	gh       []gradient // per row; set by the loss
	features []int32    // the features that are not constant

	// The rows of the open nodes in the order of features[k] are at the start
	// of order[k*n:(k+1)*n], node by node; next is where the next level's go.
	order, next []int32
	nodes       []growing // of the tree so far, level by level
	at          []int32   // for each row the node that it is in
	leaf        []float32 // of each node, the value of a leaf after shrinkage
	varying     []int     // room for growing.varying
}

func newGrower(cols *columns, opt Boost) *grower {
	g := &grower{cols: cols, opt: opt, gh: make([]gradient, cols.n), at: make([]int32, cols.n)}
	for f, o := range cols.order {
		if o != nil {
			g.features = append(g.features, int32(f))
		}
	}
	g.order = make([]int32, cols.n*len(g.features))
	g.next = make([]int32, len(g.order))
	return g
}

// part returns the part of order or next that belongs to features[k].
func (g *grower) part(order []int32, k int) []int32 { return order[k*g.cols.n : (k+1)*g.cols.n] }

// grow returns a tree fitted to g.gh and adds its predictions to margin.
func (g *grower) grow(margin []float32) Tree {
	for k, f := range g.features {
		copy(g.part(g.order, k), g.cols.order[f])
	}
	clear(g.at)
	g.varying = g.varying[:0]
	for k := range g.features {
		g.varying = append(g.varying, k)
	}
	g.nodes = append(g.nodes[:0], growing{varying: g.varying})
	g.sum(0)
	g.open(&g.nodes[0], g.opt.MaxDepth == 0)
	g.nodes[0].end = int32(g.cols.n)

	rows := g.cols.n // of the open nodes
	// Invariant: nodes[from:to] are the nodes of one depth, all nodes before
	// them are split or leaves, and there are none after them.
	for depth, from, to := 0, 0, 1; rows > 0; depth, from, to = depth+1, to, len(g.nodes) {
		for i := from; i < to; i++ {
			g.search(&g.nodes[i])
		}
		rows = g.split(from, to, depth+1 == g.opt.MaxDepth)
		if rows == 0 {
			break
		}
		for i := from; i < to; i++ {
			if g.nodes[i].left != 0 {
				g.move(&g.nodes[i])
			}
		}
		g.order, g.next = g.next, g.order
	}
	g.prune(0)
	g.leaf = append(g.leaf[:0], make([]float32, len(g.nodes))...)
	t := g.emit(append(make(Tree, 0, len(g.nodes)), Node{}), 0, 0)
	for r, i := range g.at {
		margin[r] += g.leaf[i]
	}
	return t
}

// sum sets the sums of the nodes from the first on, row by row.
func (g *grower) sum(first int) {
	nodes := g.nodes[first:]
	for r, i := range g.at {
		if i >= int32(first) {
			n := &nodes[i-int32(first)]
			n.sum.g += g.gh[r].g
			n.sum.h += g.gh[r].h
		}
	}
}

// open derives the inputs of the split search from the sum of n. A leaf, or a node too light for two children, is
// closed.
func (g *grower) open(n *growing, leaf bool) {
	s := n.sum
	if s.h >= g.opt.MinChildWeight && s.h > 0 {
		n.weight = float32(-s.g / (s.h + g.opt.Lambda))
	}
	n.base = g.term(s.g, s.h)
	n.closed = leaf || s.h < 2*g.opt.MinChildWeight*(1-1e-9)
	g.raise(n)
}

// term is one term of the gain, with the roundings of XGBoost 1.7: among
// candidates that differ by less the first one wins.
func (g *grower) term(grad, hess float64) float32 {
	if hess <= 0 {
		return 0
	}
	return float32(grad*grad) / float32(hess+g.opt.Lambda)
}

// raise sets the bar for candidates of n from its best split. With a the right child's H+λ and b the left one's, S =
// a+b = H+2λ, and u = G_R - a·G/S,
//
//	G_R²/a + G_L²/b = G²/S + u²·S/(a·b)
//
// so that a candidate can only be better than the best if u² > bar·a·b, with bar = (best - G²/S)/S, which needs no
// division. The best is lowered by more than the rounding of float32; candidates that pass are compared exactly.
func (g *grower) raise(n *growing) {
	s := n.sum.h + 2*g.opt.Lambda
	if !(s > 0) || g.opt.Lambda+g.opt.MinChildWeight < 1e-3 {
		// u²·S/(a·b) is inaccurate where a or b is tiny.
		n.slope, n.bar = 0, math.Inf(-1)
		return
	}
	n.slope = n.sum.g / s
	best := (float64(n.base) + max(float64(n.gain), minGain)) * (1 - 1e-6)
	n.bar = (best - n.slope*n.sum.g) / s
}

// search finds the best split of n, and which features vary in it.
func (g *grower) search(n *growing) {
	if n.closed {
		return
	}
	first := len(g.varying)
	for _, k := range n.varying {
		if seg := g.part(g.order, k); g.differ(k, seg[n.start], seg[n.end-1]) {
			g.varying = append(g.varying, k)
			g.scan(n, k)
		}
	}
	n.varying = g.varying[first:]
}

// scan tries every threshold of features[k] in node n, from the highest down.
func (g *grower) scan(n *growing, k int) {
	seg := g.part(g.order, k)[n.start:n.end]
	gh := g.gh
	lambda, total := g.opt.Lambda, n.sum.h+2*g.opt.Lambda
	slope, bar := n.slope, n.bar
	var right gradient
	// Invariant: right is the sum over seg[i+1:].
	for i := len(seg) - 1; i > 0; i-- {
		p := &gh[seg[i]]
		right.g += p.g
		right.h += p.h
		a := right.h + lambda
		u := right.g - slope*a
		if u*u > bar*a*(total-a) && g.differ(k, seg[i-1], seg[i]) {
			g.try(n, k, i, right)
			bar = n.bar
		}
	}
}

// differ reports whether two rows have different values of features[k].
func (g *grower) differ(k int, a, b int32) bool {
	v := g.cols.column(int(g.features[k]))
	return v[a] != v[b]
}

// try compares the split of n before the i-th of its rows in the order of features[k] with the best one, and takes it
// if it is better. right is the sum over the rows from the i-th on.
func (g *grower) try(n *growing, k, i int, right gradient) {
	left := gradient{n.sum.g - right.g, n.sum.h - right.h}
	if right.h < g.opt.MinChildWeight || left.h < g.opt.MinChildWeight {
		return
	}
	gain := g.term(left.g, left.h) + g.term(right.g, right.h) - n.base
	if !(gain > n.gain) || math.IsInf(float64(gain), 1) {
		return
	}
	f := g.features[k]
	v, seg := g.cols.column(int(f)), g.part(g.order, k)[n.start:n.end]
	n.gain, n.feature, n.size, n.threshold = gain, f, int32(i), below(v[seg[i-1]], v[seg[i]])
	g.raise(n)
}

// below returns the largest number less than the middle of lo and hi, lo < hi, or lo if that is less than lo: x goes
// left if x < (lo+hi)/2. The middle is rounded to float32, as XGBoost does, if that is still between them.
func below(lo, hi float64) float64 {
	mid := lo/2 + hi/2 // no overflow
	if short := float64(float32(mid)); lo < short && short <= hi {
		mid = short
	}
	return max(lo, math.Nextafter(mid, math.Inf(-1)))
}

// split makes the children of those nodes in nodes[from:to] that have a split, and gives each node a place in next:
// those that are open the first ones. It returns the number of rows in open nodes.
func (g *grower) split(from, to int, last bool) (rows int) {
	for i := from; i < to; i++ {
		n := &g.nodes[i]
		if n.closed || n.gain <= minGain {
			n.closed = true
			continue
		}
		left := int32(len(g.nodes))
		n.left = left
		k := 0
		for g.features[k] != n.feature {
			k++
		}
		seg := g.part(g.order, k)[n.start:n.end]
		for _, r := range seg[:n.size] {
			g.at[r] = left
		}
		for _, r := range seg[n.size:] {
			g.at[r] = left + 1
		}
		l, r := n.size, int32(len(seg))-n.size
		// n is invalid once the nodes have grown.
		g.nodes = append(g.nodes, growing{end: l, varying: n.varying}, growing{end: r, varying: n.varying})
	}
	g.sum(to)
	for i := to; i < len(g.nodes); i++ {
		n := &g.nodes[i]
		g.open(n, last || n.end < 2)
	}
	free := int32(0)
	place := func(closed bool) {
		for i := to; i < len(g.nodes); i++ {
			if n := &g.nodes[i]; n.closed == closed {
				n.start, n.end = free, free+n.end
				free = n.end
			}
		}
	}
	place(false)
	rows = int(free)
	place(true)
	return rows
}

// move puts the rows of n, which was split, into the places of its children in
// the order of each feature that varies, and keeps the order within them.
func (g *grower) move(n *growing) {
	left, right := &g.nodes[n.left], &g.nodes[n.left+1]
	if left.closed && right.closed {
		return
	}
	at := g.at
	for _, k := range n.varying {
		next := g.part(g.next, k)
		l, r := left.start, right.start
		for _, row := range g.part(g.order, k)[n.start:n.end] {
			side := at[row] - n.left // 1 if it goes right
			to := l
			if side != 0 {
				to = r
			}
			next[to] = row
			l += 1 - side
			r += side
		}
	}
}

// prune removes, from the leaves up, splits below node i that gain less than
// Gamma and have no split under them, and reports whether i is a leaf.
func (g *grower) prune(i int32) bool {
	n := &g.nodes[i]
	if n.left == 0 {
		return true
	}
	left, right := g.prune(n.left), g.prune(n.left+1)
	if left && right && float64(n.gain) < g.opt.Gamma {
		g.merge(n.left, i)
		g.merge(n.left+1, i)
		n.left = 0
		return true
	}
	return false
}

// merge moves the rows of leaf i to node to.
func (g *grower) merge(i, to int32) {
	for r, at := range g.at {
		if at == i {
			g.at[r] = to
		}
	}
}

// emit writes node i of the grown tree and its subtree to t[at] and to appended nodes, and the values of leaves to
// g.leaf.
func (g *grower) emit(t Tree, i int32, at int) Tree {
	n := &g.nodes[i]
	if n.left == 0 {
		v := n.weight * float32(g.opt.Rate)
		g.leaf[i] = v
		t[at] = Node{Feature: -1, Value: float64(v), Cover: n.sum.h}
		return t
	}
	left := len(t)
	t = append(t, Node{}, Node{})
	t = g.emit(t, n.left, left)
	t = g.emit(t, n.left+1, left+1)
	l, r := t[left], t[left+1]
	cover := l.Cover + r.Cover
	t[at] = Node{
		Feature: n.feature, Left: int32(left), Right: int32(left + 1), Threshold: n.threshold,
		Value: (l.Value*l.Cover + r.Value*r.Cover) / cover, Cover: cover,
	}
	return t
}
