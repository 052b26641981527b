package model

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestAFTConformance(t *testing.T) {
	for d, name := range distributionNames {
		t.Run(name, func(t *testing.T) {
			assaytest.TestLearner(t, func() assay.Learner { return AFT{Distribution: Distribution(d)} },
				assaytest.LearnerOptions{Censored: true})
		})
	}
}

func TestAFTBadData(t *testing.T) {
	x := [][]float64{{0}, {1}, {2}}
	for _, c := range []struct {
		name string
		d    assay.Data
		want error
	}{
		{"zero", assay.Data{X: x, Y: []float64{1, 0, 2}}, assay.ErrBadData},
		{"negative", assay.Data{X: x, Y: []float64{1, 2, -3}}, assay.ErrBadData},
		{
			"negative and censored",
			assay.Data{X: x, Y: []float64{1, 2, -3}, Censored: []bool{false, false, true}},
			assay.ErrBadData,
		},
		{"NaN feature", assay.Data{X: [][]float64{{math.NaN()}}, Y: []float64{1}}, assay.ErrBadData},
		{"all censored", assay.Data{X: x, Y: []float64{1, 2, 3}, Censored: []bool{true, true, true}}, assay.ErrTooFew},
		{"nothing", assay.Data{}, assay.ErrTooFew},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, l := range []assay.Learner{AFT{}} {
				if p, err := l.Fit(c.d); !errors.Is(err, c.want) || p != nil {
					t.Errorf("%T: got %v and %v, want %v", l, p, err, c.want)
				}
			}
		})
	}
}

func TestAFTOptionsPanic(t *testing.T) {
	for _, a := range []AFT{
		{Scale: -1},
		{Scale: math.NaN()},
		{Scale: math.Inf(1)},
		{Distribution: 3},
		{Base: -1},
		{Base: math.NaN()},
		{Base: math.Inf(1)},
		{Boost: Boost{Rate: 2}},
	} {
		fitPanics(t, a)
	}
}

func TestDistributionString(t *testing.T) {
	if got := fmt.Sprint(Extreme, Normal, Logistic, Distribution(9)); got != "extreme normal logistic Distribution(9)" {
		t.Error(got)
	}
}

