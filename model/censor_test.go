package model

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

// The wanted numbers were computed with 40 digits.
func TestHazard(t *testing.T) {
	for _, c := range []struct{ a, want float64 }{
		{-40, 0}, // 1.5e-348 underflows
		{-3, 0.0044378390421256637933},
		{0, 0.79788456080286535588},
		{1, 1.5251352761609812091},
		{5, 5.1865039671258421156},
		{24, 24.04152323073574571},
		{25, 25.039873012057562583},
	} {
		if got := hazard(c.a); !(math.Abs(got-c.want) <= 1e-12*c.want) {
			t.Errorf("hazard(%v) = %v, want %v", c.a, got, c.want)
		}
	}
	for _, c := range []struct{ a, want float64 }{
		{25, 0.039873012057562583},
		{26, 0.03834857949547079},
		{40, 0.024968847207263723},
		{1000, 0.00099999800001},
	} {
		if got := tailExcess(c.a); !(math.Abs(got-c.want) <= 1e-8*c.want) {
			t.Errorf("tailExcess(%v) = %v, want %v", c.a, got, c.want)
		}
	}
}

func TestTruncatedMean(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name                   string
		mean, std, least, want float64
	}{
		{"at the mean", 10, 2, 10, 10 + 2*math.Sqrt(2/math.Pi)},
		{"far below", 10, 2, -100, 10},
		{"far above", 0, 1, 1000, 1000.00099999800001},
		{"hopelessly far above", 0, 1e-300, 7, 7},
		{"no std", 3, 0, 5, 5},
		{"no std, mean above", 6, 0, 5, 6},
		{"std not estimated", 3, nan, 5, 5},
		{"infinite std", 3, inf, 5, 5},
		{"greatest numbers", math.MaxFloat64, math.MaxFloat64, 0, math.MaxFloat64},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := truncatedMean(c.mean, c.std, c.least); !near(got, c.want, 1e-9) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// It is above both the censoring value and the mean, and grows with each argument.
func TestTruncatedMeanProperties(t *testing.T) {
	number := rapid.Float64Range(-1e6, 1e6)
	rapid.Check(t, func(t *rapid.T) {
		mean, least := number.Draw(t, "mean"), number.Draw(t, "least")
		std := math.Exp(rapid.Float64Range(-20, 10).Draw(t, "log std"))
		got := truncatedMean(mean, std, least)
		if got < mean || got < least || math.IsInf(got, 0) {
			t.Fatalf("got %v", got)
		}
		slack := 1e-7 * (math.Abs(got) + std)
		if up := truncatedMean(mean+std, std, least); up < got-slack {
			t.Fatalf("a greater mean gives %v, less than %v", up, got)
		}
		if up := truncatedMean(mean, std, least+std); up < got-slack {
			t.Fatalf("a greater bound gives %v, less than %v", up, got)
		}
		if up := truncatedMean(mean, 2*std, least); up < got-slack {
			t.Fatalf("a greater std gives %v, less than %v", up, got)
		}
	})
}

func TestDropCensored(t *testing.T) {
	d := table(12, 2, 1)
	d.Censored = make([]bool, 12)
	var exact assay.Data
	for i := range d.Y {
		if d.Censored[i] = i%3 == 0; !d.Censored[i] {
			exact.X, exact.Y = append(exact.X, d.X[i]), append(exact.Y, d.Y[i])
		}
	}
	p, q := mustFit(t, DropCensored(KNN{1}), d), mustFit(t, KNN{1}, exact)
	for _, x := range d.X {
		if got, want := p.Predict(x).Mean, q.Predict(x).Mean; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	for i := range d.Censored {
		d.Censored[i] = true
	}
	if _, err := DropCensored(KNN{1}).Fit(d); !errors.Is(err, assay.ErrTooFew) {
		t.Errorf("all censored: got error %v, want ErrTooFew", err)
	}
}
