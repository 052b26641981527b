package search

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestAntithetic(t *testing.T) {
	build := func(s *assay.Space) assay.Searcher { return NewAntithetic(s, 1) }
	all := assaytest.SearcherOptions{Exhausts: true}
	t.Run("searcher", func(t *testing.T) { assaytest.TestSearcher(t, build, all) })
	t.Run("narrower", func(t *testing.T) { assaytest.TestNarrower(t, build, all) })
}

func TestAntitheticPairs(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 10}})
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := NewAntithetic(space, 7).Ask(10)
	if err != nil || len(pairs) != 10 {
		t.Fatal(len(pairs), err)
	}
	for i := 0; i < 10; i += 2 {
		if a, b := pairs[i].Config[0], pairs[i+1].Config[0]; a+b != 11 {
			t.Errorf("pair %d is %v and %v", i/2+1, a, b)
		}
	}
}
