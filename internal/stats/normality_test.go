package stats

import (
	"math"
	"testing"
)

// The weights of 11 men, the example of Shapiro & Wilk 1965. W' is computed from
// its definition with 1 - W' = 0.2286.
func TestNormalityKnown(t *testing.T) {
	weights := []float64{148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236}
	if got := ShapiroFrancia(weights); !closeTo(got.Statistic, 0.771381939646386, 1e-9) ||
		!closeTo(got.P, 0.0073476400145605905, 1e-6) {
		t.Errorf("ShapiroFrancia = %+v", got)
	}
	for _, x := range [][]float64{nil, {1, 2}, {4, 4, 4, 4, 4, 4}} {
		if got := ShapiroFrancia(x); got.P != 1 || !math.IsNaN(got.Statistic) {
			t.Errorf("ShapiroFrancia(%v) = %+v, want no test", x, got)
		}
	}
}
