package assaytest_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestProblems(t *testing.T) {
	for _, p := range assaytest.Problems() {
		t.Run(p.Name, func(t *testing.T) {
			if err := p.Space.Check(p.Best); err != nil {
				t.Errorf("the best configuration is not admissible: %v", err)
			}
			if got := p.Value(p.Best); !(math.Abs(got-p.Optimum) <= 1e-12) {
				t.Errorf("value of the best configuration: got %v, want %v", got, p.Optimum)
			}
			check := func(c assay.Config) {
				if v := p.Value(c); !(v >= p.Optimum-1e-12) || math.IsInf(v, 0) {
					t.Errorf("%s has the value %v, below the optimum %v or infinite", p.Space.Text(c), v, p.Optimum)
				}
			}
			if p.Space.Indexed() {
				for c := range p.Space.All() {
					check(c)
				}
				return
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for range 10_000 {
				c, _ := p.Space.Draw(rng)
				check(c)
			}
		})
	}
}

func TestProblemTrial(t *testing.T) {
	p := assaytest.Bowl()
	got := p.Trial(assay.Proposal{ID: 3, Config: p.Best})
	if got.ID != 3 || got.State != assay.Done || got.Value != 1 || got.Measurement.Elapsed.Seconds() != 1 {
		t.Errorf("got %+v", got)
	}
}
