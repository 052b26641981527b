package model

import (
	"math"

	"github.com/assay-run/assay"
	"gonum.org/v1/gonum/mat"
)

// Censored examples of a Gaussian process, by expectation propagation (Groot and Lucas, "Gaussian process regression
// with censored data using expectation propagation", 2012, §3). An outcome above c has the likelihood Φ((f - c)/σ). It
// is replaced by an exact outcome μ of variance v, its site, such that the posterior of f at the example has the same
// mean and variance as with the likelihood itself and the other examples. With N(m, s²) the distribution of f given the
// others, z = (m - c)/√(σ² + s²) and r = φ(z)/Φ(z),
//
//	g = r/√(σ² + s²),  h = r·(z + r)/(σ² + s²),  v = 1/h - s²,  μ = m + g/h.
//
// All sites are set at once, round after round. The likelihood is log-concave, so that v is positive.
const (
	epRounds   = 8    // at most
	epChange   = 0.05 // of the natural parameters, relative to the others' prediction, in the last round
	epStep     = 0.8  // of the way to the new site, in its natural parameters
	epVariance = 1e6  // of a site without information
	gpTurns    = 2    // of sites and parameters, which depend on each other
)

// censor makes row i a site whose only information is that it is above y[i].
func (m *marginal) censor(d assay.Data) {
	for i, c := range d.Censored {
		if c {
			if m.site == nil {
				m.site, m.least = make([]float64, len(m.y)), make([]float64, len(m.y))
			}
			m.site[i], m.least[i] = epVariance, m.y[i]
		}
	}
}

// exact marks the rows that are not censored; nil if no row is censored.
func (m *marginal) exact() []bool {
	if m.site == nil {
		return nil
	}
	out := make([]bool, len(m.site))
	for i, v := range m.site {
		out[i] = v == 0
	}
	return out
}

// learn returns the parameters that maximize the negative of loss.
func (m *marginal) learn(theta []float64, evaluations int) []float64 {
	if m.site == nil {
		theta, _ = minimizeBFGS(m.loss, theta, evaluations)
		return theta
	}
	// At fixed sites the gradient is the gradient of the approximate likelihood.
	for range gpTurns {
		m.propagate(theta)
		theta, _ = minimizeBFGS(m.loss, theta, max(1, evaluations/gpTurns))
	}
	return theta
}

// propagate sets the sites of censored rows for the kernel's parameters, and m.k as covariance does with them. If the
// covariance is singular, the sites are unchanged.
func (m *marginal) propagate(theta []float64) {
	m.covariance(theta)
	if m.site == nil {
		return
	}
	n := len(m.y)
	noise := math.Exp(theta[m.d+1]) + gpLeastNoise
	for range epRounds {
		var chol mat.Cholesky
		var alpha mat.VecDense
		if !chol.Factorize(m.k) || chol.SolveVecTo(&alpha, mat.NewVecDense(n, m.y)) != nil {
			return
		}
		diagonal := inverseDiagonal(chol.RawU().(*mat.TriDense), n)
		var moved float64
		for i, v := range m.site {
			if v == 0 {
				continue
			}
			// The others' prediction of the site's outcome, less the site's variance.
			q := diagonal[i]
			mean, variance := m.y[i]-alpha.AtVec(i)/q, max(1/q-v, gpLeastNoise)
			all := noise + variance
			z := (mean - m.least[i]) / math.Sqrt(all)
			r := hazard(-z)
			g, h := r/math.Sqrt(all), r*(z+r)/all
			var precision, weight float64 // of the site, the latter times its outcome
			if h > 1/(epVariance+variance) {
				precision = 1 / max(1/h-variance, gpLeastNoise)
				weight = precision * (mean + g/h)
			}
			precision = (1-epStep)/v + epStep*precision
			weight = (1-epStep)*m.y[i]/v + epStep*weight
			if precision < 1/epVariance {
				m.site[i], m.y[i] = epVariance, m.least[i]
				continue
			}
			moved = max(moved, variance*math.Abs(precision-1/v), variance*math.Abs(weight-m.y[i]/v))
			m.site[i], m.y[i] = 1/precision, weight/precision
		}
		m.diagonal(theta)
		if moved < epChange {
			return
		}
	}
}

// inverseDiagonal returns the diagonal of (U'U)⁻¹ for an upper triangular U: the squared
// lengths of the rows of U⁻¹. Cost: n³/6.
func inverseDiagonal(u *mat.TriDense, n int) []float64 {
	out := make([]float64, n)
	raw := u.RawTriangular()
	column := make([]float64, n)
	for j := range n { // column j of U⁻¹, from the diagonal upwards
		column[j] = 1 / raw.Data[j*raw.Stride+j]
		for i := j - 1; i >= 0; i-- {
			row := raw.Data[i*raw.Stride : i*raw.Stride+j+1]
			var sum float64
			for k := i + 1; k <= j; k++ {
				sum += row[k] * column[k]
			}
			column[i] = -sum / row[i]
		}
		for i, v := range column[:j+1] {
			out[i] += v * v
		}
	}
	return out
}
