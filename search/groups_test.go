package search

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestGroupsConformance(t *testing.T) {
	for name, inner := range map[string]func(*assay.Space, int) assay.Searcher{
		"random": func(s *assay.Space, turn int) assay.Searcher { return NewRandom(s, uint64(turn)) },
		"pro":    func(s *assay.Space, turn int) assay.Searcher { return NewPRO(s, SimplexOptions{Seed: uint64(turn)}) },
	} {
		t.Run(name, func(t *testing.T) {
			assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
				g, err := NewGroups(s, GroupOptions{Groups: [][]int{{0}}, Turn: 4, Make: inner})
				if err != nil {
					t.Fatal(err)
				}
				return g
			}, assaytest.SearcherOptions{})
		})
	}
}

// In each turn the parameters of one group change, and all others are as in the best
// trial before the turn.
func TestGroupsInTurn(t *testing.T) {
	p := func(name string) assay.Param { return assay.Param{Name: name, Kind: assay.Integer, Hi: 20} }
	space, err := assay.NewSpace([]assay.Param{p("a"), p("b"), p("c")})
	if err != nil {
		t.Fatal(err)
	}
	groups := [][]int{{0, 2}, {1}}
	g, err := NewGroups(space, GroupOptions{
		Groups: groups[:1], Turn: 15,
		Make: func(s *assay.Space, turn int) assay.Searcher { return NewRandom(s, uint64(turn)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	best, at := math.Inf(1), assay.Config{10, 10, 10}
	for turn := range 6 {
		base := at.Clone()
		for range 15 {
			ps, err := g.Ask(1)
			if err != nil {
				t.Fatal(err)
			}
			c := ps[0].Config
			for _, i := range groups[1-turn%2] {
				if c[i] != base[i] {
					t.Fatalf("turn %d proposes %v, want parameter %d as in %v", turn, c, i, base)
				}
			}
			v := math.Abs(c[0]-3) + math.Abs(c[1]-17) + math.Abs(c[2]-8)
			if v < best {
				best, at = v, c.Clone()
			}
			if err := g.Tell(assay.Trial{Proposal: ps[0], State: assay.Done, Value: v}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if best > 6 {
		t.Errorf("the best after six turns is %v at %v", best, at)
	}
}

// A round of turns without anything new is the end.
func TestGroupsEnd(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "a", Kind: assay.Integer, Hi: 3}, {Name: "b", Kind: assay.Integer, Hi: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGroups(space, GroupOptions{
		Groups: [][]int{{0}, {1}},
		Make:   func(s *assay.Space, turn int) assay.Searcher { return NewRandom(s, uint64(turn)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; n < 200; n++ {
		ps, err := g.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		if err != nil || len(ps) != 1 {
			t.Fatal(ps, err)
		}
		c := ps[0].Config
		if err := g.Tell(assay.Trial{Proposal: ps[0], State: assay.Done, Value: c[0] + c[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if n < 8 || n > 60 || g.best.Value != 0 {
		t.Errorf("ended after %d proposals with %v", n, g.best)
	}
}

func TestGroupsRefuses(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "a", Kind: assay.Integer, Hi: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, groups := range [][][]int{{{}}, {{1}}, {{-1}}, {{0}, {0}}} {
		if _, err := NewGroups(space, GroupOptions{Groups: groups}); err == nil {
			t.Errorf("%v is accepted", groups)
		}
	}
}

// A proposal that a relation refuses does not take those beside it along: the searcher of the turn is
// asked for several at once, and each one that is admissible is run.
func TestGroupsRefusedBesideOthers(t *testing.T) {
	params := []assay.Param{{Name: "a", Kind: assay.Integer, Hi: 7}, {Name: "b", Kind: assay.Integer, Hi: 1}}
	// The middle is 3 and 0. Three values of a are refused, the first one among them.
	space, err := assay.NewSpace(params, assay.Relation{
		Text: "a is 1, 3, 4, 6 or 7", Params: []int{0},
		Holds: func(c assay.Config) bool { return c[0] != 0 && c[0] != 2 && c[0] != 5 },
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGroups(space, GroupOptions{
		Groups: [][]int{{0}}, Turn: 20,
		Make: func(s *assay.Space, _ int) assay.Searcher { return NewGrid(s, GridOptions{}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, p := range mustAsk(t, g, 8) {
		got = append(got, p.Config[0])
		mustTell(t, g, doneTrial(p, 1))
	}
	if want := []float64{1, 3, 4, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("the first turn proposes %v of a, want %v", got, want)
	}
}
