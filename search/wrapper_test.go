package search

import (
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

// Every wrapper of this package keeps what its searcher can do, but that no proposal
// is narrowed any more once its runs have begun.
func TestWrappers(t *testing.T) {
	of := func(wrap func(assay.Searcher) assay.Searcher) func(*assay.Space, assay.Searcher) assay.Searcher {
		return func(_ *assay.Space, in assay.Searcher) assay.Searcher { return wrap(in) }
	}
	giver := []any{(*assay.Enqueuer)(nil)}
	narrower, observer := []any{(*assay.Narrower)(nil)}, []any{(*assay.Observer)(nil)}
	assaytest.TestWrappers(t, []assaytest.Wrapper{
		{Name: "cache", Wrap: of(Cache), Own: observer},
		{Name: "given", Wrap: of(Given), Own: giver, Ends: giver},
		{Name: "first", Wrap: of(func(in assay.Searcher) assay.Searcher { return First(in, assay.Config{0, 0, 0}) })},
		{Name: "penalize", Wrap: of(func(in assay.Searcher) assay.Searcher { return Penalize(in, 10) })},
		{Name: "values", Wrap: of(func(in assay.Searcher) assay.Searcher {
			return Values(in, assay.Goal{Metric: "elapsed"})
		})},
		{Name: "replicate", Wrap: of(func(in assay.Searcher) assay.Searcher {
			return Replicate(in, 2,
				slices.Min)
		}), Ends: narrower},
		{Name: "adaptive", Wrap: of(func(in assay.Searcher) assay.Searcher {
			return Adaptive(in,
				AdaptiveOptions{})
		}), Ends: narrower},
	},
		assaytest.NamedSearcher{Name: "auto", Make: func(s *assay.Space) assay.Searcher { return NewAuto(s, AutoOptions{}) }},
		assaytest.NamedSearcher{Name: "random", Make: func(s *assay.Space) assay.Searcher { return NewRandom(s, 1) }},
		assaytest.NamedSearcher{Name: "loop", Make: func(*assay.Space) assay.Searcher { return &loop{} }},
	)
}
