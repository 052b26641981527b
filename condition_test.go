package assay_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

// drawTree draws a space of 2 to 5 countable parameters, some of which are in force only where
// others are above their middle, and up to one relation. It returns its members too, found by
// trying every combination.
func drawTree(t *rapid.T) (*assay.Space, []assay.Config) {
	n := rapid.IntRange(2, 5).Draw(t, "dims")
	var params []assay.Param
	for i := range n {
		p := assay.Param{Name: fmt.Sprint("p", i)}
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			p.Kind, p.Lo, p.Hi = assay.Integer, 1, float64(rapid.IntRange(1, 4).Draw(t, "hi"))
		case 1:
			p.Kind, p.Levels = assay.Switch, []string{"off", "on"}
		case 2:
			p.Kind, p.Levels = assay.Categorical, []string{"x", "y", "z"}
		case 3:
			p.Kind, p.Levels = assay.Ordinal, []string{"1", "2", "4"}
		default:
			p.Kind, p.Levels = assay.Permutation, []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "length")]
		}
		params = append(params, p)
	}
	above := func(i int, c assay.Config) bool { return params[i].ToUnit(c[i]) >= 0.5 }
	// A condition reads only parameters that are earlier in a drawn order, so that none depends on itself.
	order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	})).Draw(t, "order")
	for k := 1; k < n; k++ {
		if rapid.Bool().Draw(t, "conditional") {
			on := order[rapid.IntRange(0, k-1).Draw(t, "on")]
			params[order[k]].When = &assay.Relation{
				Text: fmt.Sprintf("p%d is high", on), Params: []int{on},
				Holds: func(c assay.Config) bool { return above(on, c) },
			}
		}
	}
	active := func(c assay.Config, i int) bool {
		for params[i].When != nil {
			if i = params[i].When.Params[0]; !above(i, c) {
				return false
			}
		}
		return true
	}
	var rels []assay.Relation
	if rapid.Bool().Draw(t, "related") {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		rels = append(rels, assay.Relation{
			Text: "not both last", Params: slices.Compact(slices.Sorted(slices.Values([]int{a, b}))),
			Holds: func(c assay.Config) bool {
				return params[a].Count() == 1 || params[b].Count() == 1 ||
					params[a].ToUnit(c[a]) < 1 || params[b].ToUnit(c[b]) < 1
			},
		})
	}
	s, err := assay.NewSpace(params, rels...)
	if err != nil {
		t.Fatal(err)
	}
	all := []assay.Config{{}}
	for _, p := range params {
		var longer []assay.Config
		for _, c := range all {
			for i := range p.Count() {
				longer = append(longer, append(c.Clone(), p.At(i)))
			}
		}
		all = longer
	}
	return s, slices.DeleteFunc(all, func(c assay.Config) bool {
		for i, p := range params {
			if !active(c, i) && c[i] != p.Rest() {
				return true
			}
		}
		return slices.ContainsFunc(rels, func(r assay.Relation) bool {
			return !slices.ContainsFunc(r.Params, func(i int) bool { return !active(c, i) }) && !r.Holds(c)
		})
	})
}

