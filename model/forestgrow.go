package model

import (
	"math"
	"math/rand/v2"
)

const (
	fewRanks   = 12 // columns with at most as many ranks are counted, not kept sorted
	drawBits   = 17 // of a sum of draws: at most maxForestRows
	drawMask   = 1<<drawBits - 1
	equalGains = 1 + 1e-12 // a gain must exceed another by this factor to be greater
)

// A forestGrower grows the trees of one forest. While a tree grows, a node is the range [lo, hi) of rows and of each
// sorted column's order: the same examples in every one of them.
type forestGrower struct {
	cols    []rankColumn // the features that are not constant
	sorted  []int        // columns whose order is kept
	place   []int        // of a column among sorted
	minLeaf int          // least draws of a leaf
	tries   int          // columns tried at a node
	rng     *rand.PCG    // of draws and tried columns

	unit         []float64 // outcomes in [-1, 1]: (y-offset)/half
	fixed        []int64   // the same in fixed point
	offset, half float64   // middle and half of the range of the outcomes

	// draws[i] is the number of draws of example i, plus 2^drawBits times
	// their fixed-point outcomes: both sums in one addition.
	draws []int64
	rows  []uint16     // drawn examples
	order [][]uint32   // of column sorted[k]: rank<<16 | example, by rank
	right []uint8      // 1 if the example goes right at the current split
	spill []uint32     // room for the examples that go right in partition
	perm  []int32      // columns in random order
	tab   []forestGain // for each number of draws on the left
	recip []float64    // 1/k

	nodes  []forestNode // of the tree; the two children of a node are adjacent
	values []float64    // by node: the mean unit outcome of a leaf, 0 elsewhere
	covers []int32      // by node: its draws
	stack  []forestTask // nodes to develop, the left child on top
}

// A forestNode is one node of a grown tree as it is walked, in one word, from the top: the left child (24 bits), after
// which comes the right one; 65,535 minus the greatest rank that goes left (16 bits); four times the column (24 bits),
// which is the place of its ranks in a group of four rows. So adding a rank carries into the child when it goes right.
// In a leaf, the greatest rank is 65,535 and the left child is the leaf itself: a walk stays there.
type forestNode uint64

func makeForestNode(thr uint16, col, left int) forestNode {
	return forestNode(left)<<40 | forestNode(math.MaxUint16-thr)<<24 | forestNode(col)<<2
}

func (n forestNode) thr() uint16   { return math.MaxUint16 - uint16(n>>24) }
func (n forestNode) place() uint32 { return uint32(n) & (1<<24 - 1) }
func (n forestNode) col() int      { return int(n.place() >> 2) }
func (n forestNode) left() int     { return int(n >> 40) }

// next returns where a walk goes on with this rank.
func (n forestNode) next(rank uint16) uint32 { return uint32((n + forestNode(rank)<<24) >> 40) }

// A forestTask is the node of the range [lo, hi), with a place in the tree, that is neither split nor a leaf yet.
type forestTask struct{ node, lo, hi int32 }

// A forestGain has the terms of the gain of a split, given the number of draws w on its left. With s the sum of
// outcomes there, and W and S the draws and the sum of the node,
//
//	s²/w + (S-s)²/(W-w) - S²/W = (s - w·S/W)² · (1/w + 1/(W-w)).
type forestGain struct {
	mean float64 // w·S/W
	inv  float64 // 1/w + 1/(W-w), or -Inf if a side has too few draws
}

// A forestSplit sends ranks up to lo left and ranks from hi on right; no example of the node has a rank between.
type forestSplit struct {
	col    int32 // an index of forestGrower.cols
	lo, hi uint16
	gain   float64 // see forestGain; 0 for a pair of examples
}

func newForestGrower(cols []rankColumn, y []float64) *forestGrower {
	n := len(y)
	g := &forestGrower{
		cols:  cols,
		place: make([]int, len(cols)),
		draws: make([]int64, n),
		rows:  make([]uint16, 0, n),
		right: make([]uint8, n),
		spill: make([]uint32, n+1),
		perm:  make([]int32, len(cols)),
		tab:   make([]forestGain, n+1),
		recip: make([]float64, n+1),
	}
	g.unit, g.offset, g.half = centre(y)
	g.fixed = fixedPoint(g.unit)
	for k := 1; k <= n; k++ {
		g.recip[k] = 1 / float64(k)
	}
	for c := range cols {
		g.perm[c] = int32(c)
		g.place[c] = len(g.sorted)
		if len(cols[c].cuts) >= fewRanks {
			g.sorted = append(g.sorted, c)
			g.order = append(g.order, make([]uint32, n+1))
		}
	}
	return g
}

// intN returns a random number in [0, n), n < 2^32. (Lemire's method without rejection: the bias is below n/2^32.)
func (g *forestGrower) intN(n int) int {
	return int(g.rng.Uint64() >> 32 * uint64(n) >> 32)
}

