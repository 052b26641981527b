package search

import (
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestNarrowerConformance(t *testing.T) {
	random := func(s *assay.Space) assay.Searcher { return NewRandom(s, 1) }
	all := assaytest.SearcherOptions{Exhausts: true, Trials: 32}
	for _, c := range []struct {
		name  string
		build func(s *assay.Space) assay.Searcher
		opts  assaytest.SearcherOptions
	}{
		{"random", random, all},
		{"grid", func(s *assay.Space) assay.Searcher { return NewGrid(s, GridOptions{}) }, all},
		{"lhs of 20", func(s *assay.Space) assay.Searcher { return NewLHS(s, 20, 1) }, assaytest.SearcherOptions{NoRepeats: true}},
		{"lhs of 50", func(s *assay.Space) assay.Searcher { return NewLHS(s, 50, 1) }, assaytest.SearcherOptions{Exhausts: true, Trials: 40}},
		{"sobol", func(s *assay.Space) assay.Searcher { return NewSobol(s, 1) }, all},
		{"cache", func(s *assay.Space) assay.Searcher { return Cache(random(s)) }, all},
		{"first", func(s *assay.Space) assay.Searcher {
			c, _ := NewRandom(s, 99).draw()
			return First(random(s), c)
		}, assaytest.SearcherOptions{}},
		{"penalize", func(s *assay.Space) assay.Searcher { return Penalize(random(s), 10) }, all},
	} {
		t.Run(c.name, func(t *testing.T) { assaytest.TestNarrower(t, c.build, c.opts) })
	}
}

// A wrapper can be narrowed if and only if the searcher inside can, and shows
// trials to it if and only if that wants to see them.
func TestWrappersForward(t *testing.T) {
	s := oneParam(5)
	for name, wrap := range map[string]func(assay.Searcher) assay.Searcher{
		"cache":    Cache,
		"first":    func(in assay.Searcher) assay.Searcher { return First(in) },
		"penalize": func(in assay.Searcher) assay.Searcher { return Penalize(in, 2) },
	} {
		if _, ok := wrap(NewRandom(s, 1)).(assay.Narrower); !ok {
			t.Errorf("%s of a Narrower is none", name)
		}
		if _, ok := wrap(NewRandom(s, 1)).(assay.Observer); !ok {
			t.Errorf("%s of an Observer is none", name)
		}
		if _, ok := wrap(&loop{}).(assay.Narrower); ok {
			t.Errorf("%s of what is no Narrower is one", name)
		}
		if _, ok := wrap(&loop{}).(assay.Observer); ok && name != "cache" {
			t.Errorf("%s of what is no Observer is one", name)
		}
	}
	for name, s := range map[string]assay.Searcher{
		"replicate": Replicate(NewRandom(s, 1), 2, slices.Min), "adaptive": Adaptive(NewRandom(s, 1), AdaptiveOptions{}),
	} {
		if _, ok := s.(assay.Narrower); ok {
			t.Errorf("%s is a Narrower", name)
		}
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
