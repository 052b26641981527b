package model

import (
	"errors"
	"math"
	"testing"

	"github.com/assay-run/assay"
)

// motorettes is the life test of Crawford (1970) that Schmee and Hahn (1979)
// introduced imputation with: log10 of hours to failure against
// 1000/(273.2 + °C). Seventeen of forty outcomes are exact.
func motorettes() (d assay.Data) {
	add := func(celsius float64, failed []float64, running int, hours float64) {
		for range running {
			failed = append(failed, hours)
		}
		for i, h := range failed {
			d.X = append(d.X, []float64{1000 / (273.2 + celsius)})
			d.Y = append(d.Y, math.Log10(h))
			d.Censored = append(d.Censored, i >= len(failed)-running)
		}
	}
	add(150, nil, 10, 8064)
	add(170, []float64{1764, 2772, 3444, 3542, 3780, 4860, 5196}, 3, 5448)
	add(190, []float64{408, 408, 1344, 1344, 1440}, 5, 1680)
	add(220, []float64{408, 408, 504, 504, 504}, 5, 528)
	return d
}

// The maximum-likelihood line is -6.019 + 4.311x. Least squares on the failures
// alone has a slope of 3.82, and with censoring times taken for failures 3.75.
// Imputation settles at 4.2214 (computed independently; 4.2042 with the residual
// std in place of the predictive one), as near as it gets: an imputed outcome
// has no variance, so the residuals are too small. Each round halves the
// distance, so that stopping at 1 % leaves some 0.07.
func TestImputeMotorettes(t *testing.T) {
	d := motorettes()
	slope := func(l assay.Learner, d assay.Data) float64 {
		p := mustFit(t, l, d)
		return p.Predict([]float64{3}).Mean - p.Predict([]float64{2}).Mean
	}
	dropped := slope(DropCensored(Linear{}), d)
	naive := slope(Linear{}, assay.Data{X: d.X, Y: d.Y})
	imputed := slope(Impute(Linear{}, 100), d)
	if !near(dropped, 3.8184, 1e-4) || !near(naive, 3.7470, 1e-4) {
		t.Errorf("slopes: dropped %v, naive %v, want 3.8184 and 3.7470", dropped, naive)
	}
	if !(math.Abs(imputed-4.2214) <= 0.1) {
		t.Errorf("slope: imputed %v, want within 0.1 of 4.2214", imputed)
	}
}

// recorder is a learner of the mean, with a std, that keeps the data it was fitted to.
type recorder struct {
	std  float64
	fits *[][]float64
}

func (r recorder) Fit(d assay.Data) (assay.Predictor, error) {
	if err := CheckExact(d, 1); err != nil {
		return nil, err
	}
	*r.fits = append(*r.fits, append([]float64(nil), d.Y...))
	return fixed{mean(d.Y), r.std}, nil
}

type fixed assay.Prediction

func (f fixed) Predict([]float64) assay.Prediction { return assay.Prediction(f) }

func TestImputeRounds(t *testing.T) {
	d := assay.Data{X: [][]float64{{1}, {2}, {3}}, Y: []float64{2, 4, 5}, Censored: []bool{false, false, true}}
	var fits [][]float64
	mustFit(t, Impute(recorder{1, &fits}, 2), d)
	if len(fits) != 3 || len(fits[0]) != 2 {
		t.Fatalf("got fits %v, want one of the two exact outcomes and two of all", fits)
	}
	m := 3.0
	for _, fit := range fits[1:] {
		want := truncatedMean(m, 1, 5)
		if fit[0] != 2 || fit[1] != 4 || !near(fit[2], want, 1e-12) {
			t.Errorf("got fit %v, want 2, 4, %v", fit, want)
		}
		m = mean(fit)
	}

	fits = nil
	mustFit(t, Impute(recorder{math.NaN(), &fits}, 0), d) // 5 is above the mean: at rest after one round
	if len(fits) != 2 || fits[1][2] != 5 {
		t.Errorf("without std: got fits %v, want two, the outcome staying 5", fits)
	}

	fits = nil
	d.Censored = []bool{true, true, true}
	mustFit(t, Impute(recorder{1, &fits}, 1), d)
	if len(fits) != 2 || fits[0][0] != 2 || fits[0][2] != 5 {
		t.Errorf("all censored: got fits %v, want the first of the censoring values", fits)
	}
}

func TestImputeErrors(t *testing.T) {
	if _, err := Impute(KNN{}, 0).Fit(assay.Data{}); !errors.Is(err, assay.ErrTooFew) {
		t.Errorf("no example: got error %v, want ErrTooFew", err)
	}
	broken := errors.New("broken")
	fails := fitFunc(func(assay.Data) (assay.Predictor, error) { return nil, broken })
	if _, err := Impute(fails, 0).Fit(motorettes()); !errors.Is(err, broken) {
		t.Errorf("got error %v, want the learner's", err)
	}
}

type fitFunc func(assay.Data) (assay.Predictor, error)

func (f fitFunc) Fit(d assay.Data) (assay.Predictor, error) { return f(d) }
