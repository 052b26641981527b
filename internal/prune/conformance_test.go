package prune

import (
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/search"
)

var testGoal = assay.Goal{Metric: "elapsed", Grows: true, Unit: "s"}

// earlier returns a study of n trials of f in a space.
func earlier(name string, space *assay.Space, n int, seed uint64, f func(assay.Config) float64) Study {
	s := Study{Name: name, Params: space.Params, Goal: testGoal}
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		c, ok := space.Draw(rng)
		if !ok {
			continue
		}
		s.Trials = append(s.Trials, assay.Trial{
			Proposal: assay.Proposal{ID: int64(i + 1), Config: c},
			State:    assay.Done, Value: f(c),
		})
	}
	return s
}

// bowl is a smooth function of any space, least where every coordinate is at
// the fraction at of its range.
func bowl(space *assay.Space, at float64) func(assay.Config) float64 {
	return func(c assay.Config) float64 {
		v := 1.0
		for _, u := range space.Unit(c) {
			v += (u - at) * (u - at)
		}
		return v
	}
}

func TestConformance(t *testing.T) {
	testbed.Long(t)
	studies := func(space *assay.Space) []Study {
		return []Study{
			earlier("a", space, 30, 1, bowl(space, 0.2)),
			earlier("b", space, 30, 2, bowl(space, 0.9)),
			{Name: "none", Params: space.Params, Goal: testGoal},
		}
	}
	for name, build := range map[string]func(*assay.Space) assay.Searcher{
		"pruner of random": func(space *assay.Space) assay.Searcher {
			return must(New(search.NewRandom(space, 1), NewKnowledge(space, testGoal, studies(space)), Options{Alpha: 0.9}))
		},
		"published pruner": func(space *assay.Space) assay.Searcher {
			k := NewKnowledge(space, testGoal, studies(space))
			return must(New(search.NewRandom(space, 1), k, Options{Alpha: 0.6, Rule: Published, Surrogate: Cubic}))
		},
		"transfer of pruner": func(space *assay.Space) assay.Searcher {
			p := must(New(quick(space), NewKnowledge(space, testGoal, studies(space)), Options{}))
			return NewTransfer(p, NewKnowledge(space, testGoal, studies(space)), TransferOptions{Seed: 1})
		},
		"reuse": func(space *assay.Space) assay.Searcher {
			return NewReuse(search.NewRandom(space, 1), NewKnowledge(space, testGoal, studies(space)), 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			assaytest.TestSearcher(t, build, assaytest.SearcherOptions{Trials: 12})
		})
	}
}

// quick is a Narrower that learns.
func quick(space *assay.Space) assay.Searcher {
	return search.NewBayes(space, search.BayesOptions{Learner: model.Linear{Ridge: 1}, Seed: 1, Initial: 10})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
