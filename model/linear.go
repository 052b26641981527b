package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/assay-run/assay"
)

// Linear learns a linear function with an intercept by least squares, or by ridge regression (Hoerl and Kennard 1970)
// if Ridge > 0: with the features scaled to mean 0 and variance 1, it minimizes
//
//	Σ_i (y_i - b0 - b·x_i)² + n·Ridge·|b|².
//
// If this leaves b undetermined (Ridge is 0, and features depend on each other linearly or are more than the examples),
// b is the shortest solution. So Fit needs one example, and the prediction does not depend on the unit of a feature.
//
// Std is the standard deviation of a new outcome, with the residual variance s² and the leverage of x; D holds the
// singular values of the scaled features F and V their directions:
//
//	s²·(1 + 1/n + Σ_k (V_k·x)² / (D_k² + n·Ridge)),
//	s² = Σ_i residual_i² / (n - 1 - Σ_k D_k²/(D_k² + n·Ridge)).
//
// It is NaN if no degree of freedom is left for the residuals. It ignores directions in which the examples do not
// differ.
//
// Cost: Fit n·d·min(n, d), a prediction d², of d features.
type Linear struct{ Ridge float64 }

var _ assay.Learner = Linear{}

// singular is the least singular value, relative to the greatest, that is distinguished from 0, per row or column; as
// in numpy's matrix_rank.
const singular = 0x1p-52

// Fit implements [assay.Learner]. It panics if Ridge is negative or NaN.
func (l Linear) Fit(d assay.Data) (assay.Predictor, error) {
	if err := CheckExact(d, 1); err != nil {
		return nil, err
	}
	if !(l.Ridge >= 0) {
		panic(fmt.Sprintf("model: ridge %v is negative", l.Ridge))
	}
	n := len(d.Y)
	p := &linear{dim: len(d.X[0])}
	var u []float64
	u, p.offset, p.half = centre(d.Y)
	p.mean = mean(u)
	p.scale(d.X)
	p.std, p.noise = math.NaN(), 1/float64(n)
	freedom := float64(n - 1)
	if len(p.features) > 0 {
		scaled := mat.NewDense(n, len(p.features), nil)
		for i, x := range d.X {
			p.scaled(x, scaled.RawRowView(i))
		}
		used, err := p.solve(scaled, u, l.Ridge*float64(n))
		if err != nil {
			return nil, err
		}
		freedom -= used
	}
	if freedom > 1e-9*float64(n) {
		var rss float64
		row := make([]float64, len(p.features))
		for i, x := range d.X {
			r := u[i] - p.at(x, row)
			rss += r * r
		}
		p.std = math.Sqrt(rss / freedom)
	}
	return p, nil
}

// linear is the function offset + half·(mean + Σ_k b_k · scaled feature k).
type linear struct {
	dim          int        // features of a row, constant ones included
	offset, half float64    // of the scale of the outcomes
	mean         float64    // of the scaled outcomes
	features     []scaling  // those that are not constant
	b            []float64  // by scaled feature
	directions   *mat.Dense // column k is V_k / sqrt(D_k² + n·Ridge)
	std          float64    // s/half
	noise        float64    // 1/n
}

// A scaling maps a feature to ((x-offset)/half - mean) / std.
type scaling struct {
	feature                 int // index in a row
	offset, half, mean, std float64
}

// scale sets the scalings of the features that are not constant.
func (p *linear) scale(X [][]float64) {
	column := make([]float64, len(X))
	for f := range p.dim {
		for i, x := range X {
			column[i] = x[f]
		}
		u, offset, half := centre(column)
		if half == 0 {
			continue
		}
		s := scaling{feature: f, offset: offset, half: half, mean: mean(u)}
		for _, v := range u {
			s.std += (v - s.mean) * (v - s.mean) / float64(len(u))
		}
		s.std = math.Sqrt(s.std)
		p.features = append(p.features, s)
	}
}

// scaled sets row to the scaled features of x.
func (p *linear) scaled(x, row []float64) {
	for k, s := range p.features {
		row[k] = ((x[s.feature]-s.offset)/s.half - s.mean) / s.std
	}
}

// solve sets b and directions, and returns the degrees of freedom that they use.
func (p *linear) solve(x *mat.Dense, u []float64, penalty float64) (used float64, err error) {
	n, d := x.Dims()
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		return 0, fmt.Errorf("no singular values of %d x %d features: %w", n, d, assay.ErrBadData)
	}
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	values := svd.Values(nil)
	p.b = make([]float64, d)
	p.directions = mat.NewDense(d, len(values), nil)
	least := values[0] * float64(max(n, d)) * singular
	for k, v := range values {
		if v <= least {
			continue
		}
		var dot float64
		for i := range n {
			dot += left.At(i, k) * (u[i] - p.mean)
		}
		weight := v*v + penalty
		used += v * v / weight
		for j := range d {
			p.b[j] += right.At(j, k) * dot * v / weight
			p.directions.Set(j, k, right.At(j, k)/math.Sqrt(weight))
		}
	}
	return used, nil
}

// at returns the function at x in [-1, 1]; it sets row to the scaled features.
func (p *linear) at(x, row []float64) float64 {
	p.scaled(x, row)
	y := p.mean
	for k, v := range row {
		y += p.b[k] * v
	}
	return y
}

// Predict implements [assay.Predictor].
func (p *linear) Predict(x []float64) assay.Prediction {
	if len(x) != p.dim {
		panic("model: slice length mismatch")
	}
	var buf [32]float64
	row := append(buf[:0], make([]float64, len(p.features))...)
	y := p.at(x, row)
	leverage := p.noise
	if len(row) > 0 {
		_, rank := p.directions.Dims()
		for k := range rank {
			var dot float64
			for j, v := range row {
				dot += v * p.directions.At(j, k)
			}
			leverage += dot * dot
		}
	}
	return assay.Prediction{
		Mean: bound(p.offset + p.half*y),
		Std:  min(p.half*p.std*math.Sqrt(1+leverage), math.MaxFloat64),
	}
}

// mean returns the arithmetic mean of x, which is not empty.
func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