// grow replaces nodes, values and covers by a new tree.
func (g *forestGrower) grow() {
	g.draw()
	for i := len(g.perm) - 1; i > 0; i-- {
		j := g.intN(i + 1)
		g.perm[i], g.perm[j] = g.perm[j], g.perm[i]
	}
	g.nodes = append(g.nodes[:0], 0)
	g.values = append(g.values[:0], 0)
	g.covers = append(g.covers[:0], 0)
	g.stack = append(g.stack[:0], forestTask{0, 0, int32(len(g.rows))})
	for len(g.stack) > 0 {
		p := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		g.develop(p)
	}
}

// draw draws the examples of a tree, with replacement.
func (g *forestGrower) draw() {
	clear(g.draws)
	for range g.draws {
		i := g.intN(len(g.draws))
		g.draws[i] += g.fixed[i]<<drawBits + 1
	}
	g.rows = g.rows[:0]
	for i, d := range g.draws {
		if d != 0 { // a sum with draws is never 0: the low bits count them
			g.rows = append(g.rows, uint16(i))
		}
	}
	for k, c := range g.sorted {
		to, n := g.order[k], 0
		for _, e := range g.cols[c].order {
			to[n] = e
			n += int(g.draws[uint16(e)]&drawMask+drawMask) >> drawBits // 1 if drawn
		}
	}
}

// develop splits a node or makes it a leaf.
func (g *forestGrower) develop(p forestTask) {
	rows := g.rows[p.lo:p.hi]
	var sum int64
	for _, r := range rows {
		sum += g.draws[r]
	}
	w := int(sum & drawMask)
	g.covers[p.node] = int32(w)
	s, ok := forestSplit{}, false
	switch {
	case w < 2*g.minLeaf || g.pure(rows):
	case len(rows) == 2:
		s, ok = g.splitPair(rows)
	default:
		s, ok = g.best(int(p.lo), int(p.hi), float64(sum>>drawBits), w)
	}
	if !ok {
		g.nodes[p.node] = makeForestNode(math.MaxUint16, 0, int(p.node))
		g.values[p.node] = g.mean(rows, w)
		return
	}
	at := int32(len(g.nodes))
	g.nodes[p.node] = makeForestNode(uint16((uint32(s.lo)+uint32(s.hi)-1)/2), int(s.col), int(at))
	g.nodes = append(g.nodes, 0, 0)
	g.values = append(g.values, 0, 0)
	g.covers = append(g.covers, 0, 0)
	mid := p.lo + int32(g.partition(int(p.lo), int(p.hi), s))
	g.stack = append(g.stack, forestTask{at + 1, mid, p.hi}, forestTask{at, p.lo, mid})
}

// pure reports whether all outcomes are equal.
func (g *forestGrower) pure(rows []uint16) bool {
	y := g.fixed[rows[0]]
	for _, r := range rows[1:] {
		if g.fixed[r] != y {
			return false
		}
	}
	return true
}

// mean returns the mean outcome of rows, which have w draws.
func (g *forestGrower) mean(rows []uint16, w int) float64 {
	if len(rows) == 1 {
		return g.unit[rows[0]]
	}
	var sum float64
	for _, r := range rows {
		sum += float64(g.draws[r]&drawMask) * g.unit[r]
	}
	return sum / float64(w)
}

// splitPair splits two examples with different outcomes at a random one of the
// columns in which they differ: they are all as good.
func (g *forestGrower) splitPair(rows []uint16) (forestSplit, bool) {
	a, b := rows[0], rows[1]
	if int(g.draws[a]&drawMask) < g.minLeaf || int(g.draws[b]&drawMask) < g.minLeaf {
		return forestSplit{}, false
	}
	start := g.intN(len(g.perm) + 1)
	for _, part := range [2][]int32{g.perm[min(start, len(g.perm)):], g.perm[:min(start, len(g.perm))]} {
		for _, c := range part {
			if ra, rb := g.cols[c].rank[a], g.cols[c].rank[b]; ra != rb {
				return forestSplit{col: c, lo: min(ra, rb), hi: max(ra, rb)}, true
			}
		}
	}
	return forestSplit{}, false
}

// best returns the split with the greatest gain; ok is false if every column is
// constant, or no split leaves enough draws on both sides. Like scikit-learn,
// it takes a split that gains nothing rather than none: the gain may come below.
func (g *forestGrower) best(lo, hi int, sum float64, w int) (s forestSplit, ok bool) {
	g.tabulate(sum, w)
	s.gain = -1
	d := len(g.perm)
	if d == 0 {
		return s, false
	}
	tried := 0
	// Trying all, a random rotation is enough to be fair to equals; trying some, each must be drawn.
	start := g.intN(d)
	for i := range d {
		at := start + i
		if at >= d {
			at -= d
		}
		if g.tries < d {
			at = i
			j := i + g.intN(d-i)
			g.perm[i], g.perm[j] = g.perm[j], g.perm[i]
		}
		if g.scan(int(g.perm[at]), lo, hi, &s) {
			if tried++; tried == g.tries {
				break
			}
		}
	}
	return s, s.gain >= 0
}

