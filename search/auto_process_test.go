package search

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// foresees predicts the first feature.
type foresees struct{}

func (foresees) Predict(x []float64) assay.Prediction { return assay.Prediction{Mean: x[0]} }

// The process sees the best half and the latest half of its examples, and a stopped run is as good
// as the forest predicts, not as its bound (AUTO3).
func TestProcessSeesTheBest(t *testing.T) {
	const n = 130
	d := assay.Data{Censored: make([]bool, n)}
	for i := range n {
		y := float64((i * 37) % n) // each value once
		d.X = append(d.X, []float64{y})
		d.Y = append(d.Y, y)
	}
	d.Censored[0] = true // at 0, the best; but the forest expects more
	d.X[0][0] = 1000
	got := map[float64]bool{}
	seen := processData(d, foresees{}, nil)
	for i, y := range seen.Y {
		if seen.X[i][0] != 1000 {
			got[y] = true
		} else {
			t.Errorf("a stopped run that the forest expects to be the worst is among the best")
		}
	}
	want := map[float64]bool{}
	for i := n - processExamples/2; i < n; i++ {
		want[d.Y[i]] = true
	}
	early := map[float64]bool{}
	for i := 1; i < n-processExamples/2; i++ {
		early[d.Y[i]] = true
	}
	for y, left := 0.0, processExamples/2; left > 0; y++ {
		if early[y] {
			want[y] = true
			left--
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	few := d.Rows([]int{5, 3, 4})
	if diff := cmp.Diff(few.Y, processData(few, foresees{}, nil).Y); diff != "" {
		t.Errorf("few examples: %s", diff)
	}
}

// The best of the pool is that with the largest expected improvement, the first of equals, wherever it stands:
// the first configuration of all is one like any other.
func TestPoolBest(t *testing.T) {
	space := intSpace(t, 1, 9)
	b := NewBayes(space, BayesOptions{Learner: model.Forest{Trees: 1}})
	p := newPool(space)
	for top := range 10 {
		to := space.Encode(assay.Config{float64(top)})[0]
		c, mean := p.best(b, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, &nearest{to: to})
		if !c.Equal(assay.Config{float64(top)}) || mean != 0 {
			t.Errorf("the best is %v with %v, want %d with 0", c, mean, top)
		}
	}
	if c, _ := p.best(b, []int{0, 4, 8}, &nearest{to: space.Encode(assay.Config{2})[0]}); !c.Equal(assay.Config{0}) {
		t.Errorf("of two that are as good the best is %v, want the first", c)
	}
	if c, mean := p.best(b, nil, &nearest{}); c != nil || !math.IsNaN(mean) {
		t.Errorf("of none the best is %v with %v", c, mean)
	}
}
