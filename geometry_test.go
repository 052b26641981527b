package assay_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

// drawSmall draws a space of up to 4 countable parameters of up to 5 values, under up to
// two relations. It returns the members as well, found by trying every combination: the
// dumb alternative that the tests below compare with.
func drawSmall(t *rapid.T) (*assay.Space, []assay.Config) {
	n := rapid.IntRange(1, 4).Draw(t, "dims")
	var params []assay.Param
	for i := range n {
		p := assay.Param{Name: fmt.Sprint("p", i)}
		switch p.Kind = assay.Kind(rapid.IntRange(0, 4).Draw(t, "kind")); p.Kind {
		case assay.Real:
			p.Lo, p.Step = float64(rapid.IntRange(1, 3).Draw(t, "lo")), 0.25
			p.Hi = p.Lo + p.Step*float64(rapid.IntRange(0, 4).Draw(t, "steps"))
			p.Log = rapid.Bool().Draw(t, "log")
		case assay.Integer:
			p.Lo, p.Step = float64(rapid.IntRange(1, 9).Draw(t, "lo")), float64(rapid.IntRange(0, 3).Draw(t, "step"))
			p.Hi = p.Lo + float64(rapid.IntRange(0, 4).Draw(t, "width"))
			p.Log = rapid.Bool().Draw(t, "log")
		case assay.Switch:
			p.Levels = []string{"off", "on"}
		default:
			for l := range rapid.IntRange(1, 5).Draw(t, "levels") {
				p.Levels = append(p.Levels, fmt.Sprint("v", l))
			}
		}
		params = append(params, p)
	}
	var rels []assay.Relation
	for range rapid.IntRange(0, 2).Draw(t, "relations") {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		deps := slices.Compact(slices.Sorted(slices.Values([]int{a, b})))
		most := rapid.Float64Range(1, 1.6).Draw(t, "most") // 0.5 + 0.5 is always a member
		rels = append(rels, assay.Relation{
			Text: fmt.Sprintf("u%d + u%d <= %v", a, b, most), Params: deps,
			Holds: func(c assay.Config) bool { return params[a].ToUnit(c[a])+params[b].ToUnit(c[b]) <= most },
		})
	}
	s, err := assay.NewSpace(params, rels...)
	if err != nil {
		t.Fatal(err)
	}
	members := []assay.Config{{}}
	for _, p := range params {
		var longer []assay.Config
		for _, c := range members {
			for i := range p.Count() {
				longer = append(longer, append(c.Clone(), p.At(i)))
			}
		}
		members = longer
	}
	members = slices.DeleteFunc(members, func(c assay.Config) bool {
		return slices.ContainsFunc(rels, func(r assay.Relation) bool { return !r.Holds(c) })
	})
	return s, members
}

// keys returns the keys of configurations, and fails if one is there twice.
func keys(t *rapid.T, configs []assay.Config) map[string]bool {
	set := map[string]bool{}
	for _, c := range configs {
		if set[c.Key()] {
			t.Fatalf("%v is there twice", c)
		}
		set[c.Key()] = true
	}
	return set
}

// Counting equals enumeration: Size, All and Contains agree with the members that
// trying every combination finds, and a list of them is the same space.
func TestCountingIsEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, members := drawSmall(t)
		want := keys(t, members)
		list, err := assay.NewList(s.Params, members, s.Relations...)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*assay.Space{s, list} {
			if got := s.Size().N; got != int64(len(members)) || !s.Indexed() {
				t.Fatalf("size %d, %d members, indexed: %v", got, len(members), s.Indexed())
			}
			got := keys(t, slices.Collect(s.All()))
			for k := range want {
				if !got[k] {
					t.Fatalf("All leaves a member out: %d of %d", len(got), len(want))
				}
			}
		}
		c := assay.Config{}
		for _, p := range s.Params {
			c = append(c, p.At(rapid.Int64Range(0, p.Count()-1).Draw(t, "value")))
		}
		in := want[c.Key()]
		if s.Contains(c) != in || list.Contains(c) != in || (s.Check(c) == nil) != in || (list.Check(c) == nil) != in {
			t.Fatalf("%v is a member: %v, and Contains says %v, Check %v", c, in, s.Contains(c), s.Check(c))
		}
	})
}

// Neighbours are the members that differ in one parameter: by one place on its grid if
// it is ordered, by any if it is not. To be neighbours is mutual.
func TestNeighboursAreOneStepAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, members := drawSmall(t)
		c := rapid.SampledFrom(members).Draw(t, "centre")
		place := func(p assay.Param, x float64) int64 {
			for i := range p.Count() {
				if p.At(i) == x {
					return i
				}
			}
			t.Fatalf("%v is no value of %+v", x, p)
			return -1
		}
		var want []assay.Config
		for _, m := range members {
			dims, near := 0, true
			for i, p := range s.Params {
				if m[i] == c[i] {
					continue
				}
				dims++
				step := place(p, m[i]) - place(p, c[i])
				near = near && (!p.Ordered() || step == 1 || step == -1)
			}
			if dims == 1 && near {
				want = append(want, m)
			}
		}
		got := s.Neighbours(c)
		set := keys(t, got)
		if len(got) != len(want) {
			t.Fatalf("neighbours of %v: got %v, want %v", c, got, want)
		}
		for _, w := range want {
			if !set[w.Key()] {
				t.Fatalf("neighbours of %v: got %v, want %v", c, got, want)
			}
			if !slices.ContainsFunc(s.Neighbours(w), c.Equal) {
				t.Fatalf("%v is a neighbour of %v, and not the other way round", w, c)
			}
		}
	})
}

