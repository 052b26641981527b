package search

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

// graspTold returns a GRASP searcher that was told n trials of f, in a space of
// categories and an integer.
func graspTold(t *testing.T, opts GRASPOptions, n int, f func(assay.Config) float64) *GRASP {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "a", Kind: assay.Categorical, Levels: []string{"p", "q", "r", "s"}},
		{Name: "b", Kind: assay.Switch, Levels: []string{"off", "on"}},
		{Name: "c", Kind: assay.Integer, Hi: 9},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewGRASP(space, opts)
	for _, p := range mustAsk(t, NewRandom(space, 4), n) {
		if err := s.Observe(doneTrial(p, f(p.Config))); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func separable(c assay.Config) float64 {
	return []float64{3, 0, 5, 4}[int(c[0])] + 2*c[1] + (c[2]-6)*(c[2]-6)/4
}

// With a candidate list of the best values alone a construction takes the best
// level of each parameter; with a list of all, every level as often.
// Reference: Feo and Resende 1995, §2 (the restricted candidate list)
func TestGRASPConstructs(t *testing.T) {
	s := graspTold(t, GRASPOptions{Alpha: -1}, 60, separable)
	for range 20 {
		if c := s.construct(); c[0] != 1 || c[1] != 0 || c[2] < 5 || c[2] > 7 {
			t.Errorf("a greedy construction is %v, want q, off and about 6", c)
		}
	}
	s = graspTold(t, GRASPOptions{Alpha: 1}, 60, separable)
	var count [4]int
	for range 2000 {
		count[int(s.construct()[0])]++
	}
	for l, n := range count {
		if n < 420 || n > 580 { // four standard deviations of 2000/4
			t.Errorf("a random construction has level %d in %d of 2000, want about 500", l, n)
		}
	}
}

// In between, better values are in more constructions, and not always the same.
func TestGRASPIsRandomized(t *testing.T) {
	s := graspTold(t, GRASPOptions{}, 60, separable)
	var count [10]int
	for range 500 {
		count[int(s.construct()[2])]++
	}
	if good := count[5] + count[6] + count[7]; good < 250 || count[6] == 500 || count[4]+count[8] < 10 ||
		count[0]+count[1] > 50 {
		t.Errorf("the values 0 to 9 of c in %v of 500 constructions; 6 is the best and 0 the worst", count)
	}
}

// The greedy values adapt: the best c depends on a, and a construction that has set a knows it.
func TestGRASPAdapts(t *testing.T) {
	f := func(c assay.Config) float64 {
		want := 1.0
		if c[0] >= 2 {
			want = 8
		}
		return (c[2] - want) * (c[2] - want)
	}
	s := graspTold(t, GRASPOptions{Alpha: -1}, 80, f)
	matches := make([]float64, len(s.trials))
	for k, v := range s.trials {
		matches[k] = 1 + 9*s.alike(0, 3, v.at[0])
	}
	if low, high := s.greedy(2, 1, matches), s.greedy(2, 8, matches); !(high < low) {
		t.Errorf("given s, the greedy value of 1 is %v and that of 8 is %v", low, high)
	}
}

// One by one, a local search ends only where no neighbour is better.
func TestGRASPEndsInLocalMinima(t *testing.T) {
	space := intSpace(t, 2, 20)
	f := func(c assay.Config) float64 { // two valleys
		a, b := (c[0]-4)*(c[0]-4)+(c[1]-15)*(c[1]-15), (c[0]-16)*(c[0]-16)+(c[1]-5)*(c[1]-5)
		return min(a, b+3)
	}
	s := NewGRASP(space, GRASPOptions{Seed: 9})
	var before *climb
	ended := 0
	for {
		ps, err := s.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		if c := s.by[ps[0].ID]; c != before && before != nil {
			ended++
			for _, n := range space.Neighbours(before.at.at) {
				if f(n) < before.at.value {
					t.Fatalf("a local search ended at %v, and %v is better", before.at, n)
				}
			}
		}
		before = s.by[ps[0].ID]
		mustTell(t, s, doneTrial(ps[0], f(ps[0].Config)))
	}
	if ended < 3 {
		t.Errorf("%d local searches in a space of 441", ended)
	}
}

// Local searches run side by side if a batch is larger than a neighbourhood.
func TestGRASPBatches(t *testing.T) {
	s := NewGRASP(intSpace(t, 2, 50), GRASPOptions{})
	for k := range 6 {
		ps := mustAsk(t, s, 20)
		if len(ps) != 20 {
			t.Fatalf("batch %d: %d proposals, want 20", k, len(ps))
		}
		for _, p := range ps[:15] { // some are late
			mustTell(t, s, doneTrial(p, separableInts(p.Config)))
		}
	}
}

func separableInts(c assay.Config) float64 { return (c[0]-9)*(c[0]-9) + (c[1]-33)*(c[1]-33) }

// Asked for several at once and told in any order, a local search goes on for as long as a trial of it is
// outstanding, and has ended when no trial is outstanding and nothing is left to ask around it.
func TestGRASPKeepsWhatIsOutstanding(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		space := intSpace(t, 2, 12)
		f := func(c assay.Config) float64 { return (c[0]-4)*(c[0]-4) + (c[1]-9)*(c[1]-9) }
		s := NewGRASP(space, GRASPOptions{Seed: rapid.Uint64().Draw(r, "seed"), Initial: 2})
		var running []assay.Proposal
		for range 25 {
			ps, err := s.Ask(rapid.IntRange(1, 6).Draw(r, "ask"))
			if errors.Is(err, assay.ErrDone) {
				break
			}
			if err != nil {
				r.Fatal(err)
			}
			running = append(running, ps...)
			for n := rapid.IntRange(0, len(running)).Draw(r, "tell"); n > 0; n-- {
				k := rapid.IntRange(0, len(running)-1).Draw(r, "which")
				mustTell(t, s, doneTrial(running[k], f(running[k].Config)))
				running = slices.Delete(running, k, k+1)
			}
			out := map[*climb]int{}
			for _, p := range running {
				if c := s.by[p.ID]; c != nil {
					out[c]++
				}
			}
			for c, n := range out {
				if c.out != n || !slices.Contains(s.climbs, c) {
					r.Fatalf("a search with %d trials outstanding has %d, and is kept: %v", n, c.out, slices.Contains(s.climbs, c))
				}
			}
			for _, c := range s.climbs {
				if c.out != out[c] {
					r.Fatalf("a search without trials outstanding has %d", c.out)
				}
			}
		}
	})
}