// A space with conditions has no twins: counting, At, Contains, drawing, the nearest, the neighbours
// and texts agree with a search of every combination.
func TestConditionsAreBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, members := drawTree(t)
		want := keys(t, members)
		if got := s.Size().N; got != int64(len(members)) || !s.Indexed() {
			t.Fatalf("size %d, %d members", got, len(members))
		}
		texts, codes := map[string]bool{}, map[string]string{}
		for _, c := range slices.Collect(s.All()) {
			if !want[c.Key()] || texts[s.Text(c)] {
				t.Fatalf("%s is no member, or has a twin", s.Text(c))
			}
			texts[s.Text(c)] = true
			given := map[string]string{}
			for i, p := range s.Params {
				if s.Active(c, i) {
					given[p.Name] = p.Text(c[i])
				}
			}
			if back, err := s.Parse(given); err != nil || !back.Equal(c) || len(s.Values(c)) != len(given) {
				t.Fatalf("%s is read as %v, %v", s.Text(c), back, err)
			}
			code := s.Encode(c)
			if was, twin := codes[fmt.Sprint(code)]; twin {
				t.Fatalf("%s and %s are both encoded as %v", s.Text(c), was, code)
			}
			codes[fmt.Sprint(code)] = s.Text(c)
			for i, x := range code {
				f := s.Features()[i]
				active, want := s.Active(c, f.Param), 0.0
				if active {
					want = 1
				}
				if told := strings.HasSuffix(f.Name, "?"); told && x != want || !told && !active && x != 0.5 {
					t.Fatalf("feature %s of %s is %v", f.Name, s.Text(c), x)
				}
			}
		}
		any := assay.Config{}
		var unit []float64
		for _, p := range s.Params {
			any = append(any, p.At(rapid.Int64Range(0, p.Count()-1).Draw(t, "value")))
			unit = append(unit, rapid.Float64Range(0, 1).Draw(t, "unit"))
		}
		if s.Contains(any) != want[any.Key()] || (s.Check(any) == nil) != want[any.Key()] {
			t.Fatalf("%v: Contains says %v, Check %v", any, s.Contains(any), s.Check(any))
		}
		rested := s.Rested(any)
		list, err := assay.NewList(s.Params, append(slices.Clone(members), any), s.Relations...)
		if err != nil || list.Size() != s.Size() {
			t.Fatalf("the list of members and %v has %v configurations, %v", any, list.Size(), err)
		}
		near := s.Nearest(any)
		if want[rested.Key()] && !near.Equal(rested) {
			t.Fatalf("the nearest of %v is %v, not %v", any, near, rested)
		}
		rng := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		center := rapid.SampledFrom(members).Draw(t, "centre")
		drawn, ok := s.Draw(rng)
		for what, c := range map[string]assay.Config{
			"Nearest": near, "Draw": drawn, "Project": s.Project(any, center),
		} {
			if !ok || !want[c.Key()] {
				t.Fatalf("%s gives %v, which is no member", what, c)
			}
		}
		if c := s.FromUnit(unit); !s.Rested(c).Equal(c) {
			t.Fatalf("FromUnit gives %v, which is not at rest", c)
		}
		for _, n := range keys2(t, s.Neighbours(center)) {
			if !want[n.Key()] || n.Equal(center) {
				t.Fatalf("%v has the neighbour %v, which is no member", center, n)
			}
		}
	})
}

// keys2 fails if a configuration is there twice.
func keys2(t *rapid.T, configs []assay.Config) []assay.Config {
	keys(t, configs)
	return configs
}

// A parameter with a condition is drawn if it is in force: the branch with 100 values is drawn as often as
// the one with none.
func TestConditionsAreDrawnAsATree(t *testing.T) {
	s := mustSpace(t, []assay.Param{
		{Name: "trees", Kind: assay.Integer, Lo: 1, Hi: 100, When: &assay.Relation{
			Text: "solver == 'forest'", Params: []int{1}, Holds: func(c assay.Config) bool { return c[1] == 1 },
		}},
		{Name: "solver", Kind: assay.Categorical, Levels: []string{"svm", "forest"}},
	})
	if s.Size().N != 101 {
		t.Errorf("%v configurations, want 101", s.Size())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	forest, low := 0, 0
	for range 4000 {
		c, _ := s.Draw(rng)
		if c[1] == 1 {
			if forest++; c[0] <= 50 {
				low++
			}
		}
	}
	if forest < 1850 || forest > 2150 || low < forest/2-120 || low > forest/2+120 {
		t.Errorf("the forest is drawn %d times of 4000, with few trees %d times", forest, low)
	}
	for text, texts := range map[string]map[string]string{
		"leave it out": {"solver": "svm", "trees": "5"}, "no value for": {"solver": "forest"},
	} {
		if _, err := s.Parse(texts); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v is read with the error %v", texts, err)
		}
	}
}

