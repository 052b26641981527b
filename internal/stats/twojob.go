package stats

import "fmt"

// TwoJob is the model of performance variability of Tabatabaee et al. 2005, §4.1: a
// machine serves the program and, before it, jobs of first priority. A run
// takes y = f + n (Eq. 5), f the time on the idle machine and n the time that
// the other jobs take meanwhile.
type TwoJob struct {
	// Rho is the idle system throughput ρ, 0 <= ρ < 1: the load of the
	// first-priority jobs.
	Rho float64
}

func (m TwoJob) check() {
	if !(m.Rho >= 0 && m.Rho < 1) {
		panic(fmt.Sprintf("stats: idle throughput %v out of [0, 1)", m.Rho))
	}
}

// Time returns E(y) = f/(1-ρ) (Eq. 6).
func (m TwoJob) Time(f float64) float64 {
	m.check()
	return f / (1 - m.Rho)
}

// Noise returns E(n) = f·ρ/(1-ρ) (Eq. 7).
func (m TwoJob) Noise(f float64) float64 {
	m.check()
	return f * m.Rho / (1 - m.Rho)
}

// Pareto returns the Pareto noise of shape alpha with that expectation, whose
// least value is (Eq. 17)
//
//	β = (α-1)·ρ·f/((1-ρ)·α).
//
// It panics for alpha <= 1, where there is no expectation. With ρ = 0 there is
// no noise and Beta is 0: every draw is 0.
func (m TwoJob) Pareto(f, alpha float64) Pareto {
	if !(alpha > 1) {
		panic(fmt.Sprintf("stats: shape %v has no mean", alpha))
	}
	return Pareto{alpha, (alpha - 1) / alpha * m.Noise(f)}
}

// Replicates returns the number of runs of each of the points that fit at once on the processors, K =
// ⌊processors/points⌋, at least 1 (§5.2: 64 processors and 6 points allow 10). It panics unless both are positive.
func Replicates(processors, points int) int {
	if processors < 1 || points < 1 {
		panic(fmt.Sprintf("stats: %d points on %d processors", points, processors))
	}
	return max(1, processors/points)
}

// TotalTime returns ΣT_k over the iterations k (Eq. 2), each of which takes the
// maximum over its processors, as everybody waits for the last (Eq. 1); 0 if there are none.
func TotalTime(T []float64) float64 { return sum(T) }

// NormalizedTotalTime returns NTT = (1-ρ)·ΣT_k (Eq. 23), which makes total times
// comparable between loads.
func (m TwoJob) NormalizedTotalTime(T []float64) float64 {
	m.check()
	return (1 - m.Rho) * TotalTime(T)
}
