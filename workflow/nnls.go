package workflow

import "math"

// This file solves the small least squares problems of a calibration from their normal equations.
// Arrays have a fixed size, so that thousands of fits allocate nothing. Coordinates from p on are 0
// and are not looked at.

// maxTerms is the most coefficients that a model of a calibration has.
const maxTerms = 4

// A gram is the normal equations of a least squares problem Ax = b with p <=
// maxTerms columns: g = A'A, row-major with rows of maxTerms, and c = A'b. Grams
// of disjoint sets of rows add up.
type gram struct {
	g [maxTerms * maxTerms]float64
	c [maxTerms]float64
}

// add adds the row x of A and b of b, with a weight.
func (m *gram) add(x []float64, b, weight float64) {
	for i := range x {
		for j := range x {
			m.g[i*maxTerms+j] += weight * x[i] * x[j]
		}
		m.c[i] += weight * x[i] * b
	}
}

// minus returns m without the rows of o.
//
// Entries can come out a little off by rounding; solve allows for that with its tolerance.
func (m *gram) minus(o *gram) gram {
	r := *m
	for i := range r.g {
		r.g[i] -= o.g[i]
	}
	for i := range r.c {
		r.c[i] -= o.c[i]
	}
	return r
}

// residuals are the normal equations of a least squares problem Ax = b with the terms for its squared
// error: squares is b'b, rows is the number of rows, by weight.
type residuals struct {
	gram
	squares, rows float64
}

// add adds the row x of A and b of b, with a weight.
func (r *residuals) add(x []float64, b, weight float64) {
	r.gram.add(x, b, weight)
	r.squares += weight * b * b
	r.rows += weight
}

// minus returns r without the rows of o.
func (r *residuals) minus(o *residuals) residuals {
	return residuals{r.gram.minus(&o.gram), r.squares - o.squares, r.rows - o.rows}
}

// plus adds the rows of o.
func (r *residuals) plus(o *residuals) {
	for i := range r.g {
		r.g[i] += o.g[i]
	}
	for i := range r.c {
		r.c[i] += o.c[i]
	}
	r.squares += o.squares
	r.rows += o.rows
}

// nnls returns the x >= 0 that minimizes |Ax - b|² (Lawson and Hanson 1974,
// ch. 23). A column of zeros, or one that the others span, gets x = 0. It costs
// O(p^4) at worst.
//
// The bound of 4·p rounds ends it where rounding makes coordinates come and go; x is then feasible,
// if not the least. If the column that is added is spanned by others, x stays as it was.
func (m *gram) nnls(p int) (x [maxTerms]float64) {
	var free [maxTerms]bool
	// Invariant: x >= 0, and x is the minimum over the free coordinates with
	// the others at 0.
	for range 4 * p {
		// The coordinate along which the error falls fastest, per unit of its column's length.
		// Below the tolerance x is a minimum (the Kuhn-Tucker conditions).
		best, slope := -1, 1e-12
		for i := range p {
			d := m.g[i*maxTerms+i]
			if free[i] || d <= 0 {
				continue
			}
			w := m.c[i]
			for j := range p {
				w -= m.g[i*maxTerms+j] * x[j]
			}
			if w /= math.Sqrt(d); w > slope {
				best, slope = i, w
			}
		}
		if best < 0 {
			break
		}
		free[best] = true
		if !m.relax(p, &free, &x) {
			break
		}
	}
	return x
}

// relax moves x to the minimum over the free coordinates. If some of these would become
// negative, it goes only as far as the first of them reaches 0, gives that one up, and tries
// again: each round gives up at least one coordinate, so that it ends. It reports false if g
// is singular over the free coordinates.
//
// On entry x is 0 in the coordinate that was freed last. a is the share of the way to z at which a
// coordinate reaches 0; the least is gone, so that x stays >= 0.
func (m *gram) relax(p int, free *[maxTerms]bool, x *[maxTerms]float64) bool {
	for {
		z, ok := m.solve(p, free)
		if !ok {
			return false
		}
		step, at := 1.0, -1
		for i := range p {
			if free[i] && z[i] <= 0 {
				if a := x[i] / (x[i] - z[i]); at < 0 || a < step {
					step, at = min(a, step), i
				}
			}
		}
		for i := range p {
			if free[i] {
				x[i] += step * (z[i] - x[i])
			}
		}
		if at < 0 {
			return true
		}
		x[at], free[at] = 0, false
	}
}

// solve solves gz = c over the free coordinates by Cholesky decomposition; the others are 0.
// ok is false if a pivot is lost in rounding, which means that a column is spanned by those
// before it.
func (m *gram) solve(p int, free *[maxTerms]bool) (z [maxTerms]float64, ok bool) {
	l, at, n, ok := m.cholesky(p, free)
	if !ok {
		return z, false
	}
	var y [maxTerms]float64
	for i := range n {
		s := m.c[at[i]]
		for j := range i {
			s -= l[i*maxTerms+j] * y[j]
		}
		y[i] = s / l[i*maxTerms+i]
	}
	for i := n - 1; i >= 0; i-- {
		s := y[i]
		for k := i + 1; k < n; k++ {
			s -= l[k*maxTerms+i] * z[at[k]]
		}
		z[at[i]] = s / l[i*maxTerms+i]
	}
	return z, true
}

// logDet returns the logarithm of the determinant of g over the free coordinates, which nnls has
// found not to be singular; 0 if there are none.
func (m *gram) logDet(p int, free *[maxTerms]bool) float64 {
	l, _, n, _ := m.cholesky(p, free)
	sum := 0.0
	for i := range n {
		sum += 2 * math.Log(l[i*maxTerms+i])
	}
	return sum
}

// cholesky returns the lower triangular l with ll' = g over the n free coordinates, which are listed in
// at. ok is false if g is singular there, up to rounding; l is then not whole.
func (m *gram) cholesky(p int, free *[maxTerms]bool) (l [maxTerms * maxTerms]float64, at [maxTerms]int, n int,
	ok bool,
) {
	for i := range p {
		if free[i] {
			at[n] = i
			n++
		}
	}
	for i := range n {
		for j := range i + 1 {
			d := m.g[at[i]*maxTerms+at[j]]
			for k := range j {
				d -= l[i*maxTerms+k] * l[j*maxTerms+k]
			}
			if j < i {
				l[i*maxTerms+j] = d / l[j*maxTerms+j]
				continue
			}
			if d <= 1e-12*m.g[at[i]*maxTerms+at[i]] {
				return l, at, n, false
			}
			l[i*maxTerms+i] = math.Sqrt(d)
		}
	}
	return l, at, n, true
}
