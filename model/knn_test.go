package model

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

func TestKNN(t *testing.T) {
	d := assay.Data{X: [][]float64{{0}, {1}, {2}, {10}, {2}, {11}}, Y: []float64{1, 2, 4, 100, 6, 200}}
	for _, c := range []struct {
		name      string
		k         int
		x         float64
		mean, std float64
	}{
		{"one", 1, 0.4, 1, math.NaN()},
		{"the earlier of equals", 1, 2, 4, math.NaN()},
		{"two at the same place", 2, 2.1, 5, math.Sqrt2},
		{"halfway is not interpolated", 2, 10.5, 150, math.Sqrt(5000)},
		{"default is five", 0, -1, 22.6, math.Sqrt((21.6*21.6 + 20.6*20.6 + 18.6*18.6 + 77.4*77.4 + 16.6*16.6) / 4)},
		{"more than there are", 50, 0, 313.0 / 6, 82.1326163386618}, // statistics.stdev of Y
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustFit(t, KNN{c.k}, d).Predict([]float64{c.x})
			if !near(got.Mean, c.mean, 1e-12) || !(near(got.Std, c.std, 1e-7) || math.IsNaN(got.Std) && math.IsNaN(c.std)) {
				t.Errorf("got %+v, want %v ± %v", got, c.mean, c.std)
			}
		})
	}
}

// The insertion agrees with a stable sort by distance.
func TestKNNOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := table(rapid.IntRange(1, 30).Draw(t, "n"), 2, rapid.Uint64().Draw(t, "seed"))
		for _, x := range d.X { // many ties
			x[0] = math.Round(2 * x[0])
		}
		k := rapid.IntRange(1, 8).Draw(t, "k")
		p, err := KNN{k}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		x := []float64{rapid.Float64Range(-1, 3).Draw(t, "x"), 1}
		order := make([]int, len(d.Y))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if distance2(x, d.X[a]) < distance2(x, d.X[b]) {
				return -1
			}
			if distance2(x, d.X[a]) > distance2(x, d.X[b]) {
				return 1
			}
			return 0
		})
		order = order[:min(k, len(order))]
		var want float64
		for _, i := range order {
			want += d.Y[i] / float64(len(order))
		}
		if got := p.Predict(x).Mean; !near(got, want, 1e-9) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