// One exact outcome and one bound: finite, and not below the outcomes.
func TestAFTFewExamples(t *testing.T) {
	p, err := AFT{}.Fit(assay.Data{X: [][]float64{{3}}, Y: []float64{7}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Predict([]float64{-1}).Mean; !(math.Abs(got-7) <= 1e-12) {
		t.Errorf("one example of 7: got %v", got)
	}
	p, err = AFT{}.Fit(assay.Data{X: [][]float64{{0}, {1}}, Y: []float64{7, 30}, Censored: []bool{false, true}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Predict([]float64{1}); !(got.Mean > 20) || math.IsInf(got.Mean, 1) || !(got.Std > 0) {
		t.Errorf("bound of 30 beside an outcome of 7: got %+v", got)
	}
}

// "The second term ... encourages g(x_i) > log τ when y = τ."
// Reference: Cello, section 3.4
func TestAFTCensoredRowRaisesThePrediction(t *testing.T) {
	for d, name := range distributionNames {
		var data assay.Data
		for i := range 30 {
			data.X = append(data.X, []float64{float64(i % 10)})
			data.Y = append(data.Y, 10*math.Exp(0.1*float64(i%10)))
			data.Censored = append(data.Censored, false)
		}
		x := []float64{9}
		mean := func() float64 {
			p, err := AFT{Distribution: Distribution(d)}.Fit(data)
			if err != nil {
				t.Fatal(err)
			}
			return p.Predict(x).Mean
		}
		without := mean()
		data.X, data.Y, data.Censored = append(data.X, x), append(data.Y, 60), append(data.Censored, true)
		with := mean()
		data.Censored[30] = false
		exact := mean()
		if !(with > without*1.1 && exact > without) {
			t.Errorf("%s: %v without, %v with a bound of 60, %v with an outcome of 60", name, without, with, exact)
		}
	}
}

func TestAFTModel(t *testing.T) {
	d := mixedData(100, 1)
	for k, name := range distributionNames {
		p, err := AFT{Distribution: Distribution(k), Scale: 0.25}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		m := p.(*AFTModel)
		if m.Distribution() != Distribution(k) || m.Scale() != 0.25 {
			t.Errorf("%s: got %v and scale %v", name, m.Distribution(), m.Scale())
		}
		x := d.X[0]
		if got, want := m.Ensemble().Predict(x), m.Margin(x); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s: trees sum to %v, margin %v", name, got, want)
		}
		at := m.Predict(x).Mean
		want := [...]float64{math.Exp(-1), 0.5, 0.5}[k] // Cello, eq. 3 with ε at its location
		if got := m.Survival(x, at); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s: survival at the prediction: got %v, want %v", name, got, want)
		}
		if m.Survival(x, 0) != 1 || m.Survival(x, -1) != 1 || m.Survival(x, 1e12) > 1e-6 {
			t.Errorf("%s: survival at 0 is %v, at 1e12 %v", name, m.Survival(x, 0), m.Survival(x, 1e12))
		}
	}
}

// A change of the unit of time scales the predictions.
func TestAFTUnitDoesNotMatter(t *testing.T) {
	d := mixedData(60, 2)
	e := assay.Data{X: d.X, Censored: d.Censored}
	for _, y := range d.Y {
		e.Y = append(e.Y, y*1e9)
	}
	p, err := AFT{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	q, err := AFT{}.Fit(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range d.X {
		got, want := q.Predict(x), p.Predict(x)
		// Margins are float32, and near-ties may fall either way.
		if !(math.Abs(got.Mean/want.Mean/1e9-1) <= 1e-3) {
			t.Errorf("got %v, want %v·1e9", got.Mean, want.Mean)
		}
	}
}

func TestAFTPredictionsAreFinite(t *testing.T) {
	for d, name := range distributionNames {
		m := newAFTModel(Distribution(d), 0.3, nil, 5000)
		if p := m.Predict(nil); p.Mean != math.MaxFloat64 || p.Std != math.MaxFloat64 {
			t.Errorf("%s: got %+v at a margin of 5000", name, p)
		}
		m = newAFTModel(Distribution(d), 0.5, nil, 5000)
		if p := m.Predict(nil); math.IsNaN(p.Std) != (Distribution(d) == Logistic) {
			t.Errorf("%s with scale 0.5: got %+v", name, p)
		}
	}
}

// A run that was stopped after 50 s is an example that took at least as long.
func ExampleAFT() {
	history := assay.Data{
		X:        [][]float64{{0}, {0.2}, {0.4}, {0.6}, {0.8}, {1}},
		Y:        []float64{20, 24, 31, 38, 47, 50},
		Censored: []bool{false, false, false, false, false, true},
	}
	p, err := AFT{Scale: 0.2}.Fit(history)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("slower than 45 s: %v\n", p.Predict([]float64{1}).Mean > 45)
	fmt.Printf("slower than 45 s: %v\n", p.Predict([]float64{0.1}).Mean > 45)
	// Output:
	// slower than 45 s: true
	// slower than 45 s: false
}

// Boosting starts at Base. One round at a rate of almost nothing stays there, and twenty at
// XGBoost's own start of 0.5 approach from below. Cross-validation has the requested start too.
func TestAFTBase(t *testing.T) {
	d := mixedData(50, 3)
	fit := func(l assay.Learner) *AFTModel {
		p, err := l.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		return p.(*AFTModel)
	}
	x := d.X[0]
	if got := fit(AFT{Base: 0.5, Boost: Boost{Rounds: 1, Rate: 1e-9}}).Predict(x).Mean; !(math.Abs(got-0.5) <= 1e-6) {
		t.Errorf("before any tree the prediction is %v, want 0.5", got)
	}
	mean, _ := meanAndSpread(logs(d.Y))
	if low, high := fit(AFT{Base: 0.5}).Margin(x), fit(AFT{}).Margin(x); !(low < high) || mean < 1 {
		t.Errorf("from 0.5 the margin is %v, from the geometric mean, exp(%v), %v", low, mean, high)
	}
	if got, want := fit(AFT{Base: math.Exp(mean)}).Margin(x), fit(AFT{}).Margin(x); !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("from the geometric mean itself %v, want %v", got, want)
	}
	// Held out without a tree, every row is predicted at the base.
	h := holdOut(newColumns(d.X), d, AFT{Base: 0.5}, foldsOf(50, 2, 2, 1))
	for i, m := range h.margin {
		if m != math.Log(0.5) {
			t.Fatalf("row %d is held out from %v, want log 0.5", i, m)
		}
	}
}
