package stats

import (
	"math"
	"testing"
)

func TestRelativeError(t *testing.T) {
	for _, c := range []struct{ found, optimum, want float64 }{
		{12, 10, 0.2}, {8, 10, 0.2}, {10, 10, 0}, {-8, -10, 0.2}, {0, 0, 0}, {1, 0, inf}, {inf, 10, inf},
	} {
		if got := RelativeError(c.found, c.optimum); !closeTo(got, c.want, 1e-15) {
			t.Errorf("RelativeError(%v, %v) = %v, want %v", c.found, c.optimum, got, c.want)
		}
	}
}

func TestAccuracy(t *testing.T) {
	actual, predicted := []float64{100, 200, 400}, []float64{110, 180, 400}
	if got := MAPE(actual, predicted); !closeTo(got, 20.0/3, 1e-14) {
		t.Errorf("MAPE = %v, want 6.67", got)
	}
	if !math.IsNaN(MAPE(nil, nil)) {
		t.Error("nothing to judge, but a number")
	}
	if got := MAPE([]float64{0, 1}, []float64{0, 1}); got != 0 {
		t.Errorf("an exact prediction of 0: MAPE = %v", got)
	}
	if got := MAPE([]float64{0, 1}, []float64{0.1, 1}); got != inf {
		t.Errorf("a wrong prediction of 0: MAPE = %v, want +Inf", got)
	}
}
