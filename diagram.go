package assay

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

const (
	maxVisits = 1 << 23 // values that are tried before giving up
	maxEdges  = 1 << 22 // edges of a diagram
)

// A diagram holds the admissible tuples of a group, however many: a multi-valued decision
// diagram. Its nodes stand in layers, one for each parameter, and an edge is a value after which
// the rest can be completed. A path from the root to the end is a tuple. Prefixes after which the
// same completions are admissible share a node, so that a chain of relations, each between a few
// parameters, takes room for those few. (Rasch et al. 2021 count in a tree of each group, in which nothing
// is shared: "Efficient auto-tuning of parallel programs with interdependent tuning parameters via
// auto-tuning framework (ATF)".)
type diagram struct {
	nodes []node
	edges []edge
	root  int32
}

// A node has the edges first to last, in the order of values. No node of the last layer has any:
// it is number 0.
type node struct{ first, last int32 }

type edge struct {
	value uint32 // index of the value
	to    int32
	upTo  int64   // tuples through the edges of the node up to this one; -1 beyond 2^62
	mass  float64 // as upTo, of the share that a draw from the product takes
}

// size returns the number of tuples below a node, -1 beyond 2^62.
func (d *diagram) size(n int32) int64 {
	if n == 0 {
		return 1
	}
	return d.edges[d.nodes[n].last-1].upTo
}

// log10 returns the logarithm of the number of tuples below a node, however many.
func (d *diagram) log10(n int32) float64 {
	logs := make([]float64, len(d.nodes)) // nodes stand behind those that their edges lead to
	for k := 1; k < len(d.nodes); k++ {
		most := math.Inf(-1)
		for _, e := range d.out(int32(k)) {
			most = max(most, logs[e.to])
		}
		sum := 0.0
		for _, e := range d.out(int32(k)) {
			sum += math.Pow(10, logs[e.to]-most)
		}
		logs[k] = most + math.Log10(sum)
	}
	return logs[n]
}

// mass returns the share of the draws from the product of values that are admissible below a node.
func (d *diagram) mass(n int32) float64 {
	if n == 0 {
		return 1
	}
	return d.edges[d.nodes[n].last-1].mass
}

// A maker makes the diagram of a group.
type maker struct {
	s        *Space
	dims     []int
	ready    [][]int // relations to check once dims[k] is set
	frontier [][]int // the parameters before k that the layers from k on read
	d        *diagram
	seen     []map[string]int32 // by layer: node of the frontier's values, -1 without completions
	same     map[string]int32   // by layer and edges
	c        Config
	key      []byte
	visits   int // that are left
}

// diagramOf returns the diagram of parameters in that order, in which the parameters that a condition reads precede it,
// or nil if more values than visits were tried. A diagram without tuples has root -1.
func diagramOf(s *Space, dims, rels []int, visits int) *diagram {
	m := &maker{
		s: s, dims: dims, visits: visits, d: &diagram{nodes: make([]node, 1)}, c: make(Config, len(s.Params)),
		same: map[string]int32{}, ready: make([][]int, len(dims)),
		frontier: make([][]int, len(dims)), seen: make([]map[string]int32, len(dims)),
	}
	place := make(map[int]int, len(dims))
	for k, d := range dims {
		place[d], m.seen[k] = k, map[string]int32{}
	}
	// reads notes that layer last reads params.
	reads := func(params []int, last int) {
		for _, i := range params {
			for k := place[i] + 1; k <= last; k++ {
				if !slices.Contains(m.frontier[k], i) {
					m.frontier[k] = append(m.frontier[k], i)
				}
			}
		}
	}
	for _, r := range rels {
		on, last := readWith(s.Params, s.Relations[r].Params), 0
		for _, i := range on {
			last = max(last, place[i])
		}
		m.ready[last] = append(m.ready[last], r)
		reads(on, last)
	}
	for k, i := range dims {
		if w := s.Params[i].When; w != nil {
			reads(readWith(s.Params, w.Params), k)
		}
	}
	root, ok := m.make(0)
	if !ok {
		return nil
	}
	m.d.root = root
	return m.d
}

// readWith returns some of the parameters and all that determine whether those are in force.
func readWith(params []Param, some []int) []int {
	var out []int
	var add func(i int)
	add = func(i int) {
		if slices.Contains(out, i) {
			return
		}
		out = append(out, i)
		if w := params[i].When; w != nil {
			for _, j := range w.Params {
				add(j)
			}
		}
	}
	for _, i := range some {
		add(i)
	}
	return out
}