// A search that has ended is forgotten as soon as a new one begins.
func TestGRASPForgetsWhatHasEnded(t *testing.T) {
	s := NewGRASP(intSpace(t, 2, 20), GRASPOptions{Seed: 9})
	begun := map[*climb]bool{}
	for range 120 {
		p := mustAsk(t, s, 1)[0]
		if c := s.by[p.ID]; c != nil {
			begun[c] = true
			if len(s.climbs) != 1 || s.climbs[0] != c {
				t.Fatalf("%d searches are kept, one by one", len(s.climbs))
			}
		}
		mustTell(t, s, doneTrial(p, p.Config[0]+p.Config[1]))
	}
	if len(begun) < 2 {
		t.Errorf("%d searches in 120 trials", len(begun))
	}
}

// A construction chooses from all values of a parameter that has sixteen at most, and of any other from one of each
// sixteenth of its range.
func TestGRASPValues(t *testing.T) {
	for _, hi := range []float64{0, 1, 14, 15, 16, 159, 1599} {
		s := NewGRASP(intSpace(t, 1, hi), GRASPOptions{})
		got := s.values(0)
		if n := min(int(hi)+1, greedyValues); len(got) != n {
			t.Errorf("0 to %v: %d values, want %d", hi, len(got), n)
			continue
		}
		for k, x := range got {
			if hi < greedyValues && x != float64(k) {
				t.Errorf("0 to %v: value %d is %v", hi, k, x)
			}
			if part := x / (hi + 1) * greedyValues; hi >= 159 && int(part) != k {
				t.Errorf("0 to %v: value %d is %v, of another part", hi, k, x)
			}
		}
	}
}