// Nearest is at the least distance of all members from the snapped point.
func TestNearestIsTheLeastDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, members := drawSmall(t)
		if rapid.Bool().Draw(t, "listed") {
			n := rapid.IntRange(1, len(members)).Draw(t, "length")
			list, err := assay.NewList(s.Params, members[:n], s.Relations...)
			if err != nil {
				t.Fatal(err)
			}
			s, members = list, members[:n]
		}
		x, snapped := make(assay.Config, s.Dim()), make(assay.Config, s.Dim())
		for i, p := range s.Params {
			x[i] = rapid.Float64Range(-2, 12).Draw(t, "x")
			snapped[i] = p.Snap(x[i])
		}
		least := math.Inf(1)
		for _, m := range members {
			least = min(least, s.Distance(m, snapped))
		}
		got := s.Nearest(x)
		if d := s.Distance(got, snapped); !s.Contains(got) || d > least+1e-12 {
			t.Fatalf("Nearest(%v) = %v at %v, a member is at %v", x, got, d, least)
		}
	})
}

// Distance is a metric, and at most the square root of the number of parameters.
func TestDistanceIsAMetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, members := drawSmall(t)
		draw := func(name string) assay.Config { return rapid.SampledFrom(members).Draw(t, name) }
		a, b, c := draw("a"), draw("b"), draw("c")
		ab, bc, ac := s.Distance(a, b), s.Distance(b, c), s.Distance(a, c)
		switch {
		case ab != s.Distance(b, a):
			t.Fatalf("the distance of %v and %v depends on the order", a, b)
		case (ab == 0) != a.Equal(b):
			t.Fatalf("%v and %v are at distance %v", a, b, ab)
		case ac > ab+bc+1e-12:
			t.Fatalf("%v to %v is %v, by way of %v it is %v", a, c, ac, b, ab+bc)
		case ab > math.Sqrt(float64(s.Dim()))+1e-12:
			t.Fatalf("distance %v in %d parameters", ab, s.Dim())
		}
	})
}

// Encode distinguishes configurations, as Features describes: an ordered parameter is its
// coordinate of the unit cube, a categorical one has a 1 at its level and 0 elsewhere.
func TestEncodeIsWhatFeaturesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, members := drawSmall(t)
		a, b := rapid.SampledFrom(members).Draw(t, "a"), rapid.SampledFrom(members).Draw(t, "b")
		x, unit := s.Encode(a), s.Unit(a)
		ones := make([]float64, s.Dim())
		for k, f := range s.Features() {
			p := s.Params[f.Param]
			switch name := p.Name + "=" + p.Text(a[f.Param]); {
			case f.Name == p.Name:
				if x[k] != unit[f.Param] {
					t.Fatalf("feature %s is %v, the coordinate is %v", f.Name, x[k], unit[f.Param])
				}
				ones[f.Param] = 1
			case x[k] != 0 && x[k] != 1 || (x[k] == 1) != (f.Name == name):
				t.Fatalf("feature %s of %s is %v", f.Name, s.Text(a), x[k])
			default:
				ones[f.Param] += x[k]
			}
		}
		if slices.ContainsFunc(ones, func(n float64) bool { return n != 1 }) {
			t.Fatalf("%v has %v features that are on, by parameter", a, ones)
		}
		if slices.Equal(x, s.Encode(b)) != a.Equal(b) {
			t.Fatalf("%v and %v are encoded as %v and %v", a, b, x, s.Encode(b))
		}
		if room := append(make([]float64, 0, 64), 7); !slices.Equal(s.AppendEncode(room, a)[1:], x) {
			t.Fatal("AppendEncode appends something else than Encode returns")
		}
	})
}

// Every member is drawn, and nothing else.
func TestDrawReachesEveryMember(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, members := drawSmall(t)
		if len(members) > 12 {
			t.Skip("many members")
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		seen, want := map[string]bool{}, keys(t, members)
		// The rarest of 12 members has a share of at least 1/12 on a linear scale, and
		// not much less on these short logarithmic ones: 2000 draws miss it with e^-100.
		for range 2000 {
			c, ok := s.Draw(rng)
			if !ok || !want[c.Key()] {
				t.Fatalf("drew %v, %v", c, ok)
			}
			seen[c.Key()] = true
		}
		if len(seen) != len(members) {
			t.Fatalf("%d of %d members in 2000 draws", len(seen), len(members))
		}
	})
}