// make returns the node of layer k after the coordinates in c, -1 if nothing completes them. It
// returns false if the diagram is too large.
func (m *maker) make(k int) (int32, bool) {
	if k == len(m.dims) {
		return 0, true
	}
	m.key = m.key[:0]
	for _, i := range m.frontier[k] {
		m.key = binary.LittleEndian.AppendUint64(m.key, math.Float64bits(m.c[i]))
	}
	if n, ok := m.seen[k][string(m.key)]; ok {
		return n, true
	}
	key := string(m.key)
	var es []edge
	i := m.dims[k]
	p := &m.s.Params[i]
	total, mass := int64(0), 0.0
	try := func(value int64, share float64) bool {
		if m.visits--; m.visits < 0 {
			return false
		}
		for _, r := range m.ready[k] {
			if rel := &m.s.Relations[r]; m.s.says(rel, m.c) && !rel.Holds(m.c) {
				return true
			}
		}
		to, ok := m.make(k + 1)
		if !ok || to < 0 {
			return ok
		}
		if n := m.d.size(to); n < 0 || total < 0 || total > 1<<62-n {
			total = -1
		} else {
			total += n
		}
		mass += share * m.d.mass(to)
		es = append(es, edge{uint32(value), to, total, mass})
		return true
	}
	if p.When != nil && !m.s.Active(m.c, i) {
		m.c[i] = m.s.rest[i]
		if !try(p.index(m.c[i]), 1) {
			return 0, false
		}
	} else {
		for v := range p.Count() {
			m.c[i] = p.At(v)
			if !try(v, p.share(v)) {
				return 0, false
			}
		}
	}
	n := m.node(k, es)
	m.seen[k][key] = n
	return n, len(m.d.edges) <= maxEdges
}

// node returns the node of layer k with these edges, and makes it if necessary.
func (m *maker) node(k int, es []edge) int32 {
	if len(es) == 0 {
		return -1
	}
	b := binary.AppendUvarint(nil, uint64(k))
	for _, e := range es {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(e.value)), uint64(e.to))
	}
	if n, ok := m.same[string(b)]; ok {
		return n
	}
	n := int32(len(m.d.nodes))
	m.d.nodes = append(m.d.nodes, node{int32(len(m.d.edges)), int32(len(m.d.edges) + len(es))})
	m.d.edges = append(m.d.edges, es...)
	m.same[string(b)] = n
	return n
}

// share returns how likely the i-th value of a countable parameter is drawn.
func (p Param) share(i int64) float64 {
	n := p.Count()
	if !p.Log || n < 2 {
		return 1 / float64(n)
	}
	// As FromUnit has it: each value v owns [v, v+step).
	x := p.Lo + float64(i)*p.step()
	return math.Log((x+p.step())/x) / math.Log((p.Hi+p.step())/p.Lo)
}

// out returns the edges of a node.
func (d *diagram) out(n int32) []edge { return d.edges[d.nodes[n].first:d.nodes[n].last] }

// at calls set with the value of each layer of the i-th tuple.
func (d *diagram) at(i int64, set func(layer int, value int64)) {
	for n, k := d.root, 0; n != 0; k++ {
		es := d.out(n)
		e := sort.Search(len(es), func(e int) bool { return es[e].upTo > i })
		if e > 0 {
			i -= es[e-1].upTo
		}
		set(k, int64(es[e].value))
		n = es[e].to
	}
}

// draw calls set with the value of each layer of a tuple that is drawn as one of the product of
// values that turns out to be admissible.
func (d *diagram) draw(rng *rand.Rand, set func(layer int, value int64)) {
	for n, k := d.root, 0; n != 0; k++ {
		es := d.out(n)
		x := rng.Float64() * es[len(es)-1].mass
		e := min(sort.Search(len(es), func(e int) bool { return es[e].mass > x }), len(es)-1)
		set(k, int64(es[e].value))
		n = es[e].to
	}
}

// nearest calls set with the value of each layer of the tuple of the least cost, the first of equals. cost returns the
// cost of a value of a layer; alone reports that no other value remains there.
func (d *diagram) nearest(cost func(layer int, value int64, alone bool) float64, set func(layer int, value int64)) {
	type best struct {
		edge  int32
		total float64
		known bool
	}
	least := make([]best, len(d.nodes))
	least[0].known = true
	var find func(n int32, k int) float64
	find = func(n int32, k int) float64 {
		if least[n].known {
			return least[n].total
		}
		b := best{total: math.Inf(1), known: true}
		first, last := d.nodes[n].first, d.nodes[n].last
		for e := first; e < last; e++ {
			t := cost(k, int64(d.edges[e].value), last-first == 1) + find(d.edges[e].to, k+1)
			if t < b.total || e == first {
				b.edge, b.total = e, t
			}
		}
		least[n] = b
		return b.total
	}
	find(d.root, 0)
	for n, k := d.root, 0; n != 0; k++ {
		e := d.edges[least[n].edge]
		set(k, int64(e.value))
		n = e.to
	}
}
