package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A Pareto is the Pareto distribution, hyperbolic over its entire range
// (Tabatabaee et al. 2005, Eq. 9; Alpha and Beta are its α and β):
//
//	P[X > x] = (β/x)^α,  x >= β.
//
// It is heavy-tailed for α < 2: the variance is infinite, and for α <= 1 the
// mean is too. Alpha and Beta are positive.
type Pareto struct {
	Alpha float64 // shape
	Beta  float64 // least value
}

// Survival returns P[X > x], 1 below Beta (Eq. 9, 10).
func (p Pareto) Survival(x float64) float64 {
	if x <= p.Beta {
		return 1
	}
	return math.Pow(p.Beta/x, p.Alpha)
}

// CDF returns P[X <= x] (Eq. 9), without cancellation near Beta.
func (p Pareto) CDF(x float64) float64 {
	if x <= p.Beta {
		return 0
	}
	return -math.Expm1(p.Alpha * math.Log(p.Beta/x))
}

// PDF returns the density α·β^α/x^(α+1), 0 below Beta.
func (p Pareto) PDF(x float64) float64 {
	if x < p.Beta {
		return 0
	}
	return p.Alpha / x * math.Pow(p.Beta/x, p.Alpha)
}

// Quantile returns the x with P[X <= x] = q; +Inf for 1. It panics outside
// [0, 1].
func (p Pareto) Quantile(q float64) float64 {
	if q < 0 || q > 1 || math.IsNaN(q) {
		panic("stats: quantile out of [0, 1]")
	}
	return p.Beta * math.Exp(-math.Log1p(-q)/p.Alpha)
}

// Draw returns a random value by inversion.
func (p Pareto) Draw(rng *rand.Rand) float64 {
	return p.Beta * math.Pow(1-rng.Float64(), -1/p.Alpha) // 1 - u is in (0, 1]
}

// Mean returns α·β/(α-1) (Eq. 16), +Inf for α <= 1.
func (p Pareto) Mean() float64 {
	if p.Alpha <= 1 {
		return math.Inf(1)
	}
	return p.Alpha * p.Beta / (p.Alpha - 1)
}

// Variance returns β²·α/((α-1)²·(α-2)), +Inf for α <= 2.
func (p Pareto) Variance() float64 {
	if p.Alpha <= 2 {
		return math.Inf(1)
	}
	d := p.Alpha - 1
	return p.Beta * p.Beta * p.Alpha / (d * d * (p.Alpha - 2))
}

// MinOf returns the distribution of the least of k independent values: by [Q(x)]^k (Eq. 11) a Pareto distribution of
// shape k·α (Eq. 19). So the minimum has a finite mean for k > 1/α and a finite variance for k > 2/α, however heavy the
// tail. (The paper claims that k > 1/α is enough for the variance, too; it is not.) It panics for k < 1.
func (p Pareto) MinOf(k int) Pareto {
	if k < 1 {
		panic(fmt.Sprintf("stats: minimum of %d values", k))
	}
	return Pareto{float64(k) * p.Alpha, p.Beta}
}

// Replicates returns K0, the least number of runs whose minimum exceeds its
// limit f + β by more than lambda with a probability below epsilon (Eq. 20, 22):
// the least K with
//
//	(β/(β+λ))^(K·α) < ε.
//
// Lambda is the least difference between two configurations that matters (Eq.
// 21), in the unit of Beta. It panics unless lambda > 0 and 0 < epsilon < 1.
// It returns the greatest int if K0 does not fit an int.
func (p Pareto) Replicates(lambda, epsilon float64) int {
	if !(lambda > 0) || !(epsilon > 0 && epsilon < 1) {
		panic(fmt.Sprintf("stats: replicates for a difference of %v with error %v", lambda, epsilon))
	}
	k := math.Floor(-math.Log(epsilon)/(p.Alpha*math.Log1p(lambda/p.Beta))) + 1
	if k >= math.MaxInt32 {
		return math.MaxInt
	}
	return int(k)
}
