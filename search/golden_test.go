package search

import (
	"fmt"
	"hash/fnv"
	"runtime"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// A study without limits proposes the same as before limits were learned, and so does a searcher without
// limits, whatever states its trials have.
func TestProposalsWithoutLimitsAreThoseOfBefore(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIP: the proposals on record are those of amd64, others round elsewhere")
	}
	countLarge := func(s *assay.Space) assay.Searcher {
		a := NewAuto(s, AutoOptions{Seed: 3})
		a.CountLarge()
		return a
	}
	for _, tt := range []struct {
		name, want string
		space      *assay.Space
		make       func(*assay.Space) assay.Searcher
	}{
		{"auto, a pool", "0c052b86761c770d", gridSpace(t), func(s *assay.Space) assay.Searcher {
			return NewAuto(s, AutoOptions{Seed: 3})
		}},
		{"auto, no pool", "00e021cdff397320", mixedSpace(), func(s *assay.Space) assay.Searcher {
			return NewAuto(s, AutoOptions{Seed: 3})
		}},
		{"auto that counts large improvements, a pool", "8128928438aec0f4", gridSpace(t), countLarge},
		{"auto that counts large improvements, no pool", "f7a8925a43e86f46", mixedSpace(), countLarge},
		{"bayes, a pool", "e7d86deed87a6752", gridSpace(t), func(s *assay.Space) assay.Searcher {
			return NewBayes(s, BayesOptions{Learner: model.Forest{Trees: 20, Seed: 3}, Seed: 3})
		}},
		{"bayes, no pool", "bf2a02fd5654ba77", mixedSpace(), func(s *assay.Space) assay.Searcher {
			return NewBayes(s, BayesOptions{Learner: model.Forest{Trees: 20, Seed: 3}, Seed: 3})
		}},
	} {
		s := tt.make(tt.space)
		h := fnv.New64a()
		for i := range 30 {
			ps, err := s.Ask(1 + i%2)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range ps {
				fmt.Fprintln(h, p.Config.Key())
				tr := doneTrial(p, mixedValue(tt.space, p.Config))
				switch {
				case p.ID%7 == 3:
					tr.State = assay.Infeasible
				case p.ID%11 == 5:
					tr.State = assay.Failed
				case p.ID%5 == 4:
					tr.State, tr.Value = assay.Censored, tr.Value/2
				}
				if err := s.Tell(tr); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := fmt.Sprintf("%016x", h.Sum64()); got != tt.want {
			t.Errorf("%s: the proposals have the sum %s, want %s", tt.name, got, tt.want)
		}
	}
}
