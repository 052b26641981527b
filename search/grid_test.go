package search

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

func TestGridOrder(t *testing.T) {
	s, err := assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Real, Lo: 0, Hi: 10},
		{Name: "rate", Kind: assay.Real, Lo: 0.01, Hi: 1, Log: true},
		{Name: "on", Kind: assay.Switch, Levels: []string{"off", "on"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ps := mustAsk(t, NewGrid(s, GridOptions{Levels: 3}), 100)
	var want []assay.Config
	for _, x := range []float64{0, 5, 10} {
		for _, r := range []float64{0.01, 0.1, 1} {
			for _, on := range []float64{0, 1} {
				want = append(want, assay.Config{x, r, on})
			}
		}
	}
	if !slices.EqualFunc(ps, want, func(p assay.Proposal, c assay.Config) bool { return p.Config.Equal(c) }) {
		t.Errorf("got %v, want %v", ps, want)
	}
	for levels, n := range map[int]int{0: 50, 1: 2, 2: 8} {
		if got := len(mustAsk(t, NewGrid(s, GridOptions{Levels: levels}), 1000)); got != n {
			t.Errorf("%d levels: %d proposals, want %d", levels, got, n)
		}
	}
	if p := mustAsk(t, NewGrid(s, GridOptions{Levels: 1}), 1)[0]; !p.Config.Equal(assay.Config{5, 0.1, 0}) {
		t.Errorf("one level: got %v, want the middle", p.Config)
	}
}

// The walk over a space that is not indexed visits the members of the filtered full product, in that order.
func TestGridRelations(t *testing.T) {
	params := []assay.Param{
		{Name: "x", Kind: assay.Real, Lo: 0, Hi: 1},
		{Name: "i", Kind: assay.Integer, Lo: 0, Hi: 4},
		{Name: "c", Kind: assay.Categorical, Levels: []string{"p", "q", "r"}},
		{Name: "y", Kind: assay.Real, Lo: -1, Hi: 1},
	}
	holds := []func(c assay.Config) bool{
		func(c assay.Config) bool { return 4*c[0] <= c[1] },
		func(c assay.Config) bool { return c[3] != 0 || c[2] == 1 },
	}
	s, err := assay.NewSpace(params,
		assay.Relation{Text: "4*x <= i", Params: []int{1, 0}, Holds: holds[0]},
		assay.Relation{Text: "y != 0 || c == q", Params: []int{2, 3}, Holds: holds[1]})
	if err != nil {
		t.Fatal(err)
	}
	var want []assay.Config
	for _, x := range []float64{0, 0.25, 0.5, 0.75, 1} {
		for i := range 5 {
			for k := range 3 {
				for _, y := range []float64{-1, -0.5, 0, 0.5, 1} {
					if c := (assay.Config{x, float64(i), float64(k), y}); holds[0](c) && holds[1](c) {
						want = append(want, c)
					}
				}
			}
		}
	}
	g := NewGrid(s, GridOptions{})
	var got []assay.Config
	for {
		ps, err := g.Ask(7)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		for _, p := range ps {
			got = append(got, p.Config)
		}
	}
	if !slices.EqualFunc(got, want, assay.Config.Equal) {
		t.Errorf("got %d configurations, want %d: %v and %v", len(got), len(want), got, want)
	}
}

// A relation between the first two of 30 parameters of 10 values cuts off all
// but one branch of the product.
func TestGridPrunes(t *testing.T) {
	params := []assay.Param{{Name: "x", Kind: assay.Real, Lo: 0, Hi: 1}, {Name: "y", Kind: assay.Real, Lo: 0, Hi: 1}}
	for i := range 28 {
		params = append(params, assay.Param{Name: fmt.Sprintf("p%d", i), Kind: assay.Integer, Lo: 0, Hi: 9})
	}
	s, err := assay.NewSpace(params, assay.Relation{
		Text: "x + y > 1.8", Params: []int{0, 1},
		Holds: func(c assay.Config) bool { return c[0]+c[1] > 1.8 },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range mustAsk(t, NewGrid(s, GridOptions{}), 200) {
		if p.Config[0] != 1 || p.Config[1] != 1 {
			t.Fatalf("proposed %s", s.Text(p.Config))
		}
	}
}

func TestGridNothingFits(t *testing.T) {
	s, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Real, Lo: 0, Hi: 1}},
		assay.Relation{
			Text: "0.3 < x < 0.4", Params: []int{0},
			Holds: func(c assay.Config) bool { return c[0] > 0.3 && c[0] < 0.4 },
		})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewGrid(s, GridOptions{}).Ask(1); !errors.Is(err, assay.ErrDone) {
		t.Errorf("got %v, want ErrDone", err)
	}
}

// A space that is indexed is gone through in its own order, each configuration once, whatever
// number is asked for, and then it is done.
func TestGridIndexed(t *testing.T) {
	s, err := assay.NewSpace([]assay.Param{
		{Name: "i", Kind: assay.Integer, Lo: 1, Hi: 3},
		{Name: "on", Kind: assay.Switch, Levels: []string{"off", "on"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []assay.Config{{1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 0}, {3, 1}}
	for _, n := range []int{1, 4, 6, 100} {
		g := NewGrid(s, GridOptions{})
		var got []assay.Config
		for range 2 * len(want) {
			ps, err := g.Ask(n)
			if errors.Is(err, assay.ErrDone) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range ps {
				got = append(got, p.Config)
				mustTell(t, g, doneTrial(p, 1))
			}
		}
		if !slices.EqualFunc(got, want, assay.Config.Equal) {
			t.Errorf("%d at a time: got %v, want %v", n, got, want)
		}
	}
}
