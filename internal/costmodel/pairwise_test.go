package costmodel

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestPairwise(t *testing.T) {
	assaytest.TestLearner(t, func() assay.Learner { return Pairwise{} }, assaytest.LearnerOptions{Tolerance: 1e-6})
}

// The stall of a program that prefetches depends on the product of rtt and 1/cpu: that
// term and the reciprocal are found, and 12 runs predict the rest within 3 %.
func TestPairwiseFindsInteraction(t *testing.T) {
	value := func(cpu, rtt float64) float64 { return 2 + 30/cpu + 0.1*rtt + 0.8*rtt/cpu }
	var d assay.Data
	for _, cpu := range []float64{1, 2, 4, 8} {
		for _, rtt := range []float64{0, 6, 18} {
			d.X, d.Y = append(d.X, []float64{cpu, rtt}), append(d.Y, value(cpu, rtt))
		}
	}
	f, err := Pairwise{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	p := f.(*pairwise)
	if p.warp[0] != Reciprocal || p.warp[1] != Identity || len(p.products) != 1 {
		t.Errorf("transformations %v and %d products, want reciprocal, identity and 1", p.warp, len(p.products))
	}
	for cpu := 1.0; cpu <= 8; cpu++ {
		for rtt := 0.0; rtt <= 18; rtt += 3 {
			if got, want := p.Predict([]float64{cpu, rtt}).Mean, value(cpu, rtt); !(math.Abs(got-want) <= 0.03*want) {
				t.Errorf("cpu %v, rtt %v: got %v, want %v", cpu, rtt, got, want)
			}
		}
	}
}
