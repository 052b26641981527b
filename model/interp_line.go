package model

import "slices"

// A line interpolates in one dimension by cubic Hermite polynomials: between
// values x_i and x_(i+1) at distance h, with t = (x - x_i)/h,
//
//	f = (1+2t)(1-t)²·y_i + t(1-t)²·h·s_i + t²(3-2t)·y_(i+1) - t²(1-t)·h·s_(i+1),
//
// where the slopes s are linear in y. It is the weights of y that are asked for.
type line struct {
	x     []float64   // ascending
	slope [][]float64 // s_i = Σ_k slope[i][k]·y_k; nil for straight lines
}

// maxSplined is the number of values up to which the slopes of a spline are solved for; above, a line has the slopes of
// cubic convolution.
const maxSplined = 1024

// slopes sets the slopes of an interpolant.
func (l *line) slopes(by Interpolant) {
	n := len(l.x)
	switch {
	case by == Multilinear || n < 3:
	case (by == Spline && n > 3 || by == NaturalSpline) && n <= maxSplined:
		l.splineSlopes(by == NaturalSpline)
	default:
		l.parabolaSlopes()
	}
}

// parabolaSlopes sets the slope at each value to the slope of the parabola through it and its neighbours, at the ends
// through the last three. With equal distances it is (y_(i+1) - y_(i-1))/2h, Keys' cubic convolution with a = -1/2.
func (l *line) parabolaSlopes() {
	n := len(l.x)
	l.slope = make([][]float64, n)
	for i := range n {
		k := min(max(i-1, 0), n-3) // the parabola is through k, k+1, k+2
		l.slope[i] = make([]float64, n)
		for a := k; a < k+3; a++ { // derivative of the Lagrange polynomial of a at x_i
			var sum float64
			for b := k; b < k+3; b++ {
				if b == a {
					continue
				}
				c := 3*k + 3 - a - b
				sum += (l.x[i] - l.x[c]) / ((l.x[a] - l.x[b]) * (l.x[a] - l.x[c]))
			}
			l.slope[i][a] = sum
		}
	}
}

// splineSlopes sets the slopes that make the second derivative continuous (de
// Boor, "A practical guide to splines", 1978, ch. IV, eqs. 10-14),
//
//	s_(i-1)/h_(i-1) + 2(1/h_(i-1) + 1/h_i)·s_i + s_(i+1)/h_i = 3(δ_(i-1)/h_(i-1) + δ_i/h_i),
//
// δ_i = (y_(i+1) - y_i)/h_i, with 2s_0 + s_1 = 3δ_0 at a natural end and
//
//	h_1·s_0 + (h_0+h_1)·s_1 = ((h_0 + 2(h_0+h_1))·h_1·δ_0 + h_0²·δ_1)/(h_0+h_1)
//
// at one that is not a knot, for which there are at least four values. Cost: n².
func (l *line) splineSlopes(natural bool) {
	n := len(l.x)
	h := make([]float64, n-1)
	for i := range h {
		h[i] = l.x[i+1] - l.x[i]
	}
	low, mid, up := make([]float64, n), make([]float64, n), make([]float64, n)
	right := make([][]float64, n) // of each row, as weights of y
	for i := range right {
		right[i] = make([]float64, n)
	}
	delta := func(row, i int, w float64) {
		right[row][i] -= w / h[i]
		right[row][i+1] += w / h[i]
	}
	for i := 1; i < n-1; i++ {
		low[i], up[i] = 1/h[i-1], 1/h[i]
		mid[i] = 2 * (low[i] + up[i])
		delta(i, i-1, 3*low[i])
		delta(i, i, 3*up[i])
	}
	if natural {
		mid[0], up[0] = 2, 1
		delta(0, 0, 3)
		mid[n-1], low[n-1] = 2, 1
		delta(n-1, n-2, 3)
	} else {
		a, b := h[0], h[1]
		mid[0], up[0] = b, a+b
		delta(0, 0, (a+2*(a+b))*b/(a+b))
		delta(0, 1, a*a/(a+b))
		a, b = h[n-2], h[n-3]
		mid[n-1], low[n-1] = b, a+b
		delta(n-1, n-2, (a+2*(a+b))*b/(a+b))
		delta(n-1, n-3, a*a/(a+b))
	}
	// Gaussian elimination of a tridiagonal system for n right sides at once.
	for i := 1; i < n; i++ {
		f := low[i] / mid[i-1]
		mid[i] -= f * up[i-1]
		for k, v := range right[i-1] {
			right[i][k] -= f * v
		}
	}
	for i := n - 1; i >= 0; i-- {
		for k := range right[i] {
			if i < n-1 {
				right[i][k] -= up[i] * right[i+1][k]
			}
			right[i][k] /= mid[i]
		}
	}
	l.slope = right
}

// weights returns the weights of the values at x, which is within their range, without zeros.
func (l *line) weights(x float64) []weight {
	i, exact := slices.BinarySearch(l.x, x)
	if exact {
		return []weight{{i, 1}}
	}
	if i = min(max(i-1, 0), len(l.x)-2); len(l.x) == 1 {
		return []weight{{0, 1}}
	}
	h := l.x[i+1] - l.x[i]
	t := (x - l.x[i]) / h
	if l.slope == nil {
		return []weight{{i, 1 - t}, {i + 1, t}}
	}
	r := 1 - t
	a, b := t*r*r*h, -t*t*r*h
	var ws []weight
	for k := range l.x {
		w := a*l.slope[i][k] + b*l.slope[i+1][k]
		switch k {
		case i:
			w += (1 + 2*t) * r * r
		case i + 1:
			w += t * t * (3 - 2*t)
		}
		if w != 0 {
			ws = append(ws, weight{k, w})
		}
	}
	return ws
}
