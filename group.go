package assay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	maxTuples = 1 << 20 // admissible tuples of a group that are drawn uniformly
	maxDraws  = 1 << 20 // draws that are rejected before giving up
)

// A group is a set of parameters that relations and conditions tie together, or one free parameter. The admissible
// configurations are the product of the groups, so that sizes multiply, and draws and nearest tuples of one group do
// not depend on the others. Groups are made once and then only read.
type group struct {
	dims []int // parameter indices, in the order of the layers of tuples
	rels []int // relation indices
	tree bool  // a parameter has a condition
	size Size  // number of admissible tuples
	// tuples are the admissible ones; nil if the group is free, continuous or too large.
	tuples *diagram
}

// makeGroups partitions the parameters and enumerates each finite group. Groups stand
// in the order of their first parameters. Its error names the relations at fault.
func (s *Space) makeGroups() error {
	find := tied(s.Params, s.Relations)
	at := map[int]int{}
	for i := range s.Params {
		k, ok := at[find(i)]
		if !ok {
			k = len(s.groups)
			at[find(i)] = k
			s.groups = append(s.groups, group{})
		}
		s.groups[k].dims = append(s.groups[k].dims, i)
		s.groups[k].tree = s.groups[k].tree || s.Params[i].When != nil
	}
	for i, r := range s.Relations {
		if len(r.Params) == 0 { // a constant
			if !r.Holds(make(Config, len(s.Params))) {
				return fmt.Errorf("%w: %q never holds", ErrEmpty, r.Text)
			}
			continue
		}
		g := &s.groups[at[find(r.Params[0])]]
		g.rels = append(g.rels, i)
	}
	for i := range s.groups {
		if err := s.groups[i].count(s); err != nil {
			return err
		}
	}
	return nil
}

// tied returns a function that finds the least parameter of the group of a parameter.
func tied(params []Param, relations []Relation) (find func(i int) int) {
	// Union-find without ranks: root[i] <= i, and the least parameter is the root of its group. There are few parameters.
	root := make([]int, len(params))
	for i := range root {
		root[i] = i
	}
	find = func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	tie := func(i, j int) {
		a, b := find(i), find(j)
		root[max(a, b)] = min(a, b)
	}
	for _, r := range relations {
		for _, i := range r.Params {
			tie(r.Params[0], i)
		}
	}
	for i, p := range params {
		if p.When != nil {
			for _, j := range p.When.Params {
				tie(i, j)
			}
		}
	}
	return find
}

// free reports whether the group is one parameter without relations.
func (g *group) free() bool { return len(g.dims) == 1 && len(g.rels) == 0 }

// indexed reports whether set works for every index below size.N.
func (g *group) indexed() bool { return g.size.N > 0 && (g.free() || g.tuples != nil) }

// count finds the size of the group, and its tuples if they can be held. A group that is
// continuous or too large has an estimated size: the product times the share of random
// draws that are admissible, until 256 are, which gives the share to about 6 %.
func (g *group) count(s *Space) error {
	product := Size{N: 1}
	for _, d := range g.dims {
		n := s.Params[d].Count()
		if n == 0 {
			product = product.times(Size{Log10: math.Inf(1)})
		} else {
			product = product.times(Size{N: n})
		}
	}
	g.size = product
	if g.free() {
		return nil
	}
	if !math.IsInf(product.Log10, 1) && g.enumerate(s) {
		switch root := g.tuples.root; {
		case root < 0:
			return fmt.Errorf("%w: no value satisfies %s", ErrEmpty, g.text(s))
		case g.tuples.size(root) > 0:
			g.size = Size{N: g.tuples.size(root)}
		default:
			g.size = Size{Log10: g.tuples.log10(root)}
		}
		return nil
	}
	// Too many to visit, or continuous: estimate the share that is admissible.
	rng := newSampler()
	c := make(Config, len(s.Params))
	hits, draws := 0, 0
	for hits < 256 && draws < maxDraws {
		if draws++; g.try(s, c, rng) {
			hits++
		}
	}
	if hits == 0 {
		return fmt.Errorf("%w: none of %d random draws satisfies %s", ErrEmpty, draws, g.text(s))
	}
	g.size = Size{Log10: product.log10() + math.Log10(float64(hits)/float64(draws))}
	return nil
}

// text returns the relations of the group for a message.
func (g *group) text(s *Space) string {
	t := ""
	for i, r := range g.rels {
		if i > 0 {
			t += " and "
		}
		t += fmt.Sprintf("%q", s.Relations[r].Text)
	}
	return t
}

