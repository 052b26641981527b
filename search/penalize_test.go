package search

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/model"
)

func TestPenalizeConformance(t *testing.T) {
	for name, build := range map[string]func(*assay.Space) assay.Searcher{
		"random": func(s *assay.Space) assay.Searcher { return Penalize(NewRandom(s, 1), 10) },
		"bayes": func(s *assay.Space) assay.Searcher {
			return Penalize(lightBayes(s, BayesOptions{Learner: model.Forest{Trees: 4}, Initial: 4}), 10)
		},
	} {
		t.Run(name, func(t *testing.T) {
			assaytest.TestSearcher(t, build, light(assaytest.SearcherOptions{Exhausts: true, Trials: 20}))
		})
	}
}

// A recorder keeps the trials that it is told.
type recorder struct {
	assay.Searcher
	told []assay.Trial
}

func (r *recorder) Tell(ts ...assay.Trial) error { r.told = append(r.told, ts...); return nil }

// "If the configuration meets the target constraint ... Otherwise, Cello adds
// this configuration and uses a extremely high value to replace its true behavior".
// Reference: Ding et al. 2022, section 3.6 and Algorithm 1, line 22
func TestPenalize(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64 // of finished trials before
		want   float64
	}{
		{"positive", []float64{2, 30, 7}, 300},
		{"negative, of a maximized metric", []float64{-50, -2}, -0.2},
		{"mixed", []float64{-50, 150}, 150 + 10*200},
		{"mixed, narrow", []float64{0, 0}, 10},
		{"large", []float64{1e308}, math.MaxFloat64},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{}
			p := Penalize(r, 10)
			violator := assay.Trial{Proposal: assay.Proposal{ID: 1}, State: assay.Infeasible, Value: 1}
			if err := p.Tell(violator); err != nil {
				t.Fatal(err)
			}
			if got := r.told[0]; got.State != assay.Infeasible || got.Value != 1 {
				t.Errorf("with nothing to compare it with: got %v %v", got.State, got.Value)
			}
			for i, v := range c.values {
				if err := p.Tell(assay.Trial{Proposal: assay.Proposal{ID: int64(i + 2)}, State: assay.Done, Value: v}); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range []assay.State{assay.Failed, assay.Censored} {
				if err := p.Tell(assay.Trial{State: s, Value: 1e5}); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // the second is not measured by the first
				if err := p.Tell(violator); err != nil {
					t.Fatal(err)
				}
				got := r.told[len(r.told)-1]
				if got.State != assay.Done || !(math.Abs(got.Value/c.want-1) <= 1e-12) {
					t.Errorf("got %v %v, want done %v", got.State, got.Value, c.want)
				}
			}
		})
	}
}
