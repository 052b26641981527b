package search

import "github.com/assay-run/assay"

// SRO is sequential rank ordering (Lewis & Torczon 1996; Tabatabaee et al. 2005,
// Algorithm 1): like [PRO], but one point, the image of the worst vertex,
// decides between reflection, expansion and shrinking. It is the baseline that
// PRO is judged by, and can be the better one where runs come one at a time.
type SRO struct{ simplexSearch }

var (
	_ assay.Searcher = (*SRO)(nil)
	_ assay.Observer = (*SRO)(nil)
)

// NewSRO returns an SRO searcher. Its proposals are the same for the same space,
// options and trials.
func NewSRO(space *assay.Space, opts SimplexOptions) *SRO {
	s := &SRO{newSimplexSearch(space, opts)}
	s.iterate = s.check
	return s
}

// check is an iteration of Algorithm 1, lines 4 to 16.
func (s *SRO) check() {
	s.order()
	if s.collapsed() {
		s.poll()
		return
	}
	v0, worst := s.v[0], s.v[len(s.v)-1].at
	// -1 is the reflection of the worst vertex in the best one, and -2 the expansion.
	point := func(a float64) []assay.Config { return []assay.Config{s.around(v0.at, worst, a)} }
	s.begin(point(-1), s.v, nil, func(r []vertex) {
		// An equal value shrinks too.
		if !(r[0].value < v0.value) {
			s.shrink()
			return
		}
		s.begin(point(-2), append(s.v, r[0]), nil, func(e []vertex) {
			a, known := -1.0, append(s.v, r[0])
			if e[0].value < r[0].value {
				a, known = -2, append(s.v, e[0])
			}
			s.begin(s.images(a), known, nil, func(vs []vertex) { s.accept(v0, vs) })
		})
	})
}
