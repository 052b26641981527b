package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
)

// The posterior of one censored example agrees with numerical integration.
func TestOneSite(t *testing.T) {
	for _, least := range []float64{-2, 0, 0.5, 3} {
		m := newMarginal(scaler{[]float64{0}, []float64{1}}, assay.Data{X: [][]float64{{0}, {0.3}}, Y: []float64{-1, 1}})
		m.censor(assay.Data{Censored: []bool{false, true}})
		m.least[1] = least
		theta := []float64{-1, 0.2, -2}
		p, err := m.posterior(theta)
		if err != nil {
			t.Fatal(err)
		}
		// f2 given the exact outcome is normal; times Φ((f - c)/σ).
		noise, signal := math.Exp(-2)+gpLeastNoise, math.Exp(0.2)
		k, _ := matern(0.09 * math.Exp(2))
		k *= signal
		mean := k / (signal + noise) * m.y[0]
		sd := math.Sqrt(signal - k*k/(signal+noise))
		var w, first, second float64
		for f := mean - 12*sd; f < mean+12*sd; f += sd / 1000 {
			z := (f - mean) / sd
			d := math.Exp(-z*z/2) * math.Erfc(-(f-least)/math.Sqrt(2*noise))
			w, first, second = w+d, first+d*f, second+d*f*f
		}
		first /= w
		want := assay.Prediction{Mean: m.mean + m.sd*first, Std: m.sd * math.Sqrt(second/w-first*first)}
		got := p.Predict([]float64{0.3})
		if !(math.Abs(got.Mean-want.Mean) <= 0.01) || !(math.Abs(got.Std-want.Std) <= 0.01) {
			t.Errorf("above %g: got %+v, want %+v", least, got, want)
		}
	}
}

// Knowing that outcomes are above some value is worth more than leaving them out,
// and than taking that value for them.
func TestCensoredProcessPredictsBetter(t *testing.T) {
	var dropped, taken, censored float64
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		f := func(x []float64) float64 { return 3*x[0] + math.Sin(5*x[1]) }
		var d assay.Data
		for range 40 {
			x := []float64{rng.Float64(), rng.Float64()}
			y := f(x) + 0.05*rng.NormFloat64()
			d.X, d.Y, d.Censored = append(d.X, x), append(d.Y, min(y, 1.2)), append(d.Censored, y > 1.2)
		}
		loss := func(d assay.Data) (sum float64) {
			p, err := (GP{}).Fit(d)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(seed, 4))
			for range 200 {
				x := []float64{rng.Float64(), rng.Float64()}
				e := p.Predict(x).Mean - f(x)
				sum += e * e
			}
			return sum
		}
		exact, _ := exactExamples(d)
		dropped += loss(exact)
		taken += loss(assay.Data{X: d.X, Y: d.Y})
		censored += loss(d)
	}
	t.Logf("squared error: dropped %.1f, taken %.1f, censored %.1f", dropped, taken, censored)
	if censored > 0.8*dropped || censored > 0.5*taken {
		t.Errorf("squared error: dropped %.1f, taken %.1f, censored %.1f", dropped, taken, censored)
	}
}
