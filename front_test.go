package assay_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// A front has, by comparing each with each, all points that none dominates, equal ones once, in order.
func TestFront(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		ps := make([][]float64, rng.IntN(20))
		d := 1 + rng.IntN(3)
		for i := range ps {
			if rng.IntN(8) == 0 {
				continue // without coordinates
			}
			for range d {
				ps[i] = append(ps[i], float64(rng.IntN(6)))
			}
		}
		var want []int
		for i, p := range ps {
			in := p != nil
			for j, q := range ps {
				if q != nil && p != nil && (assay.Dominates(q, p) || j < i && slices.Equal(p, q)) {
					in = false
				}
			}
			if in {
				want = append(want, i)
			}
		}
		slices.SortFunc(want, func(a, b int) int { return slices.Compare(ps[a], ps[b]) })
		if got := assay.Front(ps); !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", ps, got, want)
		}
	}
}

func TestDominates(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want bool
	}{
		{[]float64{1, 2}, []float64{1, 3}, true},
		{[]float64{1, 3}, []float64{1, 3}, false},
		{[]float64{0, 4}, []float64{1, 3}, false},
		{[]float64{0, 0, 0}, []float64{1, 1, 1}, true},
	} {
		if got := assay.Dominates(c.a, c.b); got != c.want {
			t.Errorf("%v, %v: %v", c.a, c.b, got)
		}
	}
}

func TestGoalOfSeveral(t *testing.T) {
	g := assay.Goal{Metric: "elapsed", Others: []assay.Objective{{Metric: "fps", Maximize: true}}}
	m := assay.Measurement{Metrics: map[string]float64{"elapsed": 3, "fps": 40}}
	if v, err := g.Values(m); err != nil || !slices.Equal(v, []float64{3, -40}) {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := g.Value(m); err != nil || v != 3 {
		t.Errorf("%v, %v", v, err)
	}
	// A run is no result of a front unless all of its metrics were measured.
	delete(m.Metrics, "fps")
	if _, err := g.Value(m); err == nil || err.Error() != `metric "fps" was not measured` {
		t.Errorf("got %v", err)
	}
	if _, err := g.Values(m); err == nil {
		t.Error("values without a metric")
	}
}
