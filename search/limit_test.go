package search

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
)

func TestNarrowerConformance(t *testing.T) {
	testbed.Long(t)
	random := func(s *assay.Space) assay.Searcher { return NewRandom(s, 1) }
	all := assaytest.SearcherOptions{Exhausts: true, Trials: 32}
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
		{
			"lhs of 50", func(s *assay.Space) assay.Searcher { return NewLHS(s, 50, 1) },
			assaytest.SearcherOptions{Exhausts: true, Trials: 40},
		},
		{"sobol", func(s *assay.Space) assay.Searcher { return NewSobol(s, 1) }, all},
		{"cache", func(s *assay.Space) assay.Searcher { return Cache(random(s)) }, all},
		{"first", func(s *assay.Space) assay.Searcher {
			c, _ := NewRandom(s, 99).draw()
			return First(random(s), c)
		}, assaytest.SearcherOptions{}},
		{"penalize", func(s *assay.Space) assay.Searcher { return Penalize(random(s), 10) }, all},
	} {
		t.Run(c.name, func(t *testing.T) { assaytest.TestNarrower(t, c.build, light(c.opts)) })
	}
}

// The defaults of a user that are cut come when they are back.
func TestFirstHoldsBack(t *testing.T) {
	f := First(NewGrid(oneParam(9), GridOptions{}), assay.Config{7}, assay.Config{2})
	f.(assay.Narrower).Narrow(func(c assay.Config) bool { return c[0] < 5 })
	if p := mustAsk(t, f, 1)[0]; p.Config[0] != 2 {
		t.Errorf("got %v first, want 2", p.Config)
	}
	f.(assay.Narrower).Narrow(nil)
	if p := mustAsk(t, f, 1)[0]; p.Config[0] != 7 {
		t.Errorf("got %v once the limit is lifted, want 7", p.Config)
	}
}
