package model

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
)

// An Interpolant is a way to fill the gaps between examples.
type Interpolant uint8

const (
	Multilinear   Interpolant = iota // piecewise linear in each feature; reproduces multilinear functions
	Cubic                            // cubic convolution (Keys 1981), Catmull and Rom's spline; reproduces quadratics
	Spline                           // cubic spline with not-a-knot ends (de Boor 1978); reproduces cubics
	NaturalSpline                    // cubic spline with second derivative 0 at both ends
)

// String returns the name.
func (k Interpolant) String() string {
	if names := [...]string{"multilinear", "cubic", "spline", "natural spline"}; int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Interpolant(%d)", uint8(k))
}

// Interpolate passes through every example, which suits outcomes without noise: the interpolations of JobPruner's
// surrogate (Silva et al. 2018, §3.3). The outcomes of examples with equal features are averaged first.
//
// If the features form a full grid, every combination of the values of each feature, the interpolant is the tensor
// product of interpolants in one feature. Adjacent columns of which exactly one is 1 and the others are 0 in every
// example, as [assay.Space.Encode] makes them for a category, are one axis of the grid without order. On an axis with
// fewer values than the interpolant needs, its order is reduced: three values make a parabola, two a line, one a
// constant.
//
// All other examples are scattered, and are interpolated by radial functions with a linear trend,
//
//	f(x) = b_0 + Σ_j b_j·x_j + Σ_i c_i·φ(|x - x_i|),  Σ_i c_i·p(x_i) = 0 for all linear p,
//
// with features scaled to their range, φ(r) = -r for Multilinear and r³ for the others (Powell 1992; Gutmann 2001, §2),
// which reproduces linear functions. With more than MaxExamples scattered points, a random MaxExamples of them are
// used.
//
// Outside the range of the examples the prediction is the value at the nearest point of their bounding box. Std is NaN.
// Fit needs one example. A fit on a grid costs n·log n and n_j² for an axis of n_j values, a prediction at most n;
// scattered points cost n³ and n·d.
type Interpolate struct {
	By          Interpolant // the kind of surface
	MaxExamples int         // scattered; 0 means 500
	Seed        uint64      // draws the examples if there are more than MaxExamples
}

var _ assay.Learner = Interpolate{}

// Fit implements [assay.Learner]. It panics if an option is out of range.
func (l Interpolate) Fit(d assay.Data) (assay.Predictor, error) {
	if l.By > NaturalSpline || l.MaxExamples < 0 {
		panic(fmt.Sprintf("model: interpolation options out of range: %+v", l))
	}
	if err := CheckExact(d, 1); err != nil {
		return nil, err
	}
	s := newScaler(d.X)
	u, offset, half := centre(d.Y)
	x, u := distinctRows(s, d.X, u)
	p := &interpolated{scaler: s, offset: offset, half: half}
	p.lo, p.hi = extent(x)
	if g := newGrid(x, u, l.By); g != nil {
		p.surface = g
		return p, nil
	}
	if most := cmp.Or(l.MaxExamples, 500); len(u) > most {
		rows := rand.New(rand.NewPCG(l.Seed, 0)).Perm(len(u))[:most]
		slices.Sort(rows)
		for i, r := range rows { // rows[i] >= i: nothing is overwritten that is still needed
			x[i], u[i] = x[r], u[r]
		}
		x, u = x[:most], u[:most]
	}
	r, err := newRadial(x, u, l.By)
	if err != nil {
		return nil, err
	}
	p.surface = r
	return p, nil
}

// A surface is a function through points. It keeps nothing of x.
type surface interface{ at(x []float64) float64 }

// interpolated is a fitted Interpolate.
type interpolated struct {
	scaler       scaler    // of the features
	lo, hi       []float64 // the bounding box, scaled
	offset, half float64   // an outcome is offset + half·u
	surface      surface   // predicts u at scaled features
}

// Predict implements [assay.Predictor].
func (p *interpolated) Predict(x []float64) assay.Prediction {
	if len(x) != len(p.lo) {
		panic("model: slice length mismatch")
	}
	z := make([]float64, len(x))
	p.scaler.scale(z, x)
	for j := range z {
		z[j] = min(max(z[j], p.lo[j]), p.hi[j])
	}
	return assay.Prediction{Mean: bound(p.offset + p.half*p.surface.at(z)), Std: math.NaN()}
}

// extent returns the least and the greatest value of each column.
func extent(x [][]float64) (lo, hi []float64) {
	lo, hi = slices.Clone(x[0]), slices.Clone(x[0])
	for _, r := range x {
		for j, v := range r {
			lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
		}
	}
	return lo, hi
}

// distinctRows returns the scaled rows in lexical order, each once, with the mean of their outcomes.
func distinctRows(s scaler, X [][]float64, u []float64) (x [][]float64, y []float64) {
	n, d := len(X), len(X[0])
	all := make([]float64, n*d)
	rows, order := make([][]float64, n), make([]int, n)
	for i := range X {
		rows[i], order[i] = all[i*d:(i+1)*d], i
		s.scale(rows[i], X[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(rows[a], rows[b]) })
	for i := 0; i < n; {
		sum, k := 0.0, i
		for ; k < n && slices.Equal(rows[order[k]], rows[order[i]]); k++ {
			sum += u[order[k]]
		}
		x, y = append(x, rows[order[i]]), append(y, sum/float64(k-i))
		i = k
	}
	return x, y
}