// tabulate fills tab for a node of w draws and the given sum of outcomes.
func (g *forestGrower) tabulate(sum float64, w int) {
	mean := sum / float64(w)
	tab := g.tab[:w]
	left, right := g.recip[:w], g.recip[:w+1]
	for k := range tab {
		tab[k] = forestGain{float64(k) * mean, left[k] + right[w-k]}
	}
	if g.minLeaf > 1 {
		for k := range tab {
			if k < g.minLeaf || w-k < g.minLeaf {
				tab[k].inv = math.Inf(-1)
			}
		}
	}
}

// scan improves s with the splits of column c. It returns false if the column is constant in the node.
func (g *forestGrower) scan(c, lo, hi int, s *forestSplit) bool {
	col := &g.cols[c]
	switch n := len(col.cuts); {
	case n == 1:
		return g.scanTwo(c, lo, hi, s)
	case n < fewRanks:
		return g.scanFew(c, lo, hi, s)
	}
	seg := g.order[g.place[c]][lo:hi]
	if seg[0]>>16 == seg[len(seg)-1]>>16 {
		return false
	}
	bar := s.gain * equalGains
	draws, tab := g.draws, g.tab
	var sum int64
	e := seg[0]
	for _, next := range seg[1:] {
		sum += draws[uint16(e)]
		if e>>16 != next>>16 {
			t := &tab[sum&drawMask]
			dev := float64(sum>>drawBits) - t.mean
			if gain := dev * dev * t.inv; gain > bar {
				*s = forestSplit{int32(c), uint16(e >> 16), uint16(next >> 16), gain}
				bar = gain * equalGains
			}
		}
		e = next
	}
	return true
}

// scanTwo is scan for a column of two ranks.
func (g *forestGrower) scanTwo(c, lo, hi int, s *forestSplit) bool {
	rank, draws, rows := g.cols[c].rank, g.draws, g.rows[lo:hi]
	var ones int
	var sum int64 // over rank 0
	for _, r := range rows {
		b := int64(rank[r])
		ones += int(b)
		sum += draws[r] & (b - 1)
	}
	if ones == 0 || ones == len(rows) {
		return false
	}
	g.consider(c, sum, 0, 1, s)
	return true
}

// scanFew is scan for a column of few ranks.
func (g *forestGrower) scanFew(c, lo, hi int, s *forestSplit) bool {
	var sums [16]int64
	rank, draws := g.cols[c].rank, g.draws
	for _, r := range g.rows[lo:hi] {
		sums[rank[r]&15] += draws[r]
	}
	prev, seen := 0, false
	var sum int64
	several := false
	for k, d := range sums[:len(g.cols[c].cuts)+1] {
		if d == 0 {
			continue
		}
		if seen {
			several = true
			g.consider(c, sum, prev, k, s)
		}
		sum += d
		prev, seen = k, true
	}
	return several
}

// consider improves s with the split of column c between ranks lo and hi, where sum is the sum of draws over ranks up
// to lo.
func (g *forestGrower) consider(c int, sum int64, lo, hi int, s *forestSplit) {
	t := &g.tab[sum&drawMask]
	dev := float64(sum>>drawBits) - t.mean
	if gain := dev * dev * t.inv; gain > s.gain*equalGains {
		*s = forestSplit{int32(c), uint16(lo), uint16(hi), gain}
	}
}

// partition moves the examples of the node that go left before the others, in rows and in every order that a child will
// scan, keeping their order otherwise. It returns how many go left.
func (g *forestGrower) partition(lo, hi int, s forestSplit) int {
	rank := g.cols[s.col].rank
	rows, right := g.rows[lo:hi], g.right
	n, m := 0, 0
	spill := g.spill
	for _, r := range rows {
		b := uint8((uint32(s.lo) - uint32(rank[r])) >> 31)
		right[r] = b
		rows[n] = r
		spill[m] = uint32(r)
		n += int(1 - b)
		m += int(b)
	}
	for i, r := range spill[:m] {
		rows[n+i] = uint16(r)
	}
	if n <= 2 && m <= 2 {
		return n // pairs are split without the orders
	}
	for k, order := range g.order {
		if g.sorted[k] == int(s.col) {
			continue // already in order
		}
		seg := order[lo:hi]
		n, m := 0, 0
		for _, e := range seg {
			b := int(right[uint16(e)])
			seg[n] = e
			spill[m] = e
			n += 1 - b
			m += b
		}
		copy(seg[n:], spill[:m])
	}
	return n
}
