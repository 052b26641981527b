package model

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
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
	u, ok := factor(len(y), covariance)
	if !ok {
		return nil, errSingular
	}
	return newPosterior(u, y), nil
}

// LogEvidence returns the logarithm of the marginal likelihood of a [NewPosterior], less the constant n/2·log 2π: -½
// y·α - ½ log|K| (eq. 5.8). It is -Inf where the covariances are not positive definite.
func LogEvidence(y []float64, covariance func(i, j int) float64) float64 {
	u, ok := factor(len(y), covariance)
	if !ok {
		return math.Inf(-1)
	}
	_, evidence := weights(u, y)
	return evidence
}

// factor returns the upper Cholesky factor L' of the covariance of n outcomes, or false if that is not positive
// definite. [mat.Cholesky] has the same numbers. It estimates the condition too, which takes as long as all else with
// few outcomes, and which a process does not use.
func factor(n int, covariance func(i, j int) float64) (blas64.Triangular, bool) {
	k := blas64.Symmetric{N: n, Stride: max(1, n), Data: make([]float64, n*n), Uplo: blas.Upper}
	for i := range n {
		for j := range i + 1 {
			k.Data[j*n+i] = covariance(i, j)
		}
	}
	return lapack64.Potrf(k)
}

// column returns a vector as a matrix of one column, which shares its numbers.
func column(x []float64) blas64.General {
	return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

// weights returns α = K⁻¹y and the logarithm of the evidence.
func weights(u blas64.Triangular, y []float64) (alpha []float64, evidence float64) {
	alpha = slices.Clone(y)
	lapack64.Potrs(u, column(alpha))
	var det float64 // logarithm of the determinant of K
	for i := range u.N {
		det += 2 * math.Log(u.Data[i*u.Stride+i])
	}
	n := len(y)
	return alpha, -mat.Dot(mat.NewVecDense(n, y), mat.NewVecDense(n, alpha))/2 - det/2
}

func newPosterior(u blas64.Triangular, y []float64) *Posterior {
	n := len(y)
	p := &Posterior{lower: make([]float64, n*n)}
	p.alpha, p.evidence = weights(u, y)
	for i := range n {
		for j := range i + 1 {
			p.lower[i*n+j] = u.Data[j*u.Stride+i]
		}
	}
	return p
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
	shift := make([]float64, m)
	for a, i := range group {
		columns[a] = make([]float64, n)
		columns[a][i] = 1
		p.Whiten(columns[a])
		shift[a] = p.alpha[i]
	}
	above, variance = make([]float64, m), make([]float64, m)
	u, ok := factor(m, func(i, j int) float64 {
		return mat.Dot(mat.NewVecDense(n, columns[i]), mat.NewVecDense(n, columns[j]))
	})
	if ok {
		lapack64.Potrs(u, column(shift))
		_, ok = lapack64.Potri(u)
	}
	for a := range group {
		above[a], variance[a] = math.NaN(), math.NaN()
		if ok {
			above[a], variance[a] = shift[a], u.Data[a*u.Stride+a]
		}
	}
	return above, variance
}
