package assay

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// scattered is a list of n configurations of parameters of each kind, few of which are neighbours, and some twice.
func scattered(t *testing.T, n int, seed uint64) (*Space, []Config) {
	t.Helper()
	ps := []Param{
		{Name: "i", Kind: Integer, Lo: -3, Hi: 3},
		{Name: "x", Kind: Real, Lo: 0, Hi: 1},
		{Name: "c", Kind: Categorical, Levels: []string{"a", "b", "c"}},
		{Name: "o", Kind: Ordinal, Levels: []string{"1", "2", "4"}},
		{Name: "p", Kind: Permutation, Levels: []string{"u", "v", "w"}},
		{Name: "s", Kind: Switch, Levels: []string{"off", "on"}},
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var list []Config
	for len(list) < n {
		c := make(Config, len(ps))
		for i, p := range ps {
			c[i] = p.FromUnit(float64(rng.IntN(9)) / 9)
		}
		list = append(list, c)
	}
	s, err := NewList(ps, list)
	if err != nil {
		t.Fatal(err)
	}
	var once []Config
	for _, c := range list {
		if !slices.ContainsFunc(once, c.Equal) {
			once = append(once, c)
		}
	}
	return s, once
}

// A list has each configuration once, in its order, and nothing else.
func TestListHasItsOwn(t *testing.T) {
	s, once := scattered(t, 400, 1)
	if got := slices.Collect(s.All()); !slices.EqualFunc(got, once, Config.Equal) {
		t.Errorf("%d configurations, want %d in their order", len(got), len(once))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		c := make(Config, s.Dim())
		for i, p := range s.Params {
			c[i] = p.FromUnit(float64(rng.IntN(9)) / 9)
		}
		if got, want := s.Contains(c), slices.ContainsFunc(once, c.Equal); got != want {
			t.Fatalf("%v: contained %v, want %v", c, got, want)
		}
	}
	if s.Contains(once[0][:3]) || s.Contains(nil) {
		t.Error("a configuration of fewer coordinates is contained")
	}
}

// -0 is 0, as everywhere.
func TestListTakesZeroForZero(t *testing.T) {
	negative := Config{0}
	negative[0] *= -1
	s, err := NewList([]Param{{Name: "i", Kind: Integer, Lo: -3, Hi: 3}}, []Config{{0}, negative, {1}})
	if err != nil || s.Size().N != 2 || !s.Contains(negative) {
		t.Errorf("%v, %v: want 0 and 1", s, err)
	}
}

// The nearest in a list are the same as by all distances, the first among equals: one configuration from
// anywhere, and the ones about a listed one.
func TestListIsSearchedExactly(t *testing.T) {
	for seed := range uint64(5) {
		s, once := scattered(t, 30+40*int(seed), seed)
		rng := rand.New(rand.NewPCG(seed, 3))
		for range 200 {
			c := make(Config, s.Dim())
			for i, p := range s.Params {
				c[i] = p.FromUnit(rng.Float64())
			}
			order := slices.Clone(once)
			slices.SortStableFunc(order, func(a, b Config) int { return cmp.Compare(s.distance2(a, c), s.distance2(b, c)) })
			if got := s.Nearest(c); !got.Equal(order[0]) {
				t.Fatalf("nearest of %v is %v, want %v", c, got, order[0])
			}
			center := once[rng.IntN(len(once))]
			order = slices.DeleteFunc(slices.Clone(once), center.Equal)
			slices.SortStableFunc(order, func(a, b Config) int {
				return cmp.Compare(s.distance2(a, center), s.distance2(b, center))
			})
			n := 1 + rng.IntN(15)
			if got := s.nearestListed(center, n); !slices.EqualFunc(got, order[:min(n, len(order))], Config.Equal) {
				t.Fatalf("%d nearest of %v are %v, want %v", n, center, got, order[:n])
			}
			if got, want := s.Project(c, center), projected(s, once, c, center); !got.Equal(want) {
				t.Fatalf("%v from %v is projected to %v, want %v", c, center, got, want)
			}
		}
	}
}

// A look-up and a pass over all find the same configurations that differ in one parameter alone. The
// neighbours are the next of them, or else the nearest ones.
func TestListNeighboursAreFoundBothWays(t *testing.T) {
	for seed := range uint64(4) {
		s, once := scattered(t, 60+400*int(seed), seed)
		for _, c := range once {
			look, pass := s.list.besideByLookup(c), s.list.besideByPass(c)
			if !slices.EqualFunc(look, pass, slices.Equal) {
				t.Fatalf("beside %v: %v by look-ups, %v by a pass", c, look, pass)
			}
			var want []Config
			for i, p := range s.Params {
				var differ []Config
				for _, l := range once {
					d := l.Clone()
					if d[i] = c[i]; l[i] != c[i] && d.Equal(c) {
						differ = append(differ, l)
					}
				}
				if p.Ordered() {
					slices.SortFunc(differ, func(a, b Config) int { return cmp.Compare(a[i], b[i]) })
					at, _ := slices.BinarySearchFunc(differ, c[i], func(l Config, x float64) int { return cmp.Compare(l[i], x) })
					up, down := differ[at:min(at+1, len(differ))], differ[max(at-1, 0):at]
					differ = slices.Concat(up, down)
				}
				want = append(want, differ...)
			}
			if want == nil {
				want = s.nearestListed(c, 2*s.Dim())
			}
			if got := s.Neighbours(c); !slices.EqualFunc(got, want, Config.Equal) {
				t.Fatalf("neighbours of %v are %v, want %v", c, got, want)
			}
		}
	}
}

// projected is Project in a list, as its comment has it.
func projected(s *Space, list []Config, x, center Config) Config {
	c := make(Config, len(x))
	for i, p := range s.Params {
		c[i] = p.roundTowards(x[i], center[i])
	}
	best := center
	for _, l := range list {
		if s.distance2(l, c) < s.distance2(best, c) && s.distance2(l, center) <= s.distance2(c, center) {
			best = l
		}
	}
	return best
}

// Nothing is allocated for each configuration of a list: a million of them would cost twice their room.
func TestListAllocatesAtOnce(t *testing.T) {
	ps := []Param{{Name: "i", Kind: Integer, Lo: 0, Hi: 99}, {Name: "j", Kind: Integer, Lo: 0, Hi: 99}}
	var list []Config
	for i := range 100 {
		for j := range 100 {
			list = append(list, Config{float64(i), float64(j)})
		}
	}
	var s *Space
	made := testing.AllocsPerRun(3, func() {
		var err error
		if s, err = NewList(ps, list); err != nil {
			t.Fatal(err)
		}
	})
	if made > float64(len(list))/10 {
		t.Errorf("%v allocations for %d configurations", made, len(list))
	}
	far := Config{50, 50}
	if n := testing.AllocsPerRun(3,
		func() { s.Neighbours(far); s.nearestListed(far, 4); s.Nearest(Config{3.4, 7.7}) }); n > 100 {
		t.Errorf("%v allocations for a look at the neighbours", n)
	}
}

func ExampleNewList_nearest() {
	s, err := NewList([]Param{{Name: "i", Kind: Integer, Lo: 0, Hi: 9}}, []Config{{1}, {4}, {9}})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Nearest(Config{6}))
	// Output: [4]
}
