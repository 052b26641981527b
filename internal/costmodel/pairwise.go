package costmodel

import (
	"errors"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"gonum.org/v1/gonum/mat"
)

// Pairwise learns a linear function of transformed features and of products of two of them,
//
//	f(x) = c + Σ_j a_j·g_j(x_j) + Σ_(j,k) a_jk·g_j(x_j)·g_k(x_k),
//
// that minimizes the squared relative error plus a ridge penalty: the regression of NIMO (Shivam, Babu and Chase 2006,
// §4.1) with choices made from the data. Each g_j is identity, reciprocal or logarithm. Transformations, products and
// penalty have the least relative error in leave-one-out cross-validation. They are found greedily: transformations in
// turn, then the best product as long as it lowers the error by 2 %. If an outcome is not positive, the absolute error
// is minimized.
//
// Std is the deviation of a new outcome from the leave-one-out residuals: constant relative to the outcome, or
// absolute. It is NaN for one example.
//
// Cost: about d² + products·d² fits of n·p² operations, p <= n - 2 terms.
type Pairwise struct {
	// Lo and Hi are the range of each feature; nil means the range of the data. A feature with Lo <= 0 is not transformed.
	Lo, Hi []float64
}

var _ assay.Learner = Pairwise{}

// Fit implements [assay.Learner].
func (l Pairwise) Fit(d assay.Data) (assay.Predictor, error) {
	if err := model.CheckExact(d, 1); err != nil {
		return nil, err
	}
	p := &pairwise{surface: newSurface(Surface{Lo: l.Lo, Hi: l.Hi}, d), weight: make([]float64, len(d.Y))}
	p.relative = true
	for _, y := range d.Y {
		// Beyond these bounds the squares of weights or outcomes may leave the range of a float64.
		p.relative = p.relative && y > 1e-100 && y < 1e100
	}
	p.outcomes = make([]float64, len(d.Y))
	for i, y := range d.Y {
		p.weight[i], p.outcomes[i] = 1, p.surface.y[i]
		if p.relative {
			p.weight[i], p.outcomes[i] = p.least(d.Y)/y, y
		}
	}
	// A feature that is constant over the examples is indistinguishable from the constant term.
	for j := range p.d {
		for _, x := range d.X {
			if x[j] != d.X[0][j] {
				p.used = append(p.used, j)
				break
			}
		}
	}
	p.search()
	return p, nil
}

// pairwise is the fitted function. It uses only the scales of the features from surface.
type pairwise struct {
	*surface
	relative bool      // residuals count relative to their outcomes
	weight   []float64 // of each example's residual
	outcomes []float64 // as given if relative, else standardized
	// products are pairs of features j, k, and b is in the order of row.
	used     []int     // features that vary
	products [][2]int  // chosen pairs
	ridge    float64   // the chosen penalty
	b        []float64 // constant, features, products
	residual float64   // root mean square of the leave-one-out residuals, weighted
}

// least returns the least outcome. Weights are least/y, so that they are at most 1 and the
// ridge means the same for outcomes of any unit.
func (p *pairwise) least(y []float64) float64 {
	m := y[0]
	for _, v := range y {
		m = min(m, v)
	}
	return m
}

// ridges are the penalties tried, per unit of the features' variance of 1/12.
var ridges = [...]float64{1e-6, 1e-3, 1e-2, 1e-1}

// search chooses transformations, products and penalty, one after the other, each by the cross-validated error with the
// others fixed.
//
// Invariant: best is the error of the current choices. Two examples are reserved for the error: a form with as many
// terms as examples has no error.
func (p *pairwise) search() {
	p.ridge = 1e-3
	best := p.error()
	// The second sweep sees each feature with the transformations that the first has chosen for the others.
	for range 2 {
		for _, j := range p.used {
			if !p.allows(j, Logarithm) {
				continue
			}
			kept := p.warp[j]
			for _, t := range [...]Transform{Identity, Reciprocal, Logarithm} {
				p.warp[j] = t
				p.column(j)
				if e := p.error(); e < best*(1-1e-6) {
					best, kept = e, t
				}
			}
			p.warp[j] = kept
			p.column(j)
		}
	}
	// A product is kept if it lowers the error by 2 % at least: with d features there are
	// d·(d-1)/2 to choose from, and the best of many is a little better by chance.
	// The form so far has n - 2 terms at most here, and one product more leaves one example over.
	for len(p.used)+len(p.products)+3 <= p.n {
		at, least := [2]int{}, best*0.98
		for i, j := range p.used {
			for _, k := range p.used[:i] {
				if p.has(k, j) {
					continue
				}
				p.products = append(p.products, [2]int{k, j})
				if e := p.error(); e < least {
					at, least = [2]int{k, j}, e
				}
				p.products = p.products[:len(p.products)-1]
			}
		}
		if least == best*0.98 {
			break
		}
		p.products, best = append(p.products, at), least
	}
	kept := p.ridge
	for _, r := range ridges {
		if p.ridge = r; p.error() < best {
			best, kept = p.error(), r
		}
	}
	p.ridge = kept
	// error also sets b: this call sets it for the final choices.
	p.residual = p.error()
	if p.n < 2 {
		p.residual = math.NaN()
	}
}

