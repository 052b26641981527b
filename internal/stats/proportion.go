package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Proportion estimates a share of a population from k positives among n random draws: the exact interval of Clopper and
// Pearson (1934), which holds its level for every share. Without any draws, the interval is [0, 1]. It panics unless 0
// <= k <= n and level is in (0, 1).
func Proportion(k, n int, level float64) Estimate {
	if k < 0 || n < k || !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stats: proportion of %d of %d at level %v", k, n, level))
	}
	e := Estimate{Value: math.NaN(), High: 1, Level: level, N: n}
	if n == 0 {
		return e
	}
	e.Value = float64(k) / float64(n)
	tail := (1 - level) / 2
	if k > 0 {
		e.Low = mathext.InvRegIncBeta(float64(k), float64(n-k+1), tail)
	}
	if k < n {
		e.High = mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-tail)
	}
	return e
}

// MeanAtLeast returns a lower bound of the population mean of x with that confidence, of at least a half. It only
// assumes that no value can be negative. It is the mean of the distribution with the least values that the inequality
// of Dvoretzky, Kiefer and Wolfowitz allows (Anderson 1969; Massart 1990), and 0 for a sample that is too small. It
// panics for a negative value.
func MeanAtLeast(x []float64, confidence float64) float64 {
	if !(confidence >= 0.5 && confidence < 1) {
		panic(fmt.Sprintf("stats: confidence %v", confidence))
	}
	x = slices.Sorted(slices.Values(x))
	n := float64(len(x))
	band := math.Sqrt(-math.Log(1-confidence) / (2 * n))
	low, last := 0.0, 0.0
	for i, v := range x {
		if !(v >= 0) {
			panic(fmt.Sprintf("stats: the value %v of a mean of no negative ones", v))
		}
		low += (v - last) * max(0, 1-float64(i)/n-band)
		last = v
	}
	return low
}
