package pro

import (
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/report"
)

// Each experiment has a table of its own; the least total time of a load with a fixed
// number of runs is marked.
func TestWrite(t *testing.T) {
	cells := []Cell{
		{Experiment: "simplex", Simplex: "2N", Size: 0.2, NTT: 1.5, CI95: [2]float64{1.4, 1.6}},
		{Experiment: "simplex", Simplex: "grow", Size: 0.2, NTT: 1.25, CI95: [2]float64{1.2, 1.3}},
		{Experiment: "repeat", Noise: "pareto", Rho: 0.3, Repeat: "1", NTT: 2, CI95: [2]float64{1.9, 2.1}, Median: 1.8},
		{Experiment: "repeat", Noise: "pareto", Rho: 0.3, Repeat: "3", NTT: 1.8, CI95: [2]float64{1.75, 1.85}, Median: 1.8},
		{Experiment: "repeat", Noise: "pareto", Rho: 0.3, Repeat: "auto", NTT: 1.7, CI95: [2]float64{1.6, 1.8}, Median: 1.6},
	}
	var b strings.Builder
	if err := Write(cells, &b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	want := `simplex  size r    NTT  95 %
2N          0.2  1.500  1.400 – 1.600
grow        0.2  1.250  1.200 – 1.300

noise     ρ     K    NTT  95 %           median
pareto  0.3     1  2.000  1.900 – 2.100   1.800
pareto  0.3     3  1.800  1.750 – 1.850   1.800  least
pareto  0.3  auto  1.700  1.600 – 1.800   1.600
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