// has reports whether the product of features j and k, j < k in the order of used, is in the
// form.
func (p *pairwise) has(j, k int) bool {
	for _, q := range p.products {
		if q == [2]int{j, k} {
			return true
		}
	}
	return false
}

// row appends the terms at z.
func (p *pairwise) row(out, z []float64) []float64 {
	out = append(out, 1)
	for _, j := range p.used {
		out = append(out, z[j])
	}
	for _, q := range p.products {
		out = append(out, z[q[0]]*z[q[1]])
	}
	return out
}

// error fits b and returns the root mean square of the weighted leave-one-out
// residuals, r_i/(1 - h_i) with h_i the leverage (Allen's PRESS).
func (p *pairwise) error() float64 {
	m := 1 + len(p.used) + len(p.products)
	rows := make([]float64, 0, p.n*m)
	gram := mat.NewSymDense(m, nil)
	right := mat.NewVecDense(m, nil)
	for i := range p.n {
		rows = p.row(rows, p.z[i*p.d:(i+1)*p.d])
		r := rows[i*m:]
		for j := range r {
			r[j] *= p.weight[i]
		}
		for j, v := range r {
			for k, w := range r[:j+1] {
				gram.SetSym(k, j, gram.At(k, j)+v*w)
			}
			right.SetVec(j, right.AtVec(j)+v*p.weight[i]*p.outcomes[i])
		}
	}
	for j := range m {
		// gram(0, 0) is the sum of the squared weights: with it the penalty grows as the examples do.
		// The constant goes nearly free.
		penalty := p.ridge * gram.At(0, 0) / 12
		if j == 0 {
			penalty = 1e-12 * gram.At(0, 0)
		}
		gram.SetSym(j, j, gram.At(j, j)+penalty+1e-300)
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return math.Inf(1)
	}
	b, u := mat.NewVecDense(m, nil), mat.NewVecDense(m, nil)
	solve := func(to *mat.VecDense, v mat.Vector) bool {
		// The condition number is an error of its own; the solution stands.
		var condition mat.Condition
		err := chol.SolveVecTo(to, v)
		return err == nil || errors.As(err, &condition)
	}
	if !solve(b, right) {
		return math.Inf(1)
	}
	p.b = b.RawVector().Data
	var sum float64
	for i := range p.n {
		r := rows[i*m : (i+1)*m]
		res := p.weight[i] * p.outcomes[i]
		for j, v := range r {
			res -= v * p.b[j]
		}
		row := mat.NewVecDense(m, r)
		if !solve(u, row) {
			return math.Inf(1)
		}
		res /= max(1-mat.Dot(row, u), 1e-3)
		sum += res * res
	}
	return math.Sqrt(sum / float64(p.n))
}

// Predict implements [assay.Predictor].
func (p *pairwise) Predict(x []float64) assay.Prediction {
	var y float64
	for j, v := range p.row(nil, p.places(x)) {
		y += v * p.b[j]
	}
	bound := func(x float64) float64 { return min(max(x, -math.MaxFloat64), math.MaxFloat64) }
	if !p.relative {
		return assay.Prediction{Mean: bound(p.mean + p.scale*y), Std: bound(p.residual * p.scale)}
	}
	// A weight is least/y, so a residual is relative, times the least outcome.
	least := p.weight[0] * p.outcomes[0]
	return assay.Prediction{Mean: bound(y), Std: bound(p.residual / least * math.Abs(y))}
}
