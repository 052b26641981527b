package search

import (
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/model"
)

// lightBayes is a Bayes searcher that looks at few candidates.
func lightBayes(s *assay.Space, opts BayesOptions) assay.Searcher {
	b := NewBayes(s, opts)
	b.draws, b.starts = 16, 1
	return b
}

func TestConformance(t *testing.T) {
	random := func(s *assay.Space) assay.Searcher { return NewRandom(s, 1) }
	sobol := func(s *assay.Space) assay.Searcher { return NewSobol(s, 1) }
	member := func(s *assay.Space) assay.Config {
		c, _ := NewRandom(s, 99).draw()
		return c
	}
	all := assaytest.SearcherOptions{Exhausts: true}
	for _, c := range []struct {
		name  string
		build func(s *assay.Space) assay.Searcher
		opts  assaytest.SearcherOptions
	}{
		{"random", random, all},
		{"grid", func(s *assay.Space) assay.Searcher { return NewGrid(s, GridOptions{}) }, all},
		{
			"lhs of 20", func(s *assay.Space) assay.Searcher { return NewLHS(s, 20, 1) },
			assaytest.SearcherOptions{NoRepeats: true},
		},
		{"lhs of 50", func(s *assay.Space) assay.Searcher { return NewLHS(s, 50, 1) }, all},
		{"sobol", sobol, all},
		{"bayes", func(s *assay.Space) assay.Searcher {
			return lightBayes(s, BayesOptions{Learner: model.Forest{Trees: 4}, Initial: 4})
		}, assaytest.SearcherOptions{Exhausts: true, Trials: 20}},
		{"bayes, censored", func(s *assay.Space) assay.Searcher {
			return lightBayes(s, BayesOptions{Learner: model.Impute(model.Forest{Trees: 3}, 2), Initial: 3, Censored: true})
		}, assaytest.SearcherOptions{Exhausts: true, Trials: 12}},
		{"bayes, greedy", func(s *assay.Space) assay.Searcher {
			return lightBayes(s, BayesOptions{Learner: model.KNN{K: 1}, Initial: 3})
		}, assaytest.SearcherOptions{Exhausts: true, Trials: 16}},
		{
			"replicate", func(s *assay.Space) assay.Searcher { return Replicate(sobol(s), 3, slices.Min) },
			assaytest.SearcherOptions{},
		},
		{"replicate once", func(s *assay.Space) assay.Searcher { return Replicate(random(s), 1, slices.Max) }, all},
		{"cache", func(s *assay.Space) assay.Searcher { return Cache(random(s)) }, all},
		{
			"cache of a repeating searcher", func(s *assay.Space) assay.Searcher { return Cache(newRepeating(s)) },
			assaytest.SearcherOptions{},
		},
		{"first", func(s *assay.Space) assay.Searcher { return First(random(s), member(s)) }, assaytest.SearcherOptions{}},
		{"first of nothing", func(s *assay.Space) assay.Searcher { return First(random(s)) }, all},
		{"nested", func(s *assay.Space) assay.Searcher {
			return First(Replicate(Cache(newRepeating(s)), 2, slices.Min), member(s))
		}, assaytest.SearcherOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) { assaytest.TestSearcher(t, c.build, c.opts) })
	}
}
