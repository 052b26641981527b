package model

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
)

func TestLog(t *testing.T) {
	var fits [][]float64
	d := assay.Data{X: [][]float64{{1}, {2}}, Y: []float64{1, math.E * math.E}}
	p := mustFit(t, Log(recorder{0.5, &fits}), d)
	if fits[0][0] != 0 || !near(fits[0][1], 2, 1e-15) {
		t.Errorf("fitted to %v, want 0 and 2", fits[0])
	}
	got := p.Predict(d.X[0])
	if want := math.Exp(1 + 0.125); !near(got.Mean, want, 1e-12) {
		t.Errorf("mean: got %v, want %v", got.Mean, want)
	}
	if want := math.Exp(1.125) * math.Sqrt(math.Exp(0.25)-1); !near(got.Std, want, 1e-12) {
		t.Errorf("std: got %v, want %v", got.Std, want)
	}
	if q := p.(Logarithmic).Log().Predict(d.X[0]); q.Mean != 1 || q.Std != 0.5 {
		t.Errorf("the logarithm: got %+v, want 1 ± 0.5", q)
	}
	d.Y[0] = 0
	p = mustFit(t, Log(recorder{0.5, &fits}), d)
	if _, ok := p.(Logarithmic); ok || fits[1][0] != 0 || fits[1][1] != d.Y[1] {
		t.Errorf("an outcome of 0: fitted to %v as logarithms (%v)", fits[1], ok)
	}
}

func TestLogNormal(t *testing.T) {
	const big = math.MaxFloat64
	nan := math.NaN()
	for _, c := range []struct {
		name    string
		q, want assay.Prediction
	}{
		{"certain", assay.Prediction{Mean: 2, Std: 0}, assay.Prediction{Mean: math.Exp(2), Std: 0}},
		{"not estimated", assay.Prediction{Mean: 2, Std: nan}, assay.Prediction{Mean: math.Exp(2), Std: nan}},
		{"nearly certain", assay.Prediction{Mean: 0, Std: 1e-9}, assay.Prediction{Mean: 1, Std: 1e-9}},
		{"overflow", assay.Prediction{Mean: 800, Std: 1}, assay.Prediction{Mean: big, Std: big}},
		{"std overflows", assay.Prediction{Mean: -1000, Std: 50}, assay.Prediction{Mean: math.Exp(250), Std: big}},
		{"wide and low", assay.Prediction{Mean: -1000, Std: 30}, assay.Prediction{Mean: math.Exp(-550), Std: math.Exp(-100)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := logNormal(c.q)
			same := math.IsNaN(got.Std) && math.IsNaN(c.want.Std) || math.Abs(got.Std-c.want.Std) <= 1e-9*c.want.Std
			if math.Abs(got.Mean-c.want.Mean) > 1e-9*c.want.Mean || !same {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
