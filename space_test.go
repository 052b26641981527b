package assay_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

func ints(name string, lo, hi float64) assay.Param {
	return assay.Param{Name: name, Kind: assay.Integer, Lo: lo, Hi: hi}
}

// sum relates parameters: the sum of their coordinates is at most most.
func sum(most float64, params ...int) assay.Relation {
	return assay.Relation{
		Text:   fmt.Sprintf("sum%v <= %v", params, most),
		Params: params,
		Holds: func(c assay.Config) bool {
			var s float64
			for _, i := range params {
				s += c[i]
			}
			return s <= most
		},
	}
}

func mustSpace(t testing.TB, params []assay.Param, rels ...assay.Relation) *assay.Space {
	t.Helper()
	s, err := assay.NewSpace(params, rels...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSize(t *testing.T) {
	wide := func(n int) (ps []assay.Param) {
		for i := range n {
			ps = append(ps, ints(fmt.Sprint("p", i), 0, 999))
		}
		return ps
	}
	for _, tt := range []struct {
		name   string
		params []assay.Param
		rels   []assay.Relation
		want   string
	}{
		{"product", wide(2), nil, "1000000"},
		{
			"up to 2^63",
			[]assay.Param{ints("a", 1, 1<<31), ints("b", 1, 1<<31), ints("c", 0, 0)},
			nil,
			"4611686018427387904",
		},
		{"beyond", wide(21), nil, "about 10^63"},
		{"continuous", []assay.Param{{Name: "x", Kind: assay.Real, Hi: 1}, ints("a", 1, 2)}, nil, "infinite"},
		{"related", wide(3)[:2], []assay.Relation{sum(3, 0, 1)}, "10"},
		{"two groups", wide(4), []assay.Relation{sum(3, 0, 1), sum(1, 2, 3)}, "30"},
		{"one value", []assay.Param{ints("a", 3, 3)}, nil, "1"},
		{"related and wide", wide(20), []assay.Relation{sum(3, 0, 19)}, "about 10^55"},
		{"too many to visit", wide(3), []assay.Relation{sum(2997, 0, 1, 2)}, "about 10^9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := mustSpace(t, tt.params, tt.rels...).Size().String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNoPoint(t *testing.T) {
	never := assay.Relation{Text: "false", Params: []int{0}, Holds: func(assay.Config) bool { return false }}
	for name, params := range map[string][]assay.Param{
		"finite":     {ints("a", 0, 9)},
		"continuous": {{Name: "a", Kind: assay.Real, Hi: 1}},
	} {
		if _, err := assay.NewSpace(params, never); !errors.Is(err, assay.ErrEmpty) {
			t.Errorf("%s: got %v, want ErrEmpty", name, err)
		}
	}
	constant := assay.Relation{Text: "1 > 2", Holds: func(assay.Config) bool { return false }}
	if _, err := assay.NewSpace([]assay.Param{ints("a", 0, 9)}, constant); !errors.Is(err, assay.ErrEmpty) {
		t.Errorf("constant: got %v, want ErrEmpty", err)
	}
	if _, err := assay.NewList([]assay.Param{ints("a", 0, 9)}, []assay.Config{{1}}, never); !errors.Is(err,
		assay.ErrEmpty) {
		t.Errorf("list: got %v, want ErrEmpty", err)
	}
}

// drawSpace draws a space of any kind that has a point.
func drawSpace(t *rapid.T) *assay.Space {
	n := rapid.IntRange(1, 4).Draw(t, "dims")
	var params []assay.Param
	for i := range n {
		params = append(params, drawParam(t, fmt.Sprint("p", i)))
	}
	var rels []assay.Relation
	if rapid.Bool().Draw(t, "related") {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		ua, ub := params[a], params[b]
		dep := []int{a}
		if a != b {
			dep = append(dep, b)
		}
		rels = append(rels, assay.Relation{Text: "u(a) + u(b) <= 1.2", Params: dep, Holds: func(c assay.Config) bool {
			return ua.ToUnit(c[a])+ub.ToUnit(c[b]) <= 1.2
		}})
	}
	s, err := assay.NewSpace(params, rels...)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "listed") {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var list []assay.Config
		for range rapid.IntRange(1, 20).Draw(t, "length") {
			c, _ := s.Draw(rng)
			list = append(list, c)
		}
		if s, err = assay.NewList(params, list, rels...); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestSpaceOperationsStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		c, ok := s.Draw(rng)
		if !ok || !s.Contains(c) {
			t.Fatalf("Draw gives %v, %v", c, s.Check(c))
		}
		for _, n := range s.Neighbours(c) {
			if !s.Contains(n) || n.Equal(c) {
				t.Fatalf("neighbour %v of %v: %v", n, c, s.Check(n))
			}
		}
		x := make([]float64, s.Dim())
		for i := range x {
			x[i] = c[i] + rng.NormFloat64()*50
		}
		p := s.Project(x, c)
		if !s.Contains(p) {
			t.Fatalf("Project(%v) about %v gives %v: %v", x, c, p, s.Check(p))
		}
		if q := s.Project(c, c); !q.Equal(c) {
			t.Fatalf("Project moves its centre %v to %v", c, q)
		}
		if n := s.Nearest(x); !s.Contains(n) {
			t.Fatalf("Nearest(%v) gives %v: %v", x, n, s.Check(n))
		}
		if n := s.Nearest(c); !n.Equal(c) {
			t.Fatalf("Nearest moves %v to %v", c, n)
		}
		texts := map[string]string{}
		for i, q := range s.Params {
			texts[q.Name] = q.Text(c[i])
		}
		if d, err := s.Parse(texts); err != nil && s.Relations == nil && !s.Listed() {
			t.Fatalf("Parse(%v) = %v, %v", texts, d, err)
		}
		if got, want := len(s.Encode(c)), len(s.Features()); got != want {
			t.Fatalf("%d features, %d names", got, want)
		}
		for _, f := range s.Encode(c) {
			if f < 0 || f > 1 || math.IsNaN(f) {
				t.Fatalf("feature %v of %v", f, c)
			}
		}
	})
}

// At enumerates exactly the admissible points: the same set as brute force over
// the product, each once.
func TestAtIsBruteForce(t *testing.T) {
	params := []assay.Param{
		ints("a", 0, 4), ints("b", 0, 5),
		{Name: "c", Kind: assay.Categorical, Levels: []string{"x", "y", "z"}},
		ints("d", 1, 3),
	}
	s := mustSpace(t, params, sum(5, 0, 3), sum(6, 3, 1))
	want := map[string]bool{}
	for a := range 5 {
		for b := range 6 {
			for c := range 3 {
				for d := 1; d <= 3; d++ {
					if a+d <= 5 && d+b <= 6 {
						want[assay.Config{float64(a), float64(b), float64(c), float64(d)}.Key()] = true
					}
				}
			}
		}
	}
	got := map[string]bool{}
	for c := range s.All() {
		if got[c.Key()] {
			t.Fatalf("%v twice", c)
		}
		got[c.Key()] = true
	}
	if len(got) != len(want) || int64(len(got)) != s.Size().N {
		t.Fatalf("%d points, size %v, want %d", len(got), s.Size(), len(want))
	}
	for k := range want {
		if !got[k] {
			t.Fatal("a point is missing")
		}
	}
}

// Draws under a relation are uniform: chi-square over the 10 points of a
// triangle, 9 degrees of freedom, 27.9 is the 99.9 % quantile.
func TestDrawIsUniform(t *testing.T) {
	s := mustSpace(t, []assay.Param{ints("a", 0, 9), ints("b", 0, 9)}, sum(3, 0, 1))
	rng := rand.New(rand.NewPCG(1, 1))
	count := map[string]int{}
	const n = 10000
	for range n {
		c, _ := s.Draw(rng)
		count[c.Key()]++
	}
	var chi2 float64
	for _, k := range count {
		d := float64(k) - n/10
		chi2 += d * d / (n / 10)
	}
	if len(count) != 10 || chi2 > 27.9 {
		t.Errorf("%d points, chi-square %.1f", len(count), chi2)
	}
}

// Tabatabaee et al. 2005, §3.2.1: a discrete coordinate is rounded towards the
// transformation centre, and clamped first.
func TestProjectRoundsTowardsCentre(t *testing.T) {
	s := mustSpace(t, []assay.Param{ints("a", 0, 10), {
		Name: "b", Kind: assay.Ordinal,
		Levels: []string{"1", "2", "4", "8"},
	}, {Name: "x", Kind: assay.Real, Hi: 1}})
	center := assay.Config{5, 1, 0.5}
	for _, tt := range []struct{ x, want assay.Config }{
		{assay.Config{6.9, 1.9, 0.75}, assay.Config{6, 1, 0.75}},
		{assay.Config{3.1, 0.1, 0.25}, assay.Config{4, 1, 0.25}},
		{assay.Config{99, 99, 99}, assay.Config{10, 3, 1}},
		{assay.Config{-99, -99, -99}, assay.Config{0, 0, 0}},
		{assay.Config{7, 2, 0.5}, assay.Config{7, 2, 0.5}},
	} {
		if got := s.Project(tt.x, center); !got.Equal(tt.want) {
			t.Errorf("Project(%v) = %v, want %v", tt.x, got, tt.want)
		}
	}
}

func TestNeighboursOfList(t *testing.T) {
	params := []assay.Param{ints("a", 0, 9), ints("b", 0, 9)}
	s, err := assay.NewList(params, []assay.Config{{0, 0}, {2, 0}, {5, 0}, {0, 3}, {7, 7}, {0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Size().N != 5 {
		t.Errorf("size %v, want 5: the repetition is dropped", s.Size())
	}
	if got, want := fmt.Sprint(s.Neighbours(assay.Config{0, 0})), "[[2 0] [0 3]]"; got != want {
		t.Errorf("neighbours %s, want %s", got, want)
	}
	if got := s.Neighbours(assay.Config{7, 7}); len(got) != 4 {
		t.Errorf("an isolated point has neighbours %v, want the 4 nearest", got)
	}
}

func TestConfigKeys(t *testing.T) {
	if (assay.Config{0, 1}).Key() != (assay.Config{math.Copysign(0, -1), 1}).Key() {
		t.Error("0 and -0 have different keys")
	}
	if (assay.Config{1, 2}).Key() == (assay.Config{2, 1}).Key() {
		t.Error("different points have one key")
	}
	if c := (assay.Config{1}); slices.Equal(c, c.Clone()) != true {
		t.Error("a clone differs")
	}
}

func ExampleNewSpace() {
	s, err := assay.NewSpace([]assay.Param{
		{Name: "level", Kind: assay.Integer, Lo: 1, Hi: 19},
		{Name: "threads", Kind: assay.Ordinal, Levels: []string{"1", "2", "4"}},
	}, assay.Relation{
		Text: "level < 10 || threads == 1", Params: []int{0, 1},
		Holds: func(c assay.Config) bool { return c[0] < 10 || c[1] == 0 },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Size(), s.Text(s.At(2)))
	// Output: 37 level=1 threads=4
}

func TestSpaceParse(t *testing.T) {
	s := mustSpace(t, []assay.Param{
		ints("a", 0, 9), {Name: "b", Kind: assay.Switch, Levels: []string{"false", "true"}},
	}, sum(9, 0, 1))
	c, err := s.Parse(map[string]string{"a": "4", "b": "true"})
	if err != nil || !c.Equal(assay.Config{4, 1}) {
		t.Fatalf("got %v, %v", c, err)
	}
	if got, want := fmt.Sprint(s.Values(c)), "map[a:4 b:true]"; got != want {
		t.Errorf("values %s, want %s", got, want)
	}
	for want, texts := range map[string]map[string]string{
		`no parameter "c"`:           {"a": "4", "b": "true", "c": "1"},
		`no value for parameter "b"`: {"a": "4"},
		`"four" is not a number`:     {"a": "four", "b": "true"},
		"does not satisfy":           {"a": "9", "b": "true"},
	} {
		if _, err := s.Parse(texts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want an error with %q", texts, err, want)
		}
	}
}

// NewSpace checks its parts, and the error names the wrong one.
func TestSpaceFlaws(t *testing.T) {
	always := func(params ...int) assay.Relation {
		return assay.Relation{Text: "true", Params: params, Holds: func(assay.Config) bool { return true }}
	}
	one := []assay.Param{ints("a", 0, 9)}
	for _, tt := range []struct {
		name, want string
		make       func() (*assay.Space, error)
	}{
		{"none", "at least one parameter", func() (*assay.Space, error) { return assay.NewSpace(nil) }},
		{
			"twice", `"a" is declared twice`, func() (*assay.Space,
				error,
			) {
				return assay.NewSpace(slices.Repeat(one, 2))
			},
		},
		{
			"beyond", "depends on parameter 1 of 1",
			func() (*assay.Space, error) { return assay.NewSpace(one, always(1)) },
		},
		{
			"below", "depends on parameter -1 of 1", func() (*assay.Space,
				error,
			) {
				return assay.NewSpace(one, always(-1))
			},
		},
		{
			"short", "configuration 2: a configuration of 0 coordinates for 1 parameters",
			func() (*assay.Space, error) { return assay.NewList(one, []assay.Config{{1}, {}}) },
		},
		{
			"outside", `configuration 1: parameter "a" has no value at coordinate 0.5`,
			func() (*assay.Space, error) { return assay.NewList(one, []assay.Config{{0.5}}) },
		},
	} {
		if _, err := tt.make(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

func TestAtPanicsOutside(t *testing.T) {
	for name, s := range map[string]*assay.Space{
		"finite":     mustSpace(t, []assay.Param{ints("a", 0, 9)}),
		"continuous": mustSpace(t, []assay.Param{{Name: "x", Kind: assay.Real, Hi: 1}}),
	} {
		for _, i := range []int64{-1, 10} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: At(%d) returns", name, i)
					}
				}()
				s.At(i)
			}()
		}
	}
}
