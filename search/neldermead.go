package search

import "github.com/assay-run/assay"

// NelderMead is the simplex method (Nelder & Mead 1965) in the form of
// Tabatabaee et al. 2005, §3.1: the worst vertex v_N moves along the line v_N +
// α(c - v_N) through the centroid c of the others (Eq. 3), to α = 2 (reflection),
// 3 (expansion) if that is the best so far, or 0.5 (contraction) if it is not
// better than the second worst; if no point is better than v_N, the simplex
// shrinks towards its best vertex. It proposes one point at a time, its simplex
// may degenerate, and noise misleads it: it is a baseline.
//
// Points are projected towards the best vertex, whose categories they have. When
// the simplex has collapsed, or a step changes nothing, its neighbours are tried
// as in [PRO].
type NelderMead struct{ simplexSearch }

var (
	_ assay.Searcher = (*NelderMead)(nil)
	_ assay.Observer = (*NelderMead)(nil)
)

// NewNelderMead returns a Nelder–Mead searcher; its simplex has N+1 vertices for any opts.Minimal. Its proposals are
// the same for the same space, options and trials.
func NewNelderMead(space *assay.Space, opts SimplexOptions) *NelderMead {
	opts.Minimal, opts.Grow = true, false
	s := &NelderMead{newSimplexSearch(space, opts)}
	s.iterate = s.reflect
	return s
}

func (s *NelderMead) reflect() {
	s.order()
	// A simplex of the stopping test or of an observed centre has more vertices.
	s.v = s.v[:min(len(s.v), s.space.Dim()+1)]
	if s.collapsed() {
		s.poll()
		return
	}
	n := len(s.v) - 1
	best, second, worst := s.v[0], s.v[max(0, n-1)], s.v[n]
	s.try(2, func(r vertex) {
		switch {
		case r.value < best.value:
			s.try(3, func(e vertex) {
				if e.value < r.value {
					r = e
				}
				s.replace(r)
			})
		case r.value < second.value:
			s.replace(r)
		default:
			s.try(0.5, func(c vertex) {
				if r.value < c.value {
					c = r
				}
				if c.value < worst.value {
					s.replace(c)
					return
				}
				s.shrink()
			})
		}
	})
}

// try evaluates the point at alpha on the line from the worst vertex through
// the centroid of the others.
func (s *NelderMead) try(alpha float64, then func(vertex)) {
	s.begin([]assay.Config{s.line(alpha)}, s.v, nil, func(vs []vertex) { then(vs[0]) })
}

// replace puts v in the place of the worst vertex.
func (s *NelderMead) replace(v vertex) {
	s.v = append(s.v[:len(s.v)-1:len(s.v)-1], v)
	s.iterate()
}

// line returns Π(v_N + α(c - v_N)) around the best vertex.
func (s *NelderMead) line(alpha float64) assay.Config {
	n := len(s.v) - 1
	best, worst := s.v[0].at, s.v[n].at
	x := best.Clone()
	for i, p := range s.space.Params {
		if !p.Ordered() {
			continue
		}
		var c float64
		for _, v := range s.v[:n] {
			c += p.ToUnit(v.at[i]) / float64(n)
		}
		w := p.ToUnit(worst[i])
		if u := w + alpha*(c-w); u != p.ToUnit(best[i]) {
			x[i] = unscale(p, u)
		}
	}
	return s.space.Project(x, best)
}
