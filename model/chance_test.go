package model

import (
	"errors"
	"math"
	"testing"

	"github.com/assay-run/assay"
)

// A run that was cut gives a lower bound of a metric that grows, and no information on any other.
func TestSidesOf(t *testing.T) {
	size := assay.Bound{Sides: func(of func(string) (float64, bool)) (float64, float64, error) {
		if x, ok := of("size"); ok {
			return x, 2, nil
		}
		return 0, 0, errors.New("not measured")
	}}
	grows := size
	grows.Grows = true
	for state, want := range map[assay.State][2]Known{
		assay.Done: {Exact, Exact}, assay.Infeasible: {Exact, Exact}, assay.Censored: {Unknown, AtLeast},
		assay.Failed: {Unknown, Unknown}, assay.Withdrawn: {Unknown, Unknown},
	} {
		tr := assay.Trial{State: state}
		tr.Measurement.Metrics = map[string]float64{"size": 1}
		for i, b := range []assay.Bound{size, grows} {
			got := SidesOf(tr, b)
			if got.Known != want[i] || got.Known != Unknown && (got.Left != 1 || got.Right != 2) {
				t.Errorf("%v, grows %v: %+v", state, b.Grows, got)
			}
		}
		if got := SidesOf(assay.Trial{State: state}, grows); got != (Sides{}) {
			t.Errorf("%v, not measured: %+v", state, got)
		}
	}
}

func TestMarginScale(t *testing.T) {
	of := func(left, right float64) Sides { return Sides{left, right, Exact} }
	ratio := NewMarginScale([]Sides{of(4, 2), of(1, 2), {}})
	if got := ratio.Forward(of(4, 2)); !(math.Abs(got-math.Log(2)) <= 1e-15) || ratio.Edge != 0 {
		t.Errorf("of positive sides: %v at %+v", got, ratio)
	}
	// Counts: 0 and 1 keep "at most 1", 3 breaks it. The edge lies between 1 and 3.
	count := NewMarginScale([]Sides{of(0, 1), of(1, 1), of(3, 1)})
	if on, off := count.Forward(of(1, 1)), count.Forward(of(3, 1)); count.ratio || !(on < count.Edge && count.Edge < off) {
		t.Errorf("of counts: %v and %v around %+v", on, off, count)
	}
	if s := NewMarginScale([]Sides{of(1, 1), of(1, 1)}); s.Usual != 0 {
		t.Errorf("of equals: %+v", s)
	}
	huge := NewMarginScale([]Sides{of(-math.MaxFloat64, math.MaxFloat64), of(1, 0)})
	if got := huge.Forward(of(-math.MaxFloat64, math.MaxFloat64)); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("of huge numbers: %v", got)
	}
	if s := NewMarginScale(nil); s.Usual != 0 || s.Edge != 0 {
		t.Errorf("of nothing: %+v", s)
	}
}

// At the edge the chance is one half, two deviations below it 0.977. A twentieth of the deviation of the margins is
// left if the model is certain.
func TestChance(t *testing.T) {
	s := NewMarginScale([]Sides{{math.E, 1, Exact}, {1 / math.E, 1, Exact}})
	c := s.Chance(nil)
	for _, tt := range []struct{ mean, std, want float64 }{
		{0, 1, 0.5}, {-2, 1, 0.9772}, {2, 1, 0.0228}, {-2 * 0.05 * math.Sqrt2, 0, 0.9772}, {0, math.NaN(), 0.5},
	} {
		if got := c.Of(assay.Prediction{Mean: tt.mean, Std: tt.std}); !(math.Abs(got-tt.want) <= 2e-3) {
			t.Errorf("mean %v, deviation %v: %v, want %v", tt.mean, tt.std, got, tt.want)
		}
	}
}
