package search

import (
	"cmp"
	"slices"

	"github.com/assay-run/assay"
)

// PRO is parallel rank ordering (Tabatabaee et al. 2005, Algorithm 2, with its misprints mended): a simplex that is
// reflected, expanded or shrunk around its best vertex as a whole, all points of a step at once. It is for noisy
// programs with few ordered parameters and for tuning while the program runs, where bad points cost as much as good
// ones help.
//
// A step is a reflection of all n other vertices; if one of the images is better than the best vertex, the expansion
// of that most promising one; if this is better still, the expansion of the others. If no reflection is better, the
// simplex shrinks. When it has collapsed, the neighbours of the best vertex are tried (§3.2.2), and the search goes
// on from there or has reached a local minimum.
//
// For any sequence of requests, an iteration begins with a simplex that spans all directions in which its best vertex
// has neighbours: with at least N+1 vertices for N parameters that have a direction, more than one value, and no
// relation in the way. This holds for the initial simplex and for the simplex of the neighbours. In between the
// paper's steps may flatten it, if rounding towards the best vertex or a bound brings vertices together; the flat
// simplex moves on, until it has collapsed and its neighbours span all directions again.
//
// A known point of the iteration is not run again; a point of an earlier iteration is, unless the options have
// Remember. See [SimplexOptions] for the rest.
type PRO struct{ simplexSearch }

var (
	_ assay.Searcher = (*PRO)(nil)
	_ assay.Observer = (*PRO)(nil)
)

// NewPRO returns a PRO searcher. Its proposals are the same for the same space,
// options and trials.
func NewPRO(space *assay.Space, opts SimplexOptions) *PRO {
	p := &PRO{newSimplexSearch(space, opts)}
	p.iterate = p.reflect
	return p
}

// reflect is an iteration of Algorithm 2, lines 4 to 18.
func (p *PRO) reflect() {
	p.order()
	if p.collapsed() {
		p.poll()
		return
	}
	old := p.v
	p.begin(p.images(-1), old, nil, func(r []vertex) {
		l := least(r)
		if len(r) == 0 || !(r[l].value < old[0].value) {
			p.shrink()
			return
		}
		e := p.around(old[0].at, old[1+l].at, -2)
		p.begin([]assay.Config{e}, append(old, r...), nil, func(probe []vertex) {
			if !(probe[0].value < r[l].value) {
				p.accept(old[0], r)
				return
			}
			p.begin(p.images(-2), append(old, probe[0]), nil, func(es []vertex) { p.accept(old[0], es) })
		})
	})
}

// accept makes the simplex the best vertex and the images of the others.
func (p *simplexSearch) accept(v0 vertex, images []vertex) {
	p.v = append([]vertex{v0}, images...)
	p.iterate()
}

// shrink halves the simplex towards its best vertex.
func (p *simplexSearch) shrink() {
	p.begin(p.images(0.5), p.v, nil, func(vs []vertex) { p.accept(p.v[0], vs) })
}

// least returns the index of the least value, the first of equals; -1 without vertices.
func least(vs []vertex) int {
	if len(vs) == 0 {
		return -1
	}
	best := slices.MinFunc(vs, func(a, b vertex) int { return cmp.Compare(a.value, b.value) })
	return slices.IndexFunc(vs, func(v vertex) bool { return v.value == best.value })
}
