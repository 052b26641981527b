package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// A noting learner keeps the data that it is fitted to.
type noting struct{ got *assay.Data }

func (n noting) Fit(d assay.Data) (assay.Predictor, error) {
	*n.got = d
	return nil, nil
}

// thinned returns the data that a learner behind Thin is fitted to.
func thinned(t *testing.T, d assay.Data, n int, seed uint64) assay.Data {
	t.Helper()
	var got assay.Data
	if _, err := Thin(noting{&got}, n, seed).Fit(d); err != nil {
		t.Fatal(err)
	}
	return got
}

// The half with the least outcomes is kept whole, the other half is drawn from all others, and rows stay with their
// outcomes and marks, in their order.
func TestThin(t *testing.T) {
	const all, most = 1000, 100
	rng := rand.New(rand.NewPCG(1, 2))
	var d assay.Data
	for i := range all {
		y := float64((i * 617) % all)
		d.X, d.Y = append(d.X, []float64{y, rng.Float64()}), append(d.Y, y)
		d.Censored = append(d.Censored, int(y)%3 == 0)
	}
	got := thinned(t, d, most, 1)
	if len(got.Y) != most || len(got.X) != most || len(got.Censored) != most {
		t.Fatalf("%d examples, want %d", len(got.Y), most)
	}
	order := -1
	var others []float64
	for i, y := range got.Y {
		at := slices.Index(d.Y, y)
		if at <= order || got.X[i][0] != y || got.Censored[i] != (int(y)%3 == 0) {
			t.Errorf("example %d is %v, %v, %v of row %d after %d", i, got.X[i], y, got.Censored[i], at, order)
		}
		order = at
		if y >= most/2 {
			others = append(others, y)
		}
	}
	if len(others) != most/2 {
		t.Errorf("%d of the %d best are kept", most-len(others), most/2)
	}
	if lo, hi := slices.Min(others), slices.Max(others); lo > 200 || hi < 850 {
		t.Errorf("the others have outcomes from %v to %v", lo, hi)
	}
	if !slices.Equal(thinned(t, d, most, 1).Y, got.Y) {
		t.Error("the same seed draws others")
	}
	if slices.Equal(thinned(t, d, most, 2).Y, got.Y) {
		t.Error("another seed draws the same")
	}
	if few := thinned(t, d, all, 1); !slices.Equal(few.Y, d.Y) {
		t.Error("as many as there may be are not all kept")
	}
}

func TestThinErrors(t *testing.T) {
	infinite := assay.Data{X: [][]float64{{1}, {2}, {3}}, Y: []float64{1, 2, math.Inf(1)}}
	if _, err := Thin(Forest{}, 2, 0).Fit(infinite); err == nil {
		t.Error("an infinite outcome is accepted")
	}
	defer func() {
		if recover() == nil {
			t.Error("one example is enough")
		}
	}()
	Thin(Forest{}, 1, 0)
}
