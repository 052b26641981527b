package model

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Posterior is a Gaussian process after n outcomes, for any kernel and mean function: the Cholesky factor L of their
// covariance K, and α = K⁻¹y (Rasmussen and Williams, "Gaussian processes for machine learning", 2006, algorithm 2.1).
// It is immutable and safe for concurrent use. [GP] chooses a kernel for any data; callers with a kernel of their own
// use NewPosterior.
type Posterior struct {
	lower    []float64 // L, n rows of n
	alpha    []float64 // α
	evidence float64   // logarithm of the marginal likelihood
}

// Matern52 returns the Matérn-5/2 kernel of variance 1 at the squared distance r2,
// (1 + √5·r + 5r²/3)·exp(-√5·r) (eq. 4.17).
func Matern52(r2 float64) float64 {
	k, _ := matern(r2)
	return k
}

// errSingular is returned for a matrix that stays singular with any jitter.
var errSingular = errors.New("the covariance matrix is not positive definite")

// NewPosterior returns the process of the outcomes y, each less its prior mean. covariance returns the covariance of
// y[i] and y[j], j <= i, noise included. It is an error if the covariances are not positive definite. Cost: n³/3.
func NewPosterior(y []float64, covariance func(i, j int) float64) (*Posterior, error) {
	chol, err := factor(len(y), covariance)
	if err != nil {
		return nil, err
	}
	return newPosterior(chol, y)
}

// LogEvidence returns the logarithm of the marginal likelihood of a [NewPosterior], less the constant n/2·log 2π: -½
// y·α - ½ log|K| (eq. 5.8). It is -Inf where the covariances are not positive definite.
func LogEvidence(y []float64, covariance func(i, j int) float64) float64 {
	chol, err := factor(len(y), covariance)
	if err != nil {
		return math.Inf(-1)
	}
	_, evidence, err := weights(chol, y)
	if err != nil {
		return math.Inf(-1)
	}
	return evidence
}

// factor returns the Cholesky factorization of n outcomes.
func factor(n int, covariance func(i, j int) float64) (*mat.Cholesky, error) {
	k := mat.NewSymDense(n, nil)
	raw := k.RawSymmetric()
	for i := range n {
		for j := range i + 1 {
			raw.Data[j*raw.Stride+i] = covariance(i, j)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return nil, errSingular
	}
	return &chol, nil
}

// weights returns α = K⁻¹y and the logarithm of the evidence.
func weights(chol *mat.Cholesky, y []float64) (alpha []float64, evidence float64, err error) {
	var a mat.VecDense
	v := mat.NewVecDense(len(y), y)
	// The condition number is an error of its own; the solution stands.
	var condition mat.Condition
	if err := chol.SolveVecTo(&a, v); err != nil && !errors.As(err, &condition) {
		return nil, 0, fmt.Errorf("%w", err)
	}
	return a.RawVector().Data, -mat.Dot(v, &a)/2 - chol.LogDet()/2, nil
}

func newPosterior(chol *mat.Cholesky, y []float64) (*Posterior, error) {
	alpha, evidence, err := weights(chol, y)
	if err != nil {
		return nil, err
	}
	n := len(y)
	p := &Posterior{lower: make([]float64, n*n), alpha: alpha, evidence: evidence}
	var l mat.TriDense
	chol.LTo(&l)
	for i := range n {
		for j := range i + 1 {
			p.lower[i*n+j] = l.At(i, j)
		}
	}
	return p, nil
}

// LogEvidence is [LogEvidence] of the process.
func (p *Posterior) LogEvidence() float64 { return p.evidence }

// Mean returns k'α, the posterior mean, less the prior mean, where the covariances with the outcomes are k.
func (p *Posterior) Mean(k []float64) float64 {
	var mean float64
	for i, a := range p.alpha {
		mean += k[i] * a
	}
	return mean
}

// Whiten replaces k by L⁻¹k. With v and w such vectors of two points, the process knows v·w of their prior covariance:
// the posterior variance at a point is its prior one less v·v. Cost: n²/2.
func (p *Posterior) Whiten(k []float64) {
	n := len(p.alpha)
	for i, s := range k {
		row := p.lower[i*n : i*n+i+1]
		for j, l := range row[:i] {
			s -= l * k[j]
		}
		k[i] = s / row[i]
	}
}

// LeaveOut returns for each outcome of a group by how much it is above its posterior mean without the group, and the
// variance of that (Rasmussen and Williams, eq. 5.12, for a block G of K⁻¹):
//
//	y_G - mean_G = ([K⁻¹]_GG)⁻¹·[K⁻¹y]_G,  variance_i = (([K⁻¹]_GG)⁻¹)_ii.
//
// They are NaN where the block is not positive definite. Cost: n²/2 for each of a small group.
func (p *Posterior) LeaveOut(group []int) (above, variance []float64) {
	m, n := len(group), len(p.alpha)
	columns := make([][]float64, m) // of L⁻¹
	shift := mat.NewVecDense(m, nil)
	for a, i := range group {
		columns[a] = make([]float64, n)
		columns[a][i] = 1
		p.Whiten(columns[a])
		shift.SetVec(a, p.alpha[i])
	}
	above, variance = make([]float64, m), make([]float64, m)
	chol, err := factor(m, func(i, j int) float64 {
		return mat.Dot(mat.NewVecDense(n, columns[i]), mat.NewVecDense(n, columns[j]))
	})
	var solved mat.VecDense
	inverse := mat.NewSymDense(m, nil)
	if err == nil {
		// The condition number is an error of its own; the solutions stand.
		var condition mat.Condition
		if err = chol.SolveVecTo(&solved, shift); err == nil || errors.As(err, &condition) {
			if err = chol.InverseTo(inverse); errors.As(err, &condition) {
				err = nil
			}
		}
	}
	for a := range group {
		above[a], variance[a] = math.NaN(), math.NaN()
		if err == nil {
			above[a], variance[a] = solved.AtVec(a), inverse.At(a, a)
		}
	}
	return above, variance
}
