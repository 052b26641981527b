package search

import (
	"math"

	"github.com/assay-run/assay"
)

// A span is the affine space through a point and others, on the unit scale of the
// parameters that have an extent.
//
// Invariant: the rows are independent, row j is 1 at pivots[j], and 0 at the pivots of the rows before.
type span struct {
	space  *assay.Space // scales the points
	origin []float64    // the first point, on the unit scale
	// Indices into the parameters of the space. Rows have one entry for each.
	params []int       // that count
	rows   [][]float64 // a basis in echelon form, each row scaled to 1 at its pivot
	pivots []int       // by row, an index into params
}

// leastExtent is how far from a span a point on the unit scale must be to be outside:
// more than rounding makes of a point that is inside.
const leastExtent = 1e-9

// span returns the span of c alone.
func (s *simplexSearch) span(c assay.Config) *span {
	w := &span{space: s.space, origin: s.space.Unit(c)}
	for i, p := range s.space.Params {
		if extended(p) {
			w.params = append(w.params, i)
		}
	}
	return w
}

// rank returns the number of its dimensions.
func (w *span) rank() int { return len(w.rows) }

// add reports whether c is outside of the span, which it is inside of from now on.
//
// It is one step of Gaussian elimination with the largest entry as pivot. Cost: rank times parameters.
func (w *span) add(c assay.Config) bool {
	u := w.space.Unit(c)
	row := make([]float64, len(w.params))
	for k, i := range w.params {
		row[k] = u[i] - w.origin[i]
	}
	for j, basis := range w.rows {
		if f := row[w.pivots[j]]; f != 0 {
			for k := range row {
				row[k] -= f * basis[k]
			}
			// Exactly, so that rounding leaves no pivot behind.
			row[w.pivots[j]] = 0
		}
	}
	pivot := 0
	for k, x := range row {
		if math.Abs(x) > math.Abs(row[pivot]) {
			pivot = k
		}
	}
	if len(row) == 0 || math.Abs(row[pivot]) < leastExtent {
		return false
	}
	f := row[pivot]
	for k := range row {
		row[k] /= f
	}
	w.rows, w.pivots = append(w.rows, row), append(w.pivots, pivot)
	return true
}

// spanning returns vertices vs of a simplex around c and those neighbours of c, or c
// itself, that make it span more.
func (s *simplexSearch) spanning(vs []assay.Config, c assay.Config) []assay.Config {
	if len(vs) == 0 {
		return vs
	}
	w := s.span(vs[0])
	for _, v := range vs[1:] {
		w.add(v)
	}
	// The simplex has an extent in each direction already.
	if w.rank() == len(w.params) {
		return vs
	}
	for _, n := range append(s.neighbours(c), c) {
		if w.add(n) {
			vs = append(vs, n)
		}
	}
	return vs
}

// secondInDirection reports by neighbour of c whether those before it go in its
// direction. To change a parameter that has no extent is a direction too.
//
// A shortcut asks for the first in each direction before the second ones: see [shortcut].
func (s *simplexSearch) secondInDirection(c assay.Config, ns []assay.Config) []bool {
	w := s.span(c)
	tried := make([]bool, len(c))
	second := make([]bool, len(ns))
	for k, n := range ns {
		second[k] = !w.add(n)
		for i, p := range s.space.Params {
			if !extended(p) && n[i] != c[i] && !tried[i] {
				tried[i], second[k] = true, false
			}
		}
	}
	return second
}
