package model

import (
	"math"

	"github.com/assay-run/assay"
)

// A Process is a Predictor with a distribution of outcomes, not only of the function, and with its errors on held-out
// examples.
type Process interface {
	assay.Predictor
	// Noise returns the standard deviation of an outcome about the function.
	Noise() float64
	// Residuals returns, for each exact example, the number of standard deviations by which it lies above its prediction
	// from the others. They are about standard normal if the process is calibrated. Censored examples are among the
	// others.
	Residuals() []float64
}

var _ Process = (*gpPosterior)(nil)

// Noise implements [Process] for [GP].
func (p *gpPosterior) Noise() float64 {
	return p.sd * math.Sqrt(math.Exp(p.theta[p.d+1])+gpLeastNoise)
}

// Residuals implements [Process] for [GP] with the parameters that all examples were
// used to learn: α_i/√(K⁻¹)_ii (Rasmussen and Williams, eq. 5.12). Cost: n³/6.
func (p *gpPosterior) Residuals() []float64 {
	n := len(p.alpha)
	precision := make([]float64, n) // diagonal of K⁻¹ = L⁻ᵀL⁻¹: squared columns of L⁻¹
	column := make([]float64, n)
	for j := range n {
		column[j] = 1 / p.lower[j*n+j]
		precision[j] = column[j] * column[j]
		for i := j + 1; i < n; i++ {
			var sum float64
			for k, l := range p.lower[i*n+j : i*n+i] {
				sum += l * column[j+k]
			}
			column[i] = -sum / p.lower[i*n+i]
			precision[j] += column[i] * column[i]
		}
	}
	var out []float64
	for i, a := range p.alpha {
		if p.exact == nil || p.exact[i] {
			out = append(out, a/math.Sqrt(precision[i]))
		}
	}
	return out
}