// enumerate finds the admissible tuples: in the order of the parameters, so that they stand in
// lexical order, or if those are too many to visit, in an order in which relations are over soon.
// It returns false if those are too many, too.
func (g *group) enumerate(s *Space) bool {
	if g.tree {
		g.dims = g.inOrder(s)
	}
	order := g.narrow(s)
	if slices.Equal(order, g.dims) {
		g.tuples = diagramOf(s, g.dims, g.rels, maxVisits)
		return g.tuples != nil
	}
	for _, try := range []struct {
		dims   []int
		visits int
	}{{g.dims, maxVisits / 8}, {order, maxVisits}, {g.dims, maxVisits}} {
		if g.tuples = diagramOf(s, try.dims, g.rels, try.visits); g.tuples != nil {
			g.dims = try.dims
			return true
		}
	}
	return false
}

// inOrder returns the parameters of the group such that each comes behind those that its condition reads.
func (g *group) inOrder(s *Space) []int {
	var out []int
	for _, i := range s.order {
		if slices.Contains(g.dims, i) {
			out = append(out, i)
		}
	}
	return out
}

// narrow returns the parameters of the group in an order in which few are read later on: next
// is the one that leaves the fewest such behind, of those that may come.
func (g *group) narrow(s *Space) []int {
	var sets [][]int // parameters that are read together
	for _, r := range g.rels {
		sets = append(sets, readWith(s.Params, s.Relations[r].Params))
	}
	for _, i := range g.dims {
		if w := s.Params[i].When; w != nil {
			sets = append(sets, append(readWith(s.Params, w.Params), i))
		}
	}
	var order []int
	in := func(i int) bool { return slices.Contains(order, i) }
	open := func() int { // how many of order are read together with one that is not
		n := 0
		for _, i := range order {
			if slices.ContainsFunc(sets, func(set []int) bool {
				return slices.Contains(set, i) && slices.ContainsFunc(set, func(j int) bool { return !in(j) })
			}) {
				n++
			}
		}
		return n
	}
	for len(order) < len(g.dims) {
		best, least := -1, 0
		for _, i := range g.dims {
			if in(i) || s.Params[i].When != nil &&
				slices.ContainsFunc(s.Params[i].When.Params, func(j int) bool { return !in(j) }) {
				continue
			}
			order = append(order, i)
			if n := open(); best < 0 || n < least {
				best, least = i, n
			}
			order = order[:len(order)-1]
		}
		order = append(order, best)
	}
	return order
}

// set gives c the i-th tuple of an indexed group.
func (g *group) set(s *Space, c Config, i int64) {
	if g.tuples == nil {
		c[g.dims[0]] = s.Params[g.dims[0]].At(i)
		return
	}
	g.tuples.at(i, g.setter(s, c))
}

// setter returns a function that sets the value of a layer of the tuples in c.
func (g *group) setter(s *Space, c Config) func(layer int, value int64) {
	return func(layer int, value int64) {
		d := g.dims[layer]
		c[d] = s.Params[d].At(value)
	}
}

// draw sets a random tuple in c: uniformly if the group holds few tuples, else each parameter on its search scale given
// that the tuple is admissible, so that a parameter with a condition is drawn only if it is in force. It returns false
// after maxDraws rejections, and c then has an inadmissible tuple.
func (g *group) draw(s *Space, c Config, rng *rand.Rand) bool {
	switch {
	case g.tuples != nil && !g.tree && g.size.N > 0 && g.size.N <= maxTuples:
		g.set(s, c, rng.Int64N(g.size.N))
		return true
	case g.tuples != nil:
		g.tuples.draw(rng, g.setter(s, c))
		return true
	}
	for range maxDraws {
		if g.try(s, c, rng) {
			return true
		}
	}
	return false
}

// try gives c a tuple drawn from the product and reports whether it is admissible.
func (g *group) try(s *Space, c Config, rng *rand.Rand) bool {
	for _, d := range g.dims {
		c[d] = s.Params[d].FromUnit(rng.Float64())
	}
	if g.tree {
		for _, d := range g.inOrder(s) {
			if !s.Active(c, d) {
				c[d] = s.rest[d]
			}
		}
	}
	return g.holds(s, c)
}

// holds reports whether c satisfies the relations of the group.
func (g *group) holds(s *Space, c Config) bool {
	for _, r := range g.rels {
		if rel := &s.Relations[r]; s.says(rel, c) && !rel.Holds(c) {
			return false
		}
	}
	return true
}
