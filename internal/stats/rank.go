package stats

import (
	"cmp"
	"slices"
)

// Ranks returns the rank of each value, from 1 for the least; equal values
// share the mean of their ranks. NaN ranks before everything. Cost: n log n.
func Ranks(x []float64) []float64 {
	r, _ := ranks(x)
	return r
}

// ranks also returns Σ(t³-t) over the groups of t equal values.
func ranks(x []float64) (r []float64, ties float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	r = make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && cmp.Compare(x[order[i]], x[order[j]]) == 0 {
			j++
		}
		// Invariant: order[i:j] are the values of ranks i+1 to j, all equal.
		for _, k := range order[i:j] {
			r[k] = float64(i+1+j) / 2
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return r, ties
}
