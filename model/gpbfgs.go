package model

import "math"

// minimizeBFGS minimizes f from x on by the method of Broyden, Fletcher, Goldfarb and Shanno with backtracking (Nocedal
// and Wright, "Numerical optimization", 2006, algorithms 3.1 and 6.1) and returns the best point and its value. f sets
// grad and returns the value; +Inf or NaN marks a point that cannot be used, and grad is ignored. It ends after the
// given number of evaluations of f, or when no step lowers f any more by 1e-6 of itself. If f(x) itself is not finite,
// x is returned.
func minimizeBFGS(f func(x, grad []float64) float64, x []float64, evaluations int) ([]float64, float64) {
	n := len(x)
	x = append([]float64(nil), x...)
	grad, next, nextGrad := make([]float64, n), make([]float64, n), make([]float64, n)
	step, change, hy := make([]float64, n), make([]float64, n), make([]float64, n)
	h := make([]float64, n*n) // approximates the inverse of the Hessian
	value := f(x, grad)
	if !finite(value) {
		return x, value
	}
	scaled(h, grad)
	fresh := true
	evaluations--
	for evaluations > 0 {
		var slope float64
		for i := range n {
			step[i] = 0
			for j, g := range grad {
				step[i] -= h[i*n+j] * g
			}
			slope += step[i] * grad[i]
		}
		var nextValue float64
		found := slope < 0
		// Invariant: f at every t tried so far was too high.
		try := func(t float64) bool {
			for i := range n {
				next[i] = x[i] + t*step[i]
			}
			nextValue = f(next, nextGrad)
			return finite(nextValue) && nextValue <= value+1e-4*t*slope
		}
		if found {
			found, evaluations = backtrack(try, evaluations)
		}
		if !found {
			if fresh {
				break
			}
			scaled(h, grad)
			fresh = true
			continue
		}
		var curvature, change2 float64
		for i := range n {
			step[i], change[i] = next[i]-x[i], nextGrad[i]-grad[i]
			curvature += step[i] * change[i]
			change2 += change[i] * change[i]
		}
		if fresh && curvature > 0 {
			// The scale of the first step was a guess; this is their eq. 6.20.
			for i := range n {
				h[i*n+i] = curvature / change2
			}
		}
		fresh = false
		fell := value - nextValue
		x, next = next, x
		grad, nextGrad = nextGrad, grad
		value = nextValue
		if fell <= 1e-6*math.Abs(value) {
			break
		}
		if curvature > 0 {
			updateBFGS(h, step, change, hy, curvature)
		}
	}
	return x, value
}

// scaled sets h to the identity, by a scale with which the first step has a length of at most 1.
func scaled(h, grad []float64) {
	clear(h)
	var norm float64
	for _, g := range grad {
		norm += g * g
	}
	for i := range grad {
		h[i*len(grad)+i] = 1 / max(1, math.Sqrt(norm))
	}
}

// backtrack tries ever shorter steps until one is short enough, and returns the evaluations that are left.
func backtrack(try func(t float64) bool, evaluations int) (found bool, left int) {
	for t := 1.0; evaluations > 0 && !found; t /= 3 {
		found = try(t)
		evaluations--
		if t < 1e-6 {
			break
		}
	}
	return found, evaluations
}

// updateBFGS is their eq. 6.17, with step s, change y of the gradient, and y·s.
func updateBFGS(h, s, y, hy []float64, ys float64) {
	n := len(s)
	var yhy float64
	for i := range n {
		hy[i] = 0
		for j, v := range y {
			hy[i] += h[i*n+j] * v
		}
		yhy += y[i] * hy[i]
	}
	for i := range n {
		for j := range n {
			h[i*n+j] += (1+yhy/ys)*s[i]*s[j]/ys - (hy[i]*s[j]+s[i]*hy[j])/ys
		}
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
