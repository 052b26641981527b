package search

import (
	"testing"

	"github.com/assay-run/assay"
)

// The steps of Algorithm 1: the worst vertex alone is reflected and expanded,
// and decides for the whole simplex.
// Reference: Tabatabaee et al. 2005, Algorithm 1
func TestSROSteps(t *testing.T) {
	simplex := []assay.Config{{60, 50}, {40, 50}, {50, 60}, {50, 40}}
	for _, c := range []struct {
		name string
		f    func(assay.Config) float64
		want [][]assay.Config
	}{
		{"expansion", bowl(100, 50), [][]assay.Config{simplex, {{80, 50}}, {{100, 50}}, {{80, 30}, {80, 70}}}},
		{"reflection", bowl(80, 50), [][]assay.Config{simplex, {{80, 50}}, {{100, 50}}, {{70, 40}, {70, 60}}}},
		{"shrinking", bowl(60, 50), [][]assay.Config{simplex, {{80, 50}}, {{55, 55}, {55, 45}, {50, 50}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := steps(t, NewSRO(intSpace(t, 2, 100), SimplexOptions{}), c.f, len(c.want))
			sameSteps(t, got, c.want)
		})
	}
}
