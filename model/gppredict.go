package model

import (
	"math"

	"github.com/assay-run/assay"
)

// gpPosterior predicts mean k'α and variance s² - |L⁻¹k|² with k the covariances of x
// with the data (Rasmussen and Williams, algorithm 2.1).
type gpPosterior struct {
	*Posterior
	scaler   scaler    // of the features
	mean, sd float64   // of the outcomes
	d        int       // features
	u        []float64 // n rows of d
	w        []float64 // 1/ℓ²
	signal   float64   // s²
	theta    []float64 // the kernel's parameters
	exact    []bool    // which examples are not censored; nil if all are
}

var _ assay.BatchPredictor = (*gpPosterior)(nil)

// Predict implements assay.Predictor.
func (p *gpPosterior) Predict(x []float64) assay.Prediction {
	var out [1]assay.Prediction
	p.PredictBatch([][]float64{x}, out[:])
	return out[0]
}

// PredictBatch implements assay.BatchPredictor. Four rows share each pass over L.
func (p *gpPosterior) PredictBatch(X [][]float64, out []assay.Prediction) {
	if len(X) != len(out) {
		panic("model: slice length mismatch")
	}
	n := len(p.alpha)
	u := make([]float64, p.d)
	k := make([][lanes]float64, n)
	for at := 0; at < len(X); at += lanes {
		rows := X[at:min(at+lanes, len(X))]
		var mean [lanes]float64
		for lane, x := range rows {
			p.scaler.scale(u, x)
			for i := range n {
				c, _ := matern(scaledDistance2(p.u[i*p.d:(i+1)*p.d], u, p.w))
				k[i][lane] = p.signal * c
				mean[lane] += k[i][lane] * p.alpha[i]
			}
		}
		known := p.solve(k)
		for lane := range rows {
			out[at+lane] = assay.Prediction{
				Mean: p.mean + p.sd*mean[lane],
				Std:  p.sd * math.Sqrt(max(p.signal-known[lane], 0)),
			}
		}
	}
}

// solve replaces each column v of k by L⁻¹v and returns their squared lengths.
func (p *gpPosterior) solve(k [][lanes]float64) (squares [lanes]float64) {
	n := len(k)
	for i := range n {
		row := p.lower[i*n : i*n+i+1]
		s0, s1, s2, s3 := k[i][0], k[i][1], k[i][2], k[i][3]
		for j, l := range row[:i] {
			v := &k[j]
			s0 -= l * v[0]
			s1 -= l * v[1]
			s2 -= l * v[2]
			s3 -= l * v[3]
		}
		for lane, s := range [lanes]float64{s0, s1, s2, s3} {
			s /= row[i]
			k[i][lane] = s
			squares[lane] += s * s
		}
	}
	return squares
}
