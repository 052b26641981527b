package workereffect

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// An entry is a number of a row of the design that is not 0.
type entry struct {
	column int
	x      float64
}

// entries are the entries of a row, by columns.
type entries []entry

// equations are a symmetric positive definite system, and room for its solution: it is solved anew in each
// round of a fit.
type equations struct {
	n       int
	a       []float64 // n×n, of which the upper triangle counts
	b       []float64
	theta   []float64 // the solution
	inverse []float64 // of a, the upper triangle
}

func newEquations(n int) *equations {
	return &equations{n, make([]float64, n*n), make([]float64, n), make([]float64, n), make([]float64, n*n)}
}

// add adds the product of a row with itself, and with y.
func (q *equations) add(row entries, y, weight float64) {
	for i, e := range row {
		w := weight * e.x
		q.b[e.column] += w * y
		to := q.a[e.column*q.n:]
		for _, o := range row[i:] {
			to[o.column] += w * o.x
		}
	}
}

// solve sets the solution and the inverse. It returns false if the equations are singular, or too nearly singular by
// the criterion of [mat.Cholesky].
//
// The steps equal mat.Cholesky's, to the last bit, except for its estimate of the condition, which takes as long
// as all other steps. The inverse is known here, and with it the condition itself, which is never less than the
// estimate.
func (q *equations) solve() bool {
	copy(q.inverse, q.a)
	t, ok := lapack64.Potrf(blas64.Symmetric{N: q.n, Stride: q.n, Data: q.inverse, Uplo: blas.Upper})
	if !ok {
		return false
	}
	copy(q.theta, q.b)
	lapack64.Potrs(t, blas64.General{Rows: q.n, Cols: 1, Stride: 1, Data: q.theta})
	if _, ok := lapack64.Potri(t); !ok {
		return false
	}
	if condition := q.norm(q.a) * q.norm(q.inverse); condition <= mat.ConditionTolerance {
		return true
	}
	var c mat.Cholesky
	return c.Factorize(mat.NewSymDense(q.n, q.a)) && c.Cond() <= mat.ConditionTolerance
}

// norm returns the greatest sum of a column of an upper triangle, which stands for a symmetric matrix. It
// takes the place of b, which is used up.
func (q *equations) norm(a []float64) (most float64) {
	sums := q.b
	clear(sums)
	for j := range q.n {
		row := a[j*q.n : (j+1)*q.n]
		sums[j] += math.Abs(row[j])
		for k := j + 1; k < q.n; k++ {
			x := math.Abs(row[k])
			sums[j] += x
			sums[k] += x
		}
	}
	for _, s := range sums {
		most = max(most, s)
	}
	return most
}

// variance returns a number of the diagonal of the inverse.
func (q *equations) variance(j int) float64 { return q.inverse[j*q.n+j] }
