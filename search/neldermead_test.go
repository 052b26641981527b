package search

import (
	"testing"

	"github.com/assay-run/assay"
)

// The worst vertex moves to v_N + α(c - v_N) with α = 2, 3 and 0.5, or the
// simplex shrinks.
// Reference: Tabatabaee et al. 2005, section 3.1, equation 3
func TestNelderMeadSteps(t *testing.T) {
	simplex := []assay.Config{{50, 50}, {60, 50}, {50, 60}}
	for _, c := range []struct {
		name string
		f    func(assay.Config) float64
		want [][]assay.Config
	}{
		// The worst is (50, 60), the centroid of the others (55, 50).
		{"expansion", bowl(70, 20), [][]assay.Config{simplex, {{60, 40}}, {{65, 30}}}},
		// (60, 40) is a new best and the expansion is not: (50, 50), now the worst,
		// moves through the centroid (60, 45) of the others.
		{"reflection", bowl(58, 44), [][]assay.Config{simplex, {{60, 40}}, {{65, 30}}, {{70, 40}}}},
		// The worst is (60, 50), the centroid of the others (50, 55); (40, 60) is worse
		// still: contraction to (55, 52.5), rounded towards (50, 50).
		{"contraction", bowl(50, 53), [][]assay.Config{simplex, {{40, 60}}, {{55, 52}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := steps(t, NewNelderMead(intSpace(t, 2, 100), SimplexOptions{}), c.f, len(c.want))
			sameSteps(t, got, c.want)
		})
	}
}
