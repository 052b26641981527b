package model

import (
	"math"

	"github.com/assay-run/assay"
)

// Shepard predicts the mean of all examples, each weighing the inverse of its squared distance
// (Shepard 1968, equation 3, with exponent 2). It passes through the examples, and needs no
// parameter. Examples at the point itself are all that counts there.
//
// Std is NaN. Fit needs one example. Cost of a prediction: n·d.
type Shepard struct{}

var _ assay.Learner = Shepard{}

// Fit implements [assay.Learner].
func (Shepard) Fit(d assay.Data) (assay.Predictor, error) {
	if err := CheckExact(d, 1); err != nil {
		return nil, err
	}
	p := &shepard{x: make([][]float64, len(d.X))}
	for i, row := range d.X {
		p.x[i] = append([]float64(nil), row...)
	}
	p.u, p.offset, p.half = centre(d.Y)
	return p, nil
}

type shepard struct {
	x            [][]float64
	u            []float64 // an outcome is offset + half·u
	offset, half float64
}

// Predict implements [assay.Predictor].
func (p *shepard) Predict(x []float64) assay.Prediction {
	if len(x) != len(p.x[0]) {
		panic("model: slice length mismatch")
	}
	nearest := math.Inf(1)
	for _, row := range p.x {
		nearest = min(nearest, distance2(x, row))
	}
	var sum, weights float64
	for i, row := range p.x {
		w := 1.0 // relative to that of the nearest
		if d := distance2(x, row); d > nearest {
			w = nearest / d
		}
		sum += w * p.u[i]
		weights += w
	}
	return assay.Prediction{Mean: p.offset + p.half*(sum/weights), Std: math.NaN()}
}
