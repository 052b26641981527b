package stats

import (
	"iter"
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
