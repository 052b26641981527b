package doe

import (
	"fmt"
	"iter"
)

// Factorial yields the full factorial design: every combination of level
// numbers, 0 <= x[i] < levels[i], in lexical order with the last factor
// fastest. Each yielded slice is new. A factor without levels makes the design
// empty; no factors make one empty combination. It panics on a negative number.
func Factorial(levels ...int) iter.Seq[[]int] {
	for _, n := range levels {
		if n < 0 {
			panic(fmt.Sprintf("doe: a factor with %d levels", n))
		}
	}
	return func(yield func([]int) bool) {
		x := make([]int, len(levels))
		for _, n := range levels {
			if n == 0 {
				return
			}
		}
		for {
			if !yield(append([]int(nil), x...)) {
				return
			}
			// Invariant: x[i+1:] has wrapped to zero.
			i := len(x) - 1
			for ; i >= 0; i-- {
				if x[i]++; x[i] < levels[i] {
					break
				}
				x[i] = 0
			}
			if i < 0 {
				return
			}
		}
	}
}

// TwoLevel returns the 2^k rows of the two-level full factorial design of k
// factors in standard (Yates) order: the first factor changes fastest, -1 is
// the low level and +1 the high one. It panics unless 0 <= k <= 20.
func TwoLevel(k int) [][]int {
	if k < 0 || k > 20 {
		panic(fmt.Sprintf("doe: two-level factorial of %d factors", k))
	}
	rows := make([][]int, 1<<k)
	for i := range rows {
		rows[i] = make([]int, k)
		for j := range k {
			rows[i][j] = 2*(i>>j&1) - 1
		}
	}
	return rows
}
