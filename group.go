package assay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	maxTuples = 1 << 20 // admissible tuples of a group that are kept
	maxVisits = 1 << 23 // partial tuples that are tried before giving up counting
	maxDraws  = 1 << 20 // draws that are rejected before giving up
)

// A group is a set of parameters that relations tie together, or one free
// parameter. The admissible configurations are the product of those of the
// groups, so that sizes multiply, and draws and nearest tuples of one group do not
// depend on the others. Groups are made once and then only read.
type group struct {
	dims  []int    // parameter indices, ascending
	rels  []int    // relation indices
	size  Size     // number of admissible tuples
	index []uint32 // admissible tuples as value indices, len(dims) each; nil if free or too many
}

// makeGroups partitions the parameters and enumerates each finite group. Groups stand
// in the order of their first parameters. Its error names the relations at fault.
func (s *Space) makeGroups() error {
	// Union-find without ranks: root[i] <= i, and the least parameter is the root of its
	// group. There are few parameters.
	root := make([]int, len(s.Params))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	for _, r := range s.Relations {
		for _, i := range r.Params {
			a, b := find(r.Params[0]), find(i)
			root[max(a, b)] = min(a, b)
		}
	}
	at := map[int]int{}
	for i := range s.Params {
		k, ok := at[find(i)]
		if !ok {
			k = len(s.groups)
			at[find(i)] = k
			s.groups = append(s.groups, group{})
		}
		s.groups[k].dims = append(s.groups[k].dims, i)
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

// free reports whether the group is one parameter without relations.
func (g *group) free() bool { return len(g.rels) == 0 }

// indexed reports whether set works for every index below size.N.
func (g *group) indexed() bool { return g.free() && g.size.N > 0 || g.index != nil }

// count finds the size of the group, and its tuples if they are few. A group that is
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
		if g.size.N == 0 {
			return fmt.Errorf("%w: no value satisfies %s", ErrEmpty, g.text(s))
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

// enumerate visits the tuples depth first and checks each relation as soon as
// its last parameter is set. It sets size and index; it returns false if there
// are too many to visit. size stays exact when only index is too large to keep.
func (g *group) enumerate(s *Space) bool {
	ready := make([][]int, len(g.dims)) // relations to check once dims[k] is set
	for _, r := range g.rels {
		last := slices.Max(s.Relations[r].Params)
		k := slices.Index(g.dims, last)
		ready[k] = append(ready[k], r)
	}
	c := make(Config, len(s.Params))
	tuple := make([]uint32, len(g.dims))
	visits, n := 0, int64(0)
	index := []uint32{}
	var visit func(k int) bool
	visit = func(k int) bool {
		if k == len(g.dims) {
			if n++; n <= maxTuples {
				index = append(index, tuple...)
			}
			return true
		}
		p := s.Params[g.dims[k]]
	values:
		for i := range p.Count() {
			if visits++; visits > maxVisits {
				return false
			}
			c[g.dims[k]], tuple[k] = p.At(i), uint32(i)
			for _, r := range ready[k] {
				if !s.Relations[r].Holds(c) {
					continue values
				}
			}
			if !visit(k + 1) {
				return false
			}
		}
		return true
	}
	if !visit(0) {
		return false
	}
	g.size, g.index = Size{N: n}, slices.Clip(index)
	if n > maxTuples { // the index was cut off: it would give a part of the group only
		g.index = nil
	}
	return true
}

// set gives c the i-th tuple of an indexed group.
func (g *group) set(s *Space, c Config, i int64) {
	if g.index == nil {
		c[g.dims[0]] = s.Params[g.dims[0]].At(i)
		return
	}
	t := g.index[int(i)*len(g.dims):]
	for k, d := range g.dims {
		c[d] = s.Params[d].At(int64(t[k]))
	}
}

// draw gives c a tuple drawn at random: from the index uniformly, else by rejection.
// It returns false after maxDraws rejections, and c then has an inadmissible tuple.
func (g *group) draw(s *Space, c Config, rng *rand.Rand) bool {
	if g.index != nil {
		g.set(s, c, rng.Int64N(g.size.N))
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
	return g.holds(s, c)
}

// holds reports whether c satisfies the relations of the group.
func (g *group) holds(s *Space, c Config) bool {
	for _, r := range g.rels {
		if !s.Relations[r].Holds(c) {
			return false
		}
	}
	return true
}
