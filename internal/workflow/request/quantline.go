package request

import (
	"math"
	"slices"
)

// This file fits lines by quantile regression: Koenker and Bassett, Regression quantiles, Econometrica
// 46 (1978). The line of a quantile tau has a share tau of the points at or below it, and outliers above
// do not move it.

// quantLine returns the line a + b·x that minimises the sum of the tilted absolute errors: tau
// for each unit that a point is above the line, 1-tau for each that it is below.
//
// Some best line passes through two points. The search pivots: of the lines through one point the
// best has a weighted quantile of the slopes to all others as its slope, and goes through a second point,
// which is the next pivot. The loss falls at each step, so that it ends. With fewer than two different
// x the slope is 0.
func quantLine(x, y []float64, tau float64) (a, b float64) {
	n := len(x)
	best := math.Inf(1)
	// Starts: the point in the middle of the errors about a flat line, and the ends of x.
	for _, pivot := range []int{quantileIndex(y, tau), argBy(x, -1), argBy(x, 1)} {
		for range 4 * n {
			slope, next, ok := slopeThrough(x, y, pivot, tau)
			if !ok {
				break
			}
			at := y[pivot] - slope*x[pivot]
			l := tilted(x, y, at, slope, tau)
			if !(l < best*(1-1e-12)) {
				break
			}
			best, a, b = l, at, slope
			pivot = next
		}
	}
	if math.IsInf(best, 1) {
		return y[quantileIndex(y, tau)], 0
	}
	return a, b
}

// slopeThrough returns the slope of the best line through a point, and the point that it goes
// through beside.
//
// A point at distance d = |x-x0| with the slope s to it adds d·(tilted error of s): the
// minimum is at a quantile of the slopes weighted by d, where points left of the pivot count with 1-tau.
// ok is false if no point has another x.
func slopeThrough(x, y []float64, pivot int, tau float64) (slope float64, next int, ok bool) {
	type far struct {
		slope, weight float64 // of the line to the pivot
		at            int     // index of the point
	}
	all := make([]far, 0, len(x))
	want := 0.0
	for i := range x {
		d := x[i] - x[pivot]
		if d == 0 {
			continue
		}
		all = append(all, far{(y[i] - y[pivot]) / d, math.Abs(d), i})
		if d > 0 {
			want += tau * d
		} else {
			want += (1 - tau) * -d
		}
	}
	if len(all) == 0 {
		return 0, 0, false
	}
	slices.SortFunc(all, func(p, q far) int {
		switch {
		case p.slope < q.slope:
			return -1
		case p.slope > q.slope:
			return 1
		}
		return p.at - q.at
	})
	sum := 0.0
	for _, f := range all {
		if sum += f.weight; sum >= want {
			return f.slope, f.at, true
		}
	}
	last := all[len(all)-1]
	return last.slope, last.at, true
}

// tilted returns the sum of the tilted absolute errors of a line.
func tilted(x, y []float64, a, b, tau float64) float64 {
	sum := 0.0
	for i := range x {
		e := y[i] - (a + b*x[i])
		sum += max(tau*e, (tau-1)*e)
	}
	return sum
}

// quantileIndex returns the index of the value that is the quantile tau of y.
func quantileIndex(y []float64, tau float64) int {
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case y[i] < y[j]:
			return -1
		case y[i] > y[j]:
			return 1
		}
		return 0
	})
	return order[rankOf(tau, len(y))-1]
}

// rankOf returns the rank, from 1, of the order statistic of n values that a further value is below
// with a chance of at least p, or n if none is.
func rankOf(p float64, n int) int {
	return min(max(int(math.Ceil(p*float64(n+1)-1e-9)), 1), n)
}

// argBy returns the index of the largest sign·x.
func argBy(x []float64, sign float64) int {
	best := 0
	for i := range x {
		if sign*x[i] > sign*x[best] {
			best = i
		}
	}
	return best
}
