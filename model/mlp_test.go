package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestMLPConformance(t *testing.T) {
	assaytest.TestLearner(t, func() assay.Learner { return MLP{} }, assaytest.LearnerOptions{Censored: true})
	assaytest.TestLearner(t, func() assay.Learner { return MLP{Hidden: []int{8}, Members: 1, Epochs: 60, Seed: 9} },
		assaytest.LearnerOptions{Censored: true})
}

func TestMLPOptionsPanic(t *testing.T) {
	for _, m := range []MLP{{Hidden: []int{0}}, {Members: -1}, {Epochs: -1}, {Rate: -1}, {Rate: math.NaN()}} {
		fitPanics(t, m)
	}
}

func TestMLPAllCensored(t *testing.T) {
	needsExact(t, MLP{})
}

// The derivatives of the Tobit loss are the derivatives of its value, and the value is the loss of
// the normal distribution.
func TestTobit(t *testing.T) {
	for _, censored := range []bool{false, true} {
		for _, y := range []float64{-3, 0, 0.5, 4} {
			for _, logSigma := range []float64{-2, 0, 0.7} {
				const h = 1e-6
				loss, byMu, byLog := tobit(y, censored, 0.2, logSigma)
				up, _, _ := tobit(y, censored, 0.2+h, logSigma)
				down, _, _ := tobit(y, censored, 0.2-h, logSigma)
				if want := (up - down) / (2 * h); !(math.Abs(byMu-want) <= 1e-5*max(1, math.Abs(want))) {
					t.Errorf("y %v, censored %v, log σ %v: by μ %v, want %v", y, censored, logSigma, byMu, want)
				}
				up, _, _ = tobit(y, censored, 0.2, logSigma+h)
				down, _, _ = tobit(y, censored, 0.2, logSigma-h)
				if want := (up - down) / (2 * h); !(math.Abs(byLog-want) <= 1e-5*max(1, math.Abs(want))) {
					t.Errorf("y %v, censored %v, log σ %v: by log σ %v, want %v", y, censored, logSigma, byLog, want)
				}
				z := (y - 0.2) / math.Exp(logSigma)
				want := -math.Log(math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / math.Exp(logSigma))
				if censored {
					want = -math.Log(math.Erfc(z/math.Sqrt2) / 2)
				}
				if !math.IsInf(want, 1) && !(math.Abs(loss-want) <= 1e-9*max(1, want)) {
					t.Errorf("y %v, censored %v, log σ %v: loss %v, want %v", y, censored, logSigma, loss, want)
				}
			}
		}
	}
	for _, y := range []float64{-1e9, 24.999, 25.001, 1e9} {
		if l, m, s := tobit(y, true, 0, 0); !finite(l) || !finite(m) || !finite(s) {
			t.Errorf("bound of %v: got %v, %v, %v", y, l, m, s)
		}
	}
}

// Backpropagation gives the derivatives of the outputs.
func TestNetworkGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	n := newNetwork([]int{3, 4, 5, 2}, rng)
	w := n.workspace()
	x := []float64{0.3, -0.8, 0.5}
	f := func() float64 {
		a, b := n.forward(x, w)
		return 2*a - 3*b
	}
	f()
	grad := make([]float64, len(n.params))
	n.backward(2, -3, w, grad)
	if want := 3*4 + 4 + 4*5 + 5 + 5*2 + 2; len(grad) != want {
		t.Fatalf("%d parameters, want %d", len(grad), want)
	}
	for i, p := range n.params {
		const h = 1e-6
		n.params[i] = p + h
		up := f()
		n.params[i] = p - h
		want := (up - f()) / (2 * h)
		n.params[i] = p
		if !(math.Abs(grad[i]-want) <= 1e-7) {
			t.Errorf("parameter %d: got %v, want %v", i, grad[i], want)
		}
	}
}

// One step of Adam is the rate in the direction of the sign, whatever the size
// (Kingma and Ba, §2.1).
func TestAdamFirstStep(t *testing.T) {
	p := []float64{1, 1, 1}
	newAdam(3, 0.1).update(p, []float64{1e-3, -4, 0}, 0.5)
	for i, want := range []float64{0.9, 1.1, 1} {
		if !(math.Abs(p[i]-want) <= 1e-4) {
			t.Errorf("parameter %d: got %v, want %v", i, p[i], want)
		}
	}
}

func TestMLPLearnsASine(t *testing.T) {
	d := sine(200, 3, 0.5, 3)
	p, err := MLP{Epochs: 100}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	test := sine(300, 3, 0.5, 4)
	var e2, s2 float64
	inside := 0
	for i, x := range test.X {
		q := p.Predict(x)
		e := test.Y[i] - q.Mean
		e2 += e * e / 300
		s2 += (test.Y[i] - 100) * (test.Y[i] - 100) / 300
		if math.Abs(e) < 2*q.Std {
			inside++
		}
	}
	if e2 > 0.1*s2 {
		t.Errorf("mean squared error %v of a variance of %v", e2, s2)
	}
	if inside < 255 {
		t.Errorf("%d of 300 within two deviations", inside)
	}
}

// Bounds pull the prediction up to where the outcomes may be; taken for exact
// they would hold it down.
func TestMLPUsesBounds(t *testing.T) {
	var sum, dropped, exact float64
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var d assay.Data
		for range 120 {
			u := rng.Float64()
			y := 5 + 10*u + 0.3*rng.NormFloat64()
			c := y > 11
			d.X, d.Censored = append(d.X, []float64{u}), append(d.Censored, c)
			d.Y = append(d.Y, min(y, 11))
		}
		at := func(d assay.Data) float64 {
			p, err := MLP{Seed: seed}.Fit(d)
			if err != nil {
				t.Fatal(err)
			}
			return p.Predict([]float64{0.9}).Mean / 5
		}
		sum += at(d)
		exactly := d
		exactly.Censored = nil
		exact += at(exactly)
		kept, _ := exactExamples(d)
		dropped += at(kept)
	}
	t.Logf("at 0.9, where the truth is 14: %v with bounds, %v without, %v as exact", sum, dropped, exact)
	if !(sum > exact+0.5) || !(sum > 11.5) {
		t.Errorf("with bounds %v, as exact %v; want at least half more, and above the bound of 11", sum, exact)
	}
}

func BenchmarkMLPFit(b *testing.B) {
	d := mixedData(100, 1)
	for b.Loop() {
		if _, err := (MLP{}).Fit(d); err != nil {
			b.Fatal(err)
		}
	}
}
