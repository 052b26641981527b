package search

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestGrowConformance(t *testing.T) {
	for _, minimal := range []bool{false, true} {
		t.Run(fmt.Sprint("minimal=", minimal), func(t *testing.T) {
			assaytest.TestSearcher(t, func(space *assay.Space) assay.Searcher {
				return NewPRO(space, SimplexOptions{Grow: true, Minimal: minimal, Seed: 3})
			}, assaytest.SearcherOptions{})
		})
	}
}

// Around (50, 50) with r = 0.2, x has its minimum at 100: its better vertex moves
// out to r = 1, where the extent ends. y has its minimum at 60, which the first
// pair hits: the vertex beyond is worse, so it stays. Each step tries only points that grow, and no
// step the worse side.
// Reference: Tabatabaee et al. 2005, section 3.2.3
func TestGrow(t *testing.T) {
	f := func(c assay.Config) float64 { return (100-c[0])*(100-c[0]) + 3*(c[1]-60)*(c[1]-60) }
	p := NewPRO(intSpace(t, 2, 100), SimplexOptions{Grow: true})
	got := steps(t, p, f, 5)
	sameSteps(t, got, [][]assay.Config{
		{{60, 50}, {40, 50}, {50, 60}, {50, 40}},
		{{70, 50}, {50, 70}},
		{{90, 50}},
		{{100, 50}}, // r = 1.6 is 1
		// The reflections around (100, 50) of (50, 60), (50, 40) and (40, 50), whose x
		// is drawn back to 100; the last is (100, 50) itself.
		{{100, 40}, {100, 60}},
	})
}

// The search equals the one without growing after one more step if nothing gets better by growing.
func TestGrowWithoutGain(t *testing.T) {
	f := bowl(55, 50)
	with := steps(t, NewPRO(intSpace(t, 2, 100), SimplexOptions{Grow: true}), f, 6)
	without := steps(t, NewPRO(intSpace(t, 2, 100), SimplexOptions{}), f, 5)
	if n := len(with[1]); n != 2 {
		t.Errorf("the second step has %d points, want the 2 of twice the size", n)
	}
	sameSteps(t, append(with[:1:1], with[2:]...), without)
}

// Every search ends, runs the initial simplex first, takes at most three more
// steps to grow from r = 0.2, and ends with a simplex that has the best of all.
func TestGrowProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		params := []assay.Param{
			{Name: "a", Kind: assay.Integer, Lo: 0, Hi: float64(rapid.IntRange(1, 40).Draw(t, "hi"))},
			{Name: "b", Kind: assay.Ordinal, Levels: []string{"1", "2", "4", "8"}},
			{Name: "c", Kind: assay.Categorical, Levels: []string{"x", "y", "z"}},
			{Name: "d", Kind: assay.Switch, Levels: []string{"off", "on"}},
		}
		space, err := assay.NewSpace(params)
		if err != nil {
			t.Fatal(err)
		}
		weight := rapid.SliceOfN(rapid.Float64Range(-2, 2), 4, 4).Draw(t, "weight")
		opts := SimplexOptions{
			Grow: true, Minimal: rapid.Bool().Draw(t, "minimal"), Remember: true,
			Seed: rapid.Uint64().Draw(t, "seed"),
		}
		p := NewPRO(space, opts)
		best := 0.0
		first := true
		for range 1000 {
			ps, err := p.Ask(1000)
			if err == assay.ErrDone {
				return
			}
			for _, q := range ps {
				v := 0.0
				for i, x := range q.Config {
					v += weight[i] * x
				}
				if v < best || first {
					best, first = v, false
				}
				if err := p.Tell(doneTrial(q, v)); err != nil {
					t.Fatal(err)
				}
			}
			if p.best.value != best {
				t.Fatalf("the best is %v, want %v", p.best.value, best)
			}
		}
		t.Fatal("the search does not end")
	})
}
