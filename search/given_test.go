package search

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestGiven(t *testing.T) {
	inner := &script{configs: []float64{5, 6, 7}}
	g := Given(inner)
	ps := mustAsk(t, g, 1)
	mine := assay.Config{1}
	g.(assay.Enqueuer).Enqueue([]assay.Config{mine, {2}, {1}})
	mine[0] = 9 // it has its own copy
	ps = append(ps, mustAsk(t, g, 4)...)
	var got []float64
	for i, p := range ps {
		if p.ID != int64(i+1) {
			t.Errorf("proposal %d has ID %d", i, p.ID)
		}
		got = append(got, p.Config[0])
	}
	if !slices.Equal(got, []float64{5, 1, 2, 1, 6}) {
		t.Fatalf("proposed %v: what was given comes next, as often as it was given", got)
	}
	taken := doneTrial(ps[2], 0)
	taken.State = assay.Withdrawn
	mustTell(t, g, doneTrial(ps[4], 60), doneTrial(ps[1], 10), taken, doneTrial(ps[0], 50))
	told := fmt.Sprint(inner.told[0].ID, inner.told[0].Value, inner.told[1].ID, inner.told[1].Value)
	if len(inner.told) != 2 || told != "2 60 1 50" {
		t.Errorf("inner was told %+v, want its own proposals 2 and 1", inner.told)
	}
	if len(inner.seen) != 1 || inner.seen[0].Config[0] != 1 || inner.seen[0].Value != 10 {
		t.Errorf("inner observed %+v, want the trial at 1", inner.seen)
	}
}

// A search that has ended goes on with the given configurations.
func TestGivenAfterTheEnd(t *testing.T) {
	for name, wrap := range map[string]func(assay.Searcher) assay.Searcher{
		"alone":       func(s assay.Searcher) assay.Searcher { return s },
		"in a cache":  Cache,
		"in a first":  func(s assay.Searcher) assay.Searcher { return First(s, assay.Config{0}) },
		"in a repeat": func(s assay.Searcher) assay.Searcher { return Replicate(s, 2, slices.Min) },
	} {
		s := wrap(Given(NewGrid(oneParam(2), GridOptions{})))
		giver, ok := assay.As[assay.Enqueuer](s)
		if !ok {
			t.Fatalf("%s: it takes no configurations", name)
		}
		for {
			ps, err := s.Ask(1)
			if errors.Is(err, assay.ErrDone) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			failed := doneTrial(ps[0], 1)
			failed.State = assay.Failed // so that another attempt may have a value
			mustTell(t, s, failed)
		}
		giver.Enqueue([]assay.Config{{1}})
		if ps, err := s.Ask(1); err != nil || len(ps) != 1 || ps[0].Config[0] != 1 {
			t.Errorf("%s: after the end, given 1: %v, %v", name, ps, err)
		}
	}
}

// stuck proposes one configuration for ever.
type stuck struct{ ledger }

func (s *stuck) Ask(int) ([]assay.Proposal, error) {
	return []assay.Proposal{s.propose(assay.Config{3})}, nil
}
func (s *stuck) Tell(ts ...assay.Trial) error { return s.settle(ts) }

// A Cache that has given up looks at the given configurations; it runs no known one again.
func TestGivenToACacheThatGaveUp(t *testing.T) {
	s := Cache(Given(&stuck{}))
	mustTell(t, s, doneTrial(mustAsk(t, s, 1)[0], 1))
	if _, err := s.Ask(1); !errors.Is(err, assay.ErrDone) {
		t.Fatal("the cache goes on")
	}
	s.(assay.Enqueuer).Enqueue([]assay.Config{{3}, {4}})
	if ps, err := s.Ask(1); err != nil || len(ps) != 1 || ps[0].Config[0] != 4 {
		t.Errorf("given 3, which is known, and 4: %v, %v", ps, err)
	}
}

func TestGivenConformance(t *testing.T) {
	assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
		return Given(NewRandom(s, 1))
	}, assaytest.SearcherOptions{Exhausts: true})
	assaytest.TestNarrower(t, func(s *assay.Space) assay.Searcher { return Given(NewRandom(s, 1)) },
		assaytest.SearcherOptions{})
}
