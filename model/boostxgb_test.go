package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// An xgbJob is the input of testdata/xgboost_run.py.
type xgbJob struct {
	Params map[string]any `json:"params"`
	Rounds int            `json:"rounds"`
	X      [][]float64    `json:"x"`
	Lower  []float64      `json:"lower"`
	Upper  []*float64     `json:"upper,omitempty"`
	Test   [][]float64    `json:"test"`
	Repeat int            `json:"repeat"`
}

type xgbResult struct {
	Version  string
	Margin   []float64
	Shap     [][]float64
	FitS     float64 `json:"fit_s"`
	PredictS float64 `json:"predict_s"`
}

// runXGBoost runs a job with the Python of $ASSAY_PYTHON, and skips the test if it is missing or has no xgboost 1.7.
func runXGBoost(t testing.TB, job xgbJob) xgbResult {
	t.Helper()
	python := os.Getenv("ASSAY_PYTHON")
	if python == "" {
		t.Skip("NOT COMPARED WITH XGBOOST: set ASSAY_PYTHON to a Python that has xgboost 1.7")
	}
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/xgboost_run.py")
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if exit.ExitCode() == 3 {
			t.Skipf("NOT COMPARED WITH XGBOOST: %s: %s", python, exit.Stderr)
		}
		t.Fatalf("%v: %s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	var r xgbResult
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// asFloat32 rounds the features to float32, as XGBoost does.
func asFloat32(X [][]float64) [][]float64 {
	for _, x := range X {
		for j, v := range x {
			x[j] = float64(float32(v))
		}
	}
	return X
}

func aftJob(d assay.Data, test [][]float64, repeat int) xgbJob {
	j := xgbJob{
		Params: map[string]any{
			"objective": "survival:aft", "aft_loss_distribution": "extreme", "aft_loss_distribution_scale": 0.3,
			"tree_method": "exact", "max_depth": 6, "learning_rate": 0.3, "nthread": 1,
			"base_score": math.Exp(newAFTLoss(Extreme, 1, logs(d.Y), nil).base),
		},
		Rounds: 20, X: d.X, Lower: d.Y, Test: test, Repeat: repeat,
	}
	for i, y := range d.Y {
		j.Upper = append(j.Upper, &y)
		if d.Censored != nil && d.Censored[i] {
			j.Upper[i] = nil
		}
	}
	return j
}

// The model, and its SHAP values, are XGBoost's.
func TestAFTMatchesXGBoost(t *testing.T) {
	d, test := mixedData(200, 1), asFloat32(mixedData(50, 2).X)
	asFloat32(d.X)
	asFloat32([][]float64{d.Y})
	r := runXGBoost(t, aftJob(d, test, 1))
	p, err := AFT{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	compareWithXGBoost(t, p.(Trees).Ensemble(), r, test)
}

// Squared loss of standardized outcomes is XGBoost's, with pruning too.
func TestBoostMatchesXGBoost(t *testing.T) {
	d, test := mixedData(200, 3), asFloat32(mixedData(50, 4).X)
	d.Censored = nil
	asFloat32(d.X)
	l := newSquaredLoss(d.Y)
	for i, v := range l.y {
		d.Y[i] = float64(float32(v))
	}
	for _, gamma := range []float64{0, 2} {
		r := runXGBoost(t, xgbJob{
			Params: map[string]any{
				"objective": "reg:squarederror", "base_score": 0, "tree_method": "exact",
				"max_depth": 5, "learning_rate": 0.25, "gamma": gamma, "lambda": 2, "min_child_weight": 3, "nthread": 1,
			},
			Rounds: 30, X: d.X, Lower: d.Y, Test: test, Repeat: 1,
		})
		p, err := Boost{Rounds: 30, MaxDepth: 5, Rate: 0.25, Gamma: gamma, Lambda: 2, MinChildWeight: 3}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		compareWithXGBoost(t, p.(Trees).Ensemble(), r, test)
	}
}

func compareWithXGBoost(t *testing.T, e Ensemble, r xgbResult, test [][]float64) {
	t.Helper()
	for i, x := range test {
		if got, want := e.Predict(x), r.Margin[i]; !(math.Abs(got-want) <= 1e-5*max(1, math.Abs(want))) {
			t.Errorf("row %d: margin %v, want %v", i, got, want)
		}
		phi, base := e.Shap(x)
		for j, got := range append(phi, base) {
			if want := r.Shap[i][j]; !(math.Abs(got-want) <= 1e-4) {
				t.Errorf("row %d: SHAP value %d: %v, want %v", i, j, got, want)
			}
		}
	}
}

// BenchmarkAFTAgainstXGBoost reports our time over that of XGBoost 1.7 with
// tree_method=exact and hist, one thread each, for 20 rounds of depth 6 on 25
// features, and for the prediction of 2,000 rows: the least of several, in one
// run, as machines and their load differ.
func BenchmarkAFTAgainstXGBoost(b *testing.B) {
	test := mixedData(2000, 2).X
	out := make([]assay.Prediction, len(test))
	least := func(repeat int, f func()) float64 {
		best := math.Inf(1)
		for range repeat {
			start := time.Now()
			f()
			best = min(best, time.Since(start).Seconds())
		}
		return best
	}
	for _, n := range []int{20, 50, 100, 500, 2000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			d := mixedData(n, 1)
			fit, predict := math.Inf(1), math.Inf(1)
			ours := func() {
				var p assay.Predictor
				fit = min(fit, least(20, func() { p, _ = AFT{}.Fit(d) }))
				predict = min(predict, least(50, func() { assay.PredictAll(p, test, out) }))
			}
			for b.Loop() {
				ours()
				job := aftJob(d, test, 10)
				exact := runXGBoost(b, job)
				ours()
				job.Params["tree_method"] = "hist"
				hist := runXGBoost(b, job)
				ours()
				b.ReportMetric(fit*1e3, "fit-ms")
				b.ReportMetric(fit/exact.FitS, "fit/exact")
				b.ReportMetric(fit/hist.FitS, "fit/hist")
				b.ReportMetric(predict*1e3, "predict-ms")
				b.ReportMetric(predict/min(exact.PredictS, hist.PredictS), "predict/xgb")
			}
		})
	}
}
