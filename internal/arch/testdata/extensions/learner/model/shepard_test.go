package model

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestShepard(t *testing.T) {
	assaytest.TestLearner(t, func() assay.Learner { return Shepard{} }, assaytest.LearnerOptions{})
}

func TestShepardWeighs(t *testing.T) {
	p, err := Shepard{}.Fit(assay.Data{X: [][]float64{{0}, {1}}, Y: []float64{10, 20}})
	if err != nil {
		t.Fatal(err)
	}
	// At a third of the way the first example is half as far, and weighs four times as much.
	for x, want := range map[float64]float64{0: 10, 0.5: 15, 1: 20, 1. / 3: 12} {
		if got := p.Predict([]float64{x}).Mean; math.Abs(got-want) > 1e-12 {
			t.Errorf("at %v: got %v, want %v", x, got, want)
		}
	}
}
