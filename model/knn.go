package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

const nearest = 5 // scikit-learn's default; Silva et al. give none

// KNN predicts the mean of the K nearest examples by Euclidean distance with equal weights, like JobPruner's surrogate
// (Silva et al. 2018, §3.3). Ties go to the earlier example; with fewer than K examples all are neighbours. Features
// are not scaled: the features of a Space share the unit cube.
//
// Std is the sample standard deviation of the neighbours' outcomes, NaN for one neighbour. Fit needs one example. Cost
// of a prediction: n·d.
type KNN struct{ K int } // 0 means 5

var _ assay.Learner = KNN{}

// Fit implements [assay.Learner]. It panics if K is negative.
func (k KNN) Fit(d assay.Data) (assay.Predictor, error) {
	if err := CheckExact(d, 1); err != nil {
		return nil, err
	}
	if k.K < 0 {
		panic("model: negative number of neighbours")
	}
	p := &knn{k: min(cmp.Or(k.K, nearest), len(d.Y)), dim: len(d.X[0])}
	p.x = slices.Concat(d.X...)
	p.u, p.offset, p.half = centre(d.Y)
	return p, nil
}

type knn struct {
	k, dim       int       // neighbours and features
	x            []float64 // n rows of dim features
	u            []float64 // an outcome is offset + half·u
	offset, half float64   // of the scale of u
}

// A neighbour is an example with its squared distance d2 and its scaled outcome u.
type neighbour struct{ d2, u float64 }

// Predict implements [assay.Predictor].
func (p *knn) Predict(x []float64) assay.Prediction {
	if len(x) != p.dim {
		panic("model: slice length mismatch")
	}
	// Invariant: near holds the nearest of the examples seen, in order.
	near := make([]neighbour, 0, p.k+1)
	for i, u := range p.u {
		d2 := distance2(x, p.x[i*p.dim:(i+1)*p.dim])
		if len(near) == p.k && !(d2 < near[p.k-1].d2) {
			continue
		}
		at := len(near)
		for at > 0 && d2 < near[at-1].d2 {
			at--
		}
		near = slices.Insert(near, at, neighbour{d2, u})[:min(len(near)+1, p.k)]
	}
	var mean, squares float64
	for _, n := range near {
		mean += n.u / float64(p.k)
	}
	for _, n := range near {
		squares += (n.u - mean) * (n.u - mean)
	}
	std := math.NaN()
	if p.k > 1 {
		std = p.half * math.Sqrt(squares/float64(p.k-1))
	}
	return assay.Prediction{Mean: p.offset + p.half*mean, Std: std}
}

func distance2(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}
