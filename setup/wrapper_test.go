package setup

import (
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/internal/workereffect"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/spec"
)

// TestWrappers holds that no searcher of the command loses an ability in any wrapper,
// or in any wrapper of a wrapper.
func TestWrappers(t *testing.T) {
	goal := assay.Goal{Metric: "elapsed", Unit: "s"}
	knowledge := func(space *assay.Space) *prune.Knowledge {
		s := prune.Study{Name: "earlier", Params: space.Params, Goal: goal}
		for c := range space.All() {
			id := int64(len(s.Trials) + 1)
			s.Trials = append(s.Trials, assay.Trial{
				Proposal: assay.Proposal{ID: id, Config: c}, State: assay.Done,
				Value: float64(id),
			})
		}
		return prune.NewKnowledge(space, goal, []prune.Study{s})
	}
	of := func(wrap func(assay.Searcher) assay.Searcher) func(*assay.Space, assay.Searcher) assay.Searcher {
		return func(_ *assay.Space, in assay.Searcher) assay.Searcher { return wrap(in) }
	}
	giver := []any{(*assay.Enqueuer)(nil)}
	narrower, observer := []any{(*assay.Narrower)(nil)}, []any{(*assay.Observer)(nil)}
	resumer := []any{(*assay.Resumer)(nil)}
	wrappers := []assaytest.Wrapper{
		{Name: "blocks", Wrap: func(s *assay.Space, in assay.Searcher) assay.Searcher {
			return search.CorrectWorkers(in, workereffect.New(s, ""))
		}},
		{Name: "cache", Wrap: of(search.Cache), Own: observer},
		{Name: "given", Wrap: of(search.Given), Own: giver, Ends: giver},
		{Name: "first", Wrap: func(s *assay.Space, in assay.Searcher) assay.Searcher {
			return search.First(in, s.Nearest(make(assay.Config, s.Dim())))
		}},
		{Name: "penalize", Wrap: of(func(in assay.Searcher) assay.Searcher { return search.Penalize(in, 10) })},
		{
			Name: "repeat", Wrap: of(func(in assay.Searcher) assay.Searcher {
				return repeated(in,
					spec.Repeat{Runs: 3})
			}), Ends: narrower,
		},
		{
			Name: "repeat auto", Wrap: of(func(in assay.Searcher) assay.Searcher {
				return repeated(in,
					spec.Repeat{Auto: true})
			}), Ends: narrower,
		},
		{
			Name: "pruner", Needs: narrower, Ends: narrower, Own: observer,
			Wrap: func(s *assay.Space, in assay.Searcher) assay.Searcher {
				p, err := prune.New(in, knowledge(s), prune.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return p
			},
		},
		{
			Name: "pruner as published", Needs: narrower, Ends: narrower, Own: observer,
			Wrap: func(s *assay.Space, in assay.Searcher) assay.Searcher {
				p, err := prune.New(in, knowledge(s), prune.Options{Rule: prune.Published})
				if err != nil {
					t.Fatal(err)
				}
				return p
			},
		},
		// A transfer is brought back as a whole: its memos are not the inner searcher's.
		{
			Name: "transfer", Ends: append(narrower, resumer...), Own: append(observer, resumer...),
			Wrap: func(s *assay.Space, in assay.Searcher) assay.Searcher {
				return prune.NewTransfer(in, knowledge(s), prune.TransferOptions{})
			},
		},
		{Name: "cost model around", Wrap: func(s *assay.Space, in assay.Searcher) assay.Searcher {
			return costmodel.NewActiveLearner(s, costmodel.Options{}).Around(in)
		}},
	}
	var all []assaytest.NamedSearcher
	for _, row := range Searchers() {
		add := func(name string, options map[string]any) {
			all = append(all, assaytest.NamedSearcher{Name: name, Make: func(s *assay.Space) assay.Searcher {
				return searcherWith(t, row.Name, s, options)
			}})
		}
		add(row.Name, nil)
		if slices.ContainsFunc(row.Options, func(o Option) bool { return o.Key == "penalty" }) {
			add(row.Name+" with penalty", map[string]any{"penalty": 10.0})
		}
	}
	assaytest.TestWrappers(t, wrappers, all...)
}

// TestPenaltyKeepsAbilities holds that the searchers that take a hint or a limit do so
// with a penalty too.
func TestPenaltyKeepsAbilities(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "i", Kind: assay.Integer, Lo: 0, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"auto", "bayes"} {
		s := searcherWith(t, name, space, map[string]any{"penalty": 10.0})
		if _, ok := assay.As[assay.Hinter](s); !ok {
			t.Errorf("%s with a penalty takes no hint", name)
		}
		if _, ok := assay.As[assay.Narrower](s); !ok {
			t.Errorf("%s with a penalty cannot be narrowed", name)
		}
	}
}

// searcherWith makes the searcher of that name with options.
func searcherWith(t testing.TB, name string, space *assay.Space, options map[string]any) assay.Searcher {
	t.Helper()
	makes, err := readSearcher(&spec.Study{Search: spec.Method{Name: name, Options: options}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := makes(space, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
