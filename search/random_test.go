package search

import (
	"errors"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// In a space of 2^60 configurations nothing is enumerated or remembered.
func TestRandomHuge(t *testing.T) {
	var params []assay.Param
	for _, name := range []string{"a", "b", "c", "d"} {
		params = append(params, assay.Param{Name: name, Kind: assay.Integer, Lo: 0, Hi: 1<<15 - 1})
	}
	s, err := assay.NewSpace(params)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRandom(s, 1)
	if r.order == nil {
		t.Fatal("the space is not walked by index")
	}
	seen := visited{}
	for _, p := range mustAsk(t, r, 5000) {
		if !seen.add(p.Config) {
			t.Fatalf("%s twice", s.Text(p.Config))
		}
	}
	if len(r.visited) > 0 {
		t.Errorf("%d configurations are remembered", len(r.visited))
	}
}

// Uniform over 12 configurations: chi-squared of the first proposal of 6,000
// seeds, 11 degrees of freedom; 37.4 has probability 1e-4.
func TestRandomUniform(t *testing.T) {
	s := oneParam(12)
	var count [12]float64
	const n = 6000
	for seed := range uint64(n) {
		count[int(mustAsk(t, NewRandom(s, seed), 1)[0].Config[0])]++
	}
	var chi2 float64
	for _, c := range count {
		chi2 += (c - n/12) * (c - n/12) / (n / 12)
	}
	if chi2 > 37.4 {
		t.Errorf("chi-squared %v of %v", chi2, count)
	}
}

// A finite space that cannot be indexed, for its related group has too many
// admissible tuples, is drawn from without repetition.
func TestRandomUnindexed(t *testing.T) {
	testbed.Long(t)
	var params []assay.Param
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		params = append(params, assay.Param{Name: name, Kind: assay.Integer, Lo: 0, Hi: 199})
	}
	s, err := assay.NewSpace(params, assay.Relation{
		Text: "a + b + c + d + e + f != 3", Params: []int{0, 1, 2, 3, 4, 5},
		Holds: func(c assay.Config) bool { return c[0]+c[1]+c[2]+c[3]+c[4]+c[5] != 3 },
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Indexed() {
		t.Fatal("the space is indexed: the test needs a larger one")
	}
	for name, searcher := range map[string]assay.Searcher{
		"random": NewRandom(s, 1), "sobol": NewSobol(s, 1),
		"grid": NewGrid(s, GridOptions{}),
	} {
		seen := visited{}
		for _, p := range mustAsk(t, searcher, 3000) {
			if !seen.add(p.Config) || !s.Contains(p.Config) {
				t.Fatalf("%s: %s is repeated or inadmissible", name, s.Text(p.Config))
			}
		}
	}
}

// A continuous parameter has at most a million values of six digits; one whose
// bounds are nearly equal has few, and the search ends.
func TestRandomNarrowReal(t *testing.T) {
	s, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Real, Lo: 1, Hi: 1.0000000000000004}})
	if err != nil {
		t.Fatal(err)
	}
	for name, searcher := range map[string]assay.Searcher{"random": NewRandom(s, 1), "sobol": NewSobol(s, 1)} {
		n := 0
		for {
			ps, err := searcher.Ask(10)
			if errors.Is(err, assay.ErrDone) {
				break
			}
			if err != nil || n > 100 {
				t.Fatalf("%s: %v after %d proposals", name, err, n)
			}
			n += len(ps)
		}
		if n < 1 || n > 3 {
			t.Errorf("%s: %d proposals of at most 3 values", name, n)
		}
	}
}

func TestRandomSkipsObserved(t *testing.T) {
	s := oneParam(5)
	r := NewRandom(s, 1)
	if err := r.Observe(doneTrial(assay.Proposal{Config: assay.Config{3}}, 1),
		doneTrial(assay.Proposal{Config: assay.Config{99}}, 1)); err != nil {
		t.Fatal(err)
	}
	ps := mustAsk(t, r, 10)
	if len(ps) != 4 {
		t.Errorf("%d proposals, want 4", len(ps))
	}
	if err := r.Observe(doneTrial(assay.Proposal{Config: assay.Config{1, 2}}, 1)); err == nil {
		t.Error("a trial of two coordinates can be observed in a space of one parameter")
	}
}

func TestAskPanics(t *testing.T) {
	for name, s := range map[string]assay.Searcher{
		"random": NewRandom(oneParam(5), 1), "grid": NewGrid(oneParam(5), GridOptions{}),
		"sobol": NewSobol(oneParam(5), 1), "lhs": NewLHS(oneParam(5), 2, 1),
		"cache": Cache(&loop{}), "first": First(&loop{}), "replicate": Replicate(&loop{}, 1, slices.Min),
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: Ask(0) does not panic", name)
				}
			}()
			_, _ = s.Ask(0)
		}()
	}
}
