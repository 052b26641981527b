package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
)

func gpRefitData(n int, seed uint64) assay.Data {
	rng := rand.New(rand.NewPCG(seed, 0))
	var d assay.Data
	for range n {
		x := []float64{rng.Float64(), rng.Float64(), float64(rng.IntN(2))}
		d.X = append(d.X, x)
		d.Y = append(d.Y, math.Sin(4*x[0])+x[1]*x[2])
	}
	return d
}

// With the same data a refit is the fit itself; with more it is far better than
// the fit to the fewer.
func TestGPRefit(t *testing.T) {
	few, more, test := gpRefitData(40, 1), gpRefitData(160, 1), gpRefitData(200, 2)
	p, err := GP{}.Fit(few)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.(Refitter).Refit(few)
	if err != nil {
		t.Fatal(err)
	}
	grown, err := p.(Refitter).Refit(more)
	if err != nil {
		t.Fatal(err)
	}
	var before, after float64
	for i, x := range test.X {
		if a, b := p.Predict(x), again.Predict(x); a != b {
			t.Fatalf("refitted to the same data: %v, want %v", b, a)
		}
		before += math.Abs(p.Predict(x).Mean - test.Y[i])
		after += math.Abs(grown.Predict(x).Mean - test.Y[i])
	}
	if !(after < before/2) {
		t.Errorf("the error is %v with 160 examples, %v with 40", after, before)
	}
	means := make([]float64, len(test.X))
	grown.(MeanPredictor).PredictMeans(test.X, means)
	for i, x := range test.X {
		if want := grown.Predict(x).Mean; !(math.Abs(means[i]-want) <= 1e-12) {
			t.Errorf("mean %v, want %v", means[i], want)
		}
	}
}

func TestGPRefitErrors(t *testing.T) {
	d := gpRefitData(5, 3)
	p, err := GP{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	r := p.(Refitter)
	if q, err := r.Refit(assay.Data{}); !errors.Is(err, assay.ErrTooFew) || q != nil {
		t.Errorf("got %v and %v", q, err)
	}
	d.Censored = []bool{true, true, true, true, true}
	if q, err := r.Refit(d); !errors.Is(err, assay.ErrTooFew) || q != nil {
		t.Errorf("got %v and %v", q, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for rows of another length")
		}
	}()
	r.Refit(assay.Data{X: [][]float64{{1}}, Y: []float64{1}})
}

// The bowl that follows needs lengths that are far from the mode of their prior.
// From the likeliest start, 20 evaluations reach as far as 200. From the lengths of a process that
// was fitted to nearly the same data, nothing is left to do.
func TestGPConverges(t *testing.T) {
	bowl := func(n int) assay.Data {
		rng := rand.New(rand.NewPCG(1, 1))
		var d assay.Data
		for range n {
			x, v := make([]float64, 3), 1.0
			for j := range x {
				x[j] = rng.Float64()
				v += (x[j] - 0.35) * (x[j] - 0.35) * 4 * float64(j+1)
			}
			d.X, d.Y = append(d.X, x), append(d.Y, math.Log(v))
		}
		return d
	}
	d := bowl(40)
	loss := func(g GP) float64 {
		p, err := g.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		m := newMarginal(newScaler(d.X), d)
		return m.loss(p.(*gpPosterior).theta, make([]float64, 5))
	}
	want := loss(GP{Evaluations: 200})
	if got := loss(GP{Evaluations: 20}); got > want+0.1 {
		t.Errorf("after 20 evaluations the loss is %.3f, after 200 %.3f", got, want)
	}
	like, err := GP{}.Fit(bowl(36))
	if err != nil {
		t.Fatal(err)
	}
	if got := loss(GP{Evaluations: gpStarts + 3, Like: like}); got > want+0.5 {
		t.Errorf("from the parameters of 36 of the 40 examples the loss is %.3f after 3 evaluations, at best %.3f", got, want)
	}
	if got, want := loss(GP{Evaluations: 20, Like: constantMean(3)}), loss(GP{Evaluations: 20}); got != want {
		t.Errorf("something that is no process changes the loss from %v to %v", want, got)
	}
}

type constantMean float64

func (c constantMean) Predict([]float64) assay.Prediction {
	return assay.Prediction{Mean: float64(c), Std: math.NaN()}
}

// A process with the parameters of another is refitted alike, is as good a start for
// the search, and predicts its prior.
func TestGPOf(t *testing.T) {
	few, more := gpRefitData(40, 1), gpRefitData(60, 1)
	p, err := GP{}.Fit(few)
	if err != nil {
		t.Fatal(err)
	}
	of := GPOf(p.(Refitter).Parameters())
	for name, fit := range map[string]func(Refitter) (assay.Predictor, error){
		"refit": func(r Refitter) (assay.Predictor, error) { return r.Refit(more) },
		"like":  func(r Refitter) (assay.Predictor, error) { return GP{Like: r}.Fit(more) },
	} {
		want, err := fit(p.(Refitter))
		if err != nil {
			t.Fatal(err)
		}
		got, err := fit(of)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range few.X {
			if got.Predict(x) != want.Predict(x) {
				t.Fatalf("%s: %v at %v, want %v", name, got.Predict(x), x, want.Predict(x))
			}
		}
	}
	theta := of.Parameters()
	want := assay.Prediction{Std: math.Sqrt(math.Exp(theta[len(theta)-2]))}
	if got := of.Predict(few.X[0]); got != want {
		t.Errorf("the prior is %v, want %v", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a single parameter")
		}
	}()
	GPOf([]float64{1})
}
