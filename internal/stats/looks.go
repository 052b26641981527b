package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// FirstLook is after how many pairs a comparison that goes on is looked at first: at the error of a first look, a rank
// test of fewer than 7 pairs shows nothing.
const FirstLook = 8

// NextLook returns the number of pairs of the look after the one at n pairs: 8, 12, 18, 27, ...
func NextLook(n int) int { return n * 3 / 2 }

// LookError returns the error of the i-th look, from 1: the errors of all looks together are at most total, whenever
// they are taken.
func LookError(total float64, i int) float64 { return total / float64(i*(i+1)) }

// Looks returns the number of the look at n pairs, from 1, and whether it is one that is taken while a comparison goes
// on. At another number of pairs it is taken only as the last.
func Looks(n int) (i int, planned bool) {
	i = 1
	for next := FirstLook; next <= n; next = NextLook(next) {
		if next == n {
			return i, true
		}
		i++
	}
	return i, false
}

// Power is the probability that a difference is shown by the number of pairs from [PairsFor].
const Power = 0.95

// PairsFor returns the number of pairs of the first look at which a difference of gap, on the scale of logarithms, is
// shown in 95 of 100 cases, with an error of total on its side over all looks. It is huge if the noise is unknown or
// the gap is 0.
//
// The half-width of the interval at the i-th look is z(error of the look)·noise/√n, and the estimate is off by
// z(0.95)·noise/√n in 1 of 20.
func PairsFor(noise, gap, total float64) int {
	const huge = 1 << 30
	if math.IsNaN(noise) || gap <= 0 {
		return huge
	}
	for i, n := 1, FirstLook; n < huge; i, n = i+1, NextLook(n) {
		e := LookError(total, i)
		if e < math.Exp2(-float64(n)) {
			continue // a rank test of so few shows nothing
		}
		if (distuv.UnitNormal.Quantile(1-e)+distuv.UnitNormal.Quantile(Power))*noise/math.Sqrt(float64(n)) <= gap {
			return n
		}
	}
	return huge
}

// CompareAtLook compares pairs like [ComparePaired], at the look of their number. It is for a comparison that is
// repeated as pairs are added and ends when it shows a difference: it errs in at most 1-level of all cases over all of
// its looks, half of them on each side. A level of 0 means 0.95.
//
// The order of the two runs must be drawn for each pair. Then the sign of every difference is the toss of a coin
// between two equal commands under any behaviour of the machine: drift, bursts and heavy tails included.
func CompareAtLook(a, b []float64, level float64) Comparison {
	i, _ := Looks(len(a))
	return ComparePaired(a, b, CompareOptions{Level: 1 - 2*LookError((1-levelOr(level))/2, i)})
}

// fewLevel is the level of Student's t in a verdict of few pairs. At 0.95 studies of equal configurations showed a gain
// in 2.3 of 100 cases: runs have heavier tails than the normal law, and a first configuration that is not the best was
// slow by chance.
const fewLevel = 0.97

// CompareVerdict compares two commands by pairs of runs, in any number: by [CompareAtLook] from the first look on, and
// by [CompareFew] below it. earlier are runs of the first command that are in no pair, and more the repeated runs of
// other configurations; they count below the first look only. a[i] and b[i] are a pair; runs of b after the last pair
// count below the first look too.
func CompareVerdict(a, b, earlier []float64, more [][]float64) Comparison {
	if len(a) >= FirstLook {
		return CompareAtLook(a, b[:len(a)], 0)
	}
	c := CompareFew(slices.Concat(a, earlier), b, more, CompareOptions{Level: fewLevel})
	c.N = len(a)
	return c
}
