package search

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func cube(d int) *assay.Space {
	var params []assay.Param
	for i := range d {
		params = append(params, assay.Param{Name: string(rune('a' + i)), Kind: assay.Real, Lo: 0, Hi: 1})
	}
	s, err := assay.NewSpace(params)
	if err != nil {
		panic(err)
	}
	return s
}

// Each of n equal intervals of each axis gets one of n points.
func TestSpreadIsEven(t *testing.T) {
	s := cube(3)
	for name, searcher := range map[string]assay.Searcher{"lhs": NewLHS(s, 16, 4), "sobol": NewSobol(s, 4)} {
		ps := mustAsk(t, searcher, 16)
		for j := range 3 {
			seen := map[int]bool{}
			for _, p := range ps {
				seen[int(p.Config[j]*16)] = true
			}
			if len(seen) != 16 {
				t.Errorf("%s: axis %d has %d of 16 intervals", name, j, len(seen))
			}
		}
	}
}

// Within a relation the points of the sequence that break it are passed over, and the rest still
// fills the admissible part evenly: each of 4 quarters along x gets its share of 64 points under
// the diagonal within 3 points.
func TestSobolRelation(t *testing.T) {
	s, err := assay.NewSpace(cube(2).Params, assay.Relation{
		Text: "b <= a", Params: []int{0, 1},
		Holds: func(c assay.Config) bool { return c[1] <= c[0] },
	})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(5) {
		var count [4]float64
		for _, p := range mustAsk(t, NewSobol(s, seed), 64) {
			count[min(int(p.Config[0]*4), 3)]++
		}
		for q, n := range count {
			if want := 64 * float64(2*q+1) / 16; !(math.Abs(n-want) <= 3) {
				t.Errorf("seed %d: quarter %d has %v points, want about %v", seed, q, n, want)
			}
		}
	}
}

// A relation that leaves a ten-thousandth of the cube is still served.
func TestSobolNarrow(t *testing.T) {
	params := []assay.Param{
		{Name: "i", Kind: assay.Integer, Lo: 0, Hi: 199},
		{Name: "j", Kind: assay.Integer, Lo: 0, Hi: 199},
	}
	s, err := assay.NewSpace(params, assay.Relation{
		Text: "i == 7 && j < 4", Params: []int{0, 1},
		Holds: func(c assay.Config) bool { return c[0] == 7 && c[1] < 4 },
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, searcher := range map[string]assay.Searcher{"lhs": NewLHS(s, 9, 4), "sobol": NewSobol(s, 4)} {
		if ps := mustAsk(t, searcher, 9); len(ps) != 4 {
			t.Errorf("%s: %d proposals, want all 4", name, len(ps))
		}
	}
}

func TestSpreadFindsTheBowl(t *testing.T) {
	p := assaytest.Bowl()
	for name, searcher := range map[string]assay.Searcher{
		"lhs":   NewLHS(p.Space, 100, 4),
		"sobol": NewSobol(p.Space, 4), "random": NewRandom(p.Space, 4),
	} {
		best := math.Inf(1)
		for _, q := range mustAsk(t, searcher, 100) {
			best = min(best, p.Value(q.Config))
		}
		if best > 1.15*p.Optimum {
			t.Errorf("%s: best of 100 is %v", name, best)
		}
	}
}
