package doe

import (
	"iter"
	"math/bits"
)

// Bisection yields the fractions 0, 1, 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8, ... of
// a range: the levels at which the sampling L_max-I_1 visits one attribute
// (Shivam, Babu and Chase 2006, Algorithm 5). Within one depth the order is
// that of the van der Corput sequence in base 2. It ends after depth 52, where
// halves stop being exact.
func Bisection() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		if !yield(0) || !yield(1) {
			return
		}
		for i := uint64(1); i < 1<<52; i++ {
			// The bits of i mirrored at the binary point.
			if !yield(float64(bits.Reverse64(i)>>12) / (1 << 52)) {
				return
			}
		}
	}
}
