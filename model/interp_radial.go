package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// radial is a function through scattered points: a linear trend plus radial
// functions that have none; see [Interpolate].
type radial struct {
	x      [][]float64 // the points, scaled
	c      []float64   // of the radial functions
	trend  []float64   // b_0, b_1, ...
	linear bool        // φ(r) = -r, else r³
}

func (p *radial) phi(r2 float64) float64 {
	r := math.Sqrt(r2)
	if p.linear {
		return -r
	}
	return r * r2
}

// at implements surface.
func (p *radial) at(x []float64) float64 {
	sum := p.trend[0]
	for j, v := range x {
		sum += p.trend[j+1] * v
	}
	for i, r := range p.x {
		if p.c[i] != 0 {
			sum += p.c[i] * p.phi(distance2(x, r))
		}
	}
	return sum
}

// newRadial returns the function through the outcomes u at rows that are all different.
//
// With P the rows (1, x_i) and Z an orthonormal basis of the orthogonal complement of its columns, c = Z·(Zᵀ Φ Z)⁻¹·Zᵀ
// u: the matrix is positive definite for both φ, even if P does not have full rank (Wendland, "Scattered data
// approximation", 2005, thm. 8.12 and corollary 8.17). The trend is then the solution of P·b = u - Φ·c of least norm.
func newRadial(x [][]float64, u []float64, by Interpolant) (*radial, error) {
	n, d := len(x), len(x[0])
	f := &radial{linear: by == Multilinear, c: make([]float64, n)}
	for _, r := range x {
		f.x = append(f.x, slices.Clone(r))
	}
	p := mat.NewDense(n, d+1, nil)
	for i, r := range x {
		p.Set(i, 0, 1)
		for j, v := range r {
			p.Set(i, j+1, v)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(p, mat.SVDFullU|mat.SVDThinV) {
		return nil, errSingular
	}
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	s := svd.Values(nil)
	rank := 0
	for rank < len(s) && s[rank] > 1e-10*s[0] {
		rank++
	}
	phi := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			phi.SetSym(i, j, f.phi(distance2(x[i], x[j])))
		}
	}
	y := mat.NewVecDense(n, slices.Clone(u))
	rest := mat.NewVecDense(n, slices.Clone(u))
	if rank < n {
		z := left.Slice(0, n, rank, n)
		c, err := solveWithin(z, phi, y)
		if err != nil {
			return nil, err
		}
		copy(f.c, c.RawVector().Data)
		var bent mat.VecDense
		bent.MulVec(phi, c)
		rest.SubVec(y, &bent)
	}
	f.trend = make([]float64, d+1)
	for k := range rank {
		a := mat.Dot(left.ColView(k), rest) / s[k]
		for j := range f.trend {
			f.trend[j] += a * right.At(j, k)
		}
	}
	return f, nil
}

// solveWithin returns Z·(Zᵀ Φ Z)⁻¹·Zᵀ y, with a little added to the diagonal if
// rows are so close that the matrix is not positive definite in floating point.
func solveWithin(z mat.Matrix, phi *mat.SymDense, y *mat.VecDense) (*mat.VecDense, error) {
	_, m := z.Dims()
	var phiZ, inner mat.Dense
	phiZ.Mul(phi, z)
	inner.Mul(z.T(), &phiZ)
	sym := mat.NewSymDense(m, nil)
	most := 0.0
	for i := range m {
		for j := i; j < m; j++ {
			sym.SetSym(i, j, (inner.At(i, j)+inner.At(j, i))/2)
		}
		most = max(most, math.Abs(sym.At(i, i)))
	}
	var right, gamma mat.VecDense
	right.MulVec(z.T(), y)
	for jitter := 0.0; jitter <= 1e-4; jitter = max(10*jitter, 1e-14) {
		k := mat.NewSymDense(m, nil)
		k.CopySym(sym)
		for i := range m {
			k.SetSym(i, i, k.At(i, i)+jitter*most)
		}
		var chol mat.Cholesky
		if !chol.Factorize(k) {
			continue
		}
		if err := chol.SolveVecTo(&gamma, &right); err != nil && jitter == 0 {
			continue // badly conditioned
		}
		c := mat.NewVecDense(phi.SymmetricDim(), nil)
		c.MulVec(z, &gamma)
		return c, nil
	}
	return nil, errSingular
}
