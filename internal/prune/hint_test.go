package prune

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// hinted keeps its hint.
type hinted struct {
	assay.Searcher
	h func(assay.Config) float64
}

func (s *hinted) Hint(h func(assay.Config) float64) { s.h = h }

// hint gives a searcher the hint of the studies.
func hint(k *Knowledge, s assay.Searcher) { NewTransfer(s, k, TransferOptions{}) }

// The hint orders the configurations as the studies do together, and is of the
// order of 1.
func TestHintIsTheMean(t *testing.T) {
	space := grid()
	up := func(c assay.Config) float64 { return 10 + c[0] }
	also := func(c assay.Config) float64 { return 1000 * (10 + c[0] + c[1]/2) }
	k := NewKnowledge(space, testGoal, []Study{earlier("a", space, 500, 1, up), earlier("b", space, 500, 2, also)})
	s := &hinted{Searcher: search.NewRandom(space, 1)}
	hint(k, s)
	if s.h == nil {
		t.Fatal("no hint")
	}
	var good, bad assay.Config
	for c := range space.All() {
		if v := s.h(c); v < -0.5 || v > 1.5 {
			t.Errorf("%v: hint %g", c, v)
		}
		if good == nil || also(c) < also(good) {
			good = c
		}
		if bad == nil || also(c) > also(bad) {
			bad = c
		}
	}
	if !(s.h(good) < 0.3 && s.h(bad) > 0.7) {
		t.Errorf("hint %g at the best, %g at the worst", s.h(good), s.h(bad))
	}
}

// Without studies, in a space that is too large to be scored with a hint, and for a
// searcher that takes none, there is none.
func TestNoHint(t *testing.T) {
	space := grid()
	s := &hinted{Searcher: search.NewRandom(space, 1)}
	hint(NewKnowledge(space, testGoal, nil), s)
	large := must(assay.NewSpace([]assay.Param{{Name: "i", Kind: assay.Integer, Lo: 0, Hi: maxTable}}))
	f := func(c assay.Config) float64 { return 1 + c[0] }
	hint(NewKnowledge(large, testGoal, []Study{earlier("a", large, 30, 1, f)}), s)
	if s.h != nil {
		t.Error("a hint of nothing, or too dear")
	}
	hint(NewKnowledge(space, testGoal, []Study{earlier("a", space, 30, 1, f)}), search.NewRandom(space, 1))
}

// A wrapper keeps no hint from the searcher that it wraps: a very large value for runs that break
// a limit, and values that are left out.
func TestHintReachesWhatIsWrapped(t *testing.T) {
	space := grid()
	k := NewKnowledge(space, testGoal, []Study{earlier("a", space, 30, 1,
		func(c assay.Config) float64 { return 1 + c[0] })})
	for name, wrap := range map[string]func(assay.Searcher) assay.Searcher{
		"penalize":          func(s assay.Searcher) assay.Searcher { return search.Penalize(s, 10) },
		"cache of penalize": func(s assay.Searcher) assay.Searcher { return search.Cache(search.Penalize(s, 10)) },
		"pruner":            func(s assay.Searcher) assay.Searcher { return must(New(s, k, Options{})) },
	} {
		s := &hinted{Searcher: search.NewRandom(space, 1)}
		var in assay.Searcher = s
		if name == "pruner" {
			in = narrowHinted{s, search.NewRandom(space, 1)}
		}
		hint(k, wrap(in))
		if s.h == nil {
			t.Errorf("%s: no hint", name)
		}
	}
}

// narrowHinted is a hinted that can be narrowed.
type narrowHinted struct {
	*hinted
	assay.Narrower
}
