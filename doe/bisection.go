package doe

import (
	"fmt"
	"iter"
	"slices"
)

// Bisection yields the fractions 0, 1, 1/2, 1/4, 3/4, 1/8, 3/8, 5/8, 7/8, ... of
// a range: the levels at which the sampling L_max-I_1 visits one attribute
// (Shivam, Babu and Chase 2006, Algorithm 5). Within one depth they grow, as the
// paper prints 1/8 before 3/8. It ends after depth 52, where halves stop being exact.
func Bisection() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		if !yield(0) || !yield(1) {
			return
		}
		for depth := 1; depth <= 52; depth++ {
			for k := uint64(1); k < 1<<depth; k += 2 {
				if !yield(float64(k) / float64(uint64(1)<<depth)) {
					return
				}
			}
		}
	}
}

// BisectLevels returns the level numbers 0 .. n-1 in the order in which
// [Bisection] reaches them: for each fraction f the level nearest to f*(n-1)
// that is not used yet, the lower of equals. It panics if n < 0.
// Cost: quadratic in n.
func BisectLevels(n int) []int {
	if n < 0 {
		panic(fmt.Sprintf("doe: %d levels", n))
	}
	order := make([]int, 0, n)
	free := make([]int, n)
	for i := range free {
		free[i] = i
	}
	for f := range Bisection() {
		if len(free) == 0 {
			break
		}
		target := f * float64(n-1)
		k := 0
		for i, level := range free {
			if abs(float64(level)-target) < abs(float64(free[k])-target) {
				k = i
			}
		}
		order = append(order, free[k])
		free = slices.Delete(free, k, k+1)
	}
	return order
}

func abs(x float64) float64 { return max(x, -x) }