func TestConditionFlaws(t *testing.T) {
	when := func(on ...int) *assay.Relation {
		return &assay.Relation{Text: "x", Params: on, Holds: func(assay.Config) bool { return true }}
	}
	a, b := ints("a", 1, 2), ints("b", 1, 2)
	for says, on := range map[string][2]*assay.Relation{
		"hangs on itself": {when(1), when(0)}, "reads parameter 7": {when(7), nil}, "names no parameter": {nil, when()},
	} {
		a.When, b.When = on[0], on[1]
		if _, err := assay.NewSpace([]assay.Param{a, b}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// A chain of relations over 10^36 combinations is counted exactly, drawn without rejection, and searched
// for the nearest, at once: the count equals a product with the matrix of neighbours.
func TestChainOfRelations(t *testing.T) {
	const n, values, most = 20, 64, 70
	var params []assay.Param
	var rels []assay.Relation
	ways := make([]float64, values)
	for i := range n {
		params = append(params, ints(fmt.Sprint("p", i), 1, values))
		if i > 0 {
			rels = append(rels, sum(most, i-1, i))
		}
	}
	for i := range ways {
		ways[i] = 1
	}
	for range n - 1 {
		next := make([]float64, values)
		for a := range values {
			for b := range values {
				if a+1+b+1 <= most {
					next[b] += ways[a]
				}
			}
		}
		ways = next
	}
	count := 0.0
	for _, w := range ways {
		count += w
	}
	began := time.Now()
	s := mustSpace(t, params, rels...)
	if got := s.Size(); got.N != 0 || !(math.Abs(got.Log10-math.Log10(count)) <= 1e-9) {
		t.Errorf("%v configurations (10^%v), want 10^%v", got, got.Log10, math.Log10(count))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		if c, ok := s.Draw(rng); !ok || !s.Contains(c) {
			t.Fatalf("drew %v", c)
		}
	}
	top := make(assay.Config, n)
	for i := range top {
		top[i] = values
	}
	if c := s.Nearest(top); !s.Contains(c) || s.Distance(c, top) > s.Distance(slices.Repeat(assay.Config{35}, n), top) {
		t.Errorf("the nearest of the corner is %v", c)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %v", took)
	}
}

// A relation between the first and the last parameter needs another order of them.
func TestNarrowOrder(t *testing.T) {
	var params []assay.Param
	var rels []assay.Relation
	const n = 24
	for i := range n {
		params = append(params, ints(fmt.Sprint("p", i), 0, 9))
	}
	for i := range n / 2 {
		rels = append(rels, sum(9, i, i+n/2))
		if i > 0 {
			rels = append(rels, sum(12, i-1, i))
		}
	}
	s := mustSpace(t, params, rels...)
	ways := make([]float64, 10) // by the value of p_i, with the value of its partner
	for v := range ways {
		ways[v] = float64(10 - v)
	}
	for range n/2 - 1 {
		next := make([]float64, 10)
		for a := range ways {
			for b := range min(10, 13-a) {
				next[b] += ways[a] * float64(10-b)
			}
		}
		ways = next
	}
	count := 0.0
	for _, w := range ways {
		count += w
	}
	c, ok := s.Draw(rand.New(rand.NewPCG(5, 6)))
	if !ok || !s.Contains(c) {
		t.Errorf("drew %v of %v", c, s.Size())
	}
	if z := s.Size(); z.N > 0 && float64(z.N) != count || z.N == 0 && !(math.Abs(z.Log10-math.Log10(count)) <= 1e-9) {
		t.Errorf("%v configurations (10^%v), want %v", z, z.Log10, count)
	}
}

// Few tuples of a large product are drawn as one of the product would be that is admissible: on the
// logarithmic scale of its parameters.
func TestLargeGroupIsDrawnOnItsScale(t *testing.T) {
	log := func(name string) assay.Param {
		return assay.Param{Name: name, Kind: assay.Integer, Lo: 1, Hi: 2000, Log: true}
	}
	s := mustSpace(t, []assay.Param{log("a"), log("b")}, sum(2500, 0, 1))
	if s.Size().N < 1<<20 {
		t.Fatalf("%v configurations are few", s.Size())
	}
	rng := rand.New(rand.NewPCG(7, 8))
	small, want := 0, 0
	const n = 4000
	for range n {
		if c, _ := s.Draw(rng); c[0] <= 44 {
			small++
		}
		for { // the dumb alternative
			c := s.FromUnit([]float64{rng.Float64(), rng.Float64()})
			if c[0]+c[1] > 2500 {
				continue
			}
			if c[0] <= 44 {
				want++
			}
			break
		}
	}
	if !(math.Abs(float64(small-want)) <= 4*math.Sqrt(n/2)) {
		t.Errorf("%d of %d have a small one, by rejection %d", small, n, want)
	}
}

// Orders and coordinates are one to one, lexically; to swap is mutual; the distance is Kendall's.
func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 18).Draw(t, "length")
		p := assay.Param{Name: "passes", Kind: assay.Permutation}
		for i := range n {
			p.Levels = append(p.Levels, string(rune('a'+i)))
		}
		s, err := assay.NewSpace([]assay.Param{p})
		if err != nil {
			t.Fatal(err)
		}
		x := p.At(rapid.Int64Range(0, p.Count()-1).Draw(t, "x"))
		y := p.At(rapid.Int64Range(0, p.Count()-1).Draw(t, "y"))
		if back := p.OrderOf(p.Order(x)); back != x || !p.Contains(x) {
			t.Fatalf("%v is %v is %v", x, p.Order(x), back)
		}
		if back, err := p.Parse(p.Text(x)); err != nil || back != x {
			t.Fatalf("%q is read as %v, %v", p.Text(x), back, err)
		}
		if x < y != (slices.Compare(p.Order(x), p.Order(y)) < 0) {
			t.Fatalf("%v and %v are not lexical", x, y)
		}
		apart := 0
		ox, oy := p.Order(x), p.Order(y)
		for i := range n {
			for j := range i {
				if slices.Index(oy, ox[i]) < slices.Index(oy, ox[j]) {
					apart++
				}
			}
		}
		want := 0.0
		if n > 1 {
			want = float64(apart) / float64(n*(n-1)/2)
		}
		a, b := assay.Config{x}, assay.Config{y}
		if d := s.Distance(a, b); !(math.Abs(d-want) <= 1e-12) || d != s.Distance(b, a) {
			t.Fatalf("distance %v, want %v", d, want)
		}
		differ := 0
		fx, fy := s.Encode(a), s.Encode(b)
		for i := range fx {
			if fx[i] != fy[i] {
				differ++
			}
		}
		if n > 1 && differ != apart || len(fx) != len(s.Features()) {
			t.Fatalf("%d features differ of %d pairs", differ, apart)
		}
		ns := s.Neighbours(a)
		if len(ns) != n*(n-1)/2 {
			t.Fatalf("%d neighbours", len(ns))
		}
		for _, c := range ns {
			if !slices.ContainsFunc(s.Neighbours(c), a.Equal) {
				t.Fatalf("%v is no neighbour of its neighbour", a)
			}
		}
	})
	for text, says := range map[string]string{"a,b": "2 of 3", "a,b,b": "twice", "a,b,d": `no value "d"`} {
		p := assay.Param{Name: "passes", Kind: assay.Permutation, Levels: []string{"a", "b", "c"}}
		if _, err := p.Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, bad := range [][]string{{"a,b", "c"}, {"a", ""}, strings.Split("abcdefghijklmnopqrs", "")} {
		if _, err := assay.NewSpace([]assay.Param{{Name: "p", Kind: assay.Permutation, Levels: bad}}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
