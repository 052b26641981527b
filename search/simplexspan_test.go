package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/assay-run/assay"
)

// rankOf returns the rank of the differences of the vertices by their singular values.
func rankOf(space *assay.Space, vs []vertex) int {
	d := space.Dim()
	m := mat.NewDense(max(len(vs)-1, 1), d, nil)
	first := space.Unit(vs[0].at)
	for i, v := range vs[1:] {
		for j, u := range space.Unit(v.at) {
			m.Set(i, j, u-first[j])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDNone) {
		return -1
	}
	return svd.Rank(1e-9)
}

// The rank of random points on a grid agrees with a singular value decomposition.
func TestSpanRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		d := 1 + rng.IntN(6)
		space := intSpace(t, d, 4)
		s := newSimplexSearch(space, SimplexOptions{})
		vs := make([]vertex, 1+rng.IntN(2*d+1))
		for i := range vs {
			vs[i].at = make(assay.Config, d)
			for j := range d {
				if rng.IntN(3) > 0 { // often in few directions
					vs[i].at[j] = float64(rng.IntN(5))
				}
			}
		}
		w := s.span(vs[0].at)
		for _, v := range vs[1:] {
			w.add(v.at)
		}
		if got, want := w.rank(), rankOf(space, vs); got != want {
			t.Fatalf("%v: rank %d, want %d", vs, got, want)
		}
	}
}

// watch calls seen with the simplex at the beginning of every iteration.
func watch(s *simplexSearch, seen func(vs []vertex)) {
	iterate := s.iterate
	s.iterate = func() {
		seen(s.v)
		iterate()
	}
}

// However many points a direct search is asked for at once, an iteration has at least N+1 vertices,
// and the vertices of the initial simplex and of the neighbours of a best vertex span all N
// directions.
// Reference: Tabatabaee et al. 2005, section 3.2.3
func TestSimplexSpans(t *testing.T) {
	for _, n := range []int{2, 3, 6} {
		for _, batch := range []int{1, 2, 4, 100} {
			space := intSpace(t, n, 12)
			polls, iterations := 0, 0
			for seed := range uint64(4) {
				rng := rand.New(rand.NewPCG(seed, 0))
				rough := map[string]float64{}
				f := func(c assay.Config) float64 {
					k := c.Key()
					if _, ok := rough[k]; !ok {
						rough[k] = 6 * rng.Float64()
					}
					return bowl(3, 9, 1, 5, 11, 7)(c) + rough[k]
				}
				p := NewPRO(space, SimplexOptions{Restarts: 3, Seed: seed})
				fresh := true // the simplex is a new one
				watch(&p.simplexSearch, func(vs []vertex) {
					iterations++
					if len(vs) < n+1 {
						t.Errorf("N = %d, asked for %d: %d vertices", n, batch, len(vs))
					}
					if r := rankOf(space, vs); fresh && r < n {
						t.Errorf("N = %d, asked for %d: a new simplex spans %d: %v", n, batch, r, vs)
					}
					fresh = false
					s := p.simplexSearch
					s.v = slices.Clone(vs)
					s.order()
					if s.collapsed() { // its neighbours are next, or a restart
						polls++
						fresh = true
					}
				})
				drive(t, p, f, batch, 600)
			}
			if polls < 8 || iterations < 3*polls {
				t.Errorf("N = %d, asked for %d: %d iterations, %d with the stopping test: too few to say something",
					n, batch, iterations, polls)
			}
		}
	}
}

// The stopping test ends with the first better neighbour once there is one in each
// direction, and not before; asked for all at once it runs all 2N.
func TestPROPollEnds(t *testing.T) {
	const n = 4
	space := intSpace(t, n, 100)
	sooner := 0
	for seed := range uint64(20) {
		for _, batch := range []int{1, 100} {
			p := NewPRO(space, SimplexOptions{Seed: seed})
			p.begun = true
			v0 := vertex{assay.Config{50, 50, 50, 50}, 0}
			p.v = []vertex{v0, v0}
			var got []vertex
			p.iterate = func() { got = p.v }
			p.poll()
			runs, better := 0, false
			directions := map[int]bool{}
			for got == nil && runs < 100 {
				if runs >= n && better && batch == 1 {
					t.Fatalf("seed %d: the test goes on after %d runs", seed, runs)
				}
				ps := mustAsk(t, p, batch)
				for _, q := range ps {
					runs++
					for i, x := range q.Config {
						if x != 50 {
							directions[i] = true
						}
					}
					v := 1.0
					if q.Config[1] == 51 || q.Config[3] == 49 {
						v, better = -1, true
					}
					mustTell(t, p, doneTrial(q, v))
				}
			}
			if !better || len(directions) < n || batch == 100 && runs != 2*n {
				t.Errorf("seed %d, asked for %d: %d runs in %d directions, better: %v", seed, batch, runs, len(directions), better)
			}
			if batch == 1 && runs == n {
				sooner++
			}
			if len(got) != runs+1 || !got[0].at.Equal(v0.at) {
				t.Errorf("seed %d: after %d runs the simplex is %v", seed, runs, got)
			}
		}
	}
	if sooner < 10 { // three in four
		t.Errorf("the test ended after N runs with %d of 20 seeds", sooner)
	}
}

// The neighbours of the initial simplex's centre make it span their directions too if relations
// bring its vertices together. It is still a simplex of members, each once.
func TestInitialSimplexSpans(t *testing.T) {
	for seed := range uint64(100) {
		holes := assay.Relation{Text: "no hole", Params: []int{0, 1, 2}, Holds: func(c assay.Config) bool {
			return rand.New(rand.NewPCG(seed, uint64(100*c[0]+10*c[1]+c[2]))).IntN(3) > 0
		}}
		var ps []assay.Param
		for _, name := range []string{"a", "b", "c"} {
			ps = append(ps, assay.Param{Name: name, Kind: assay.Integer, Lo: 0, Hi: 5})
		}
		space, err := assay.NewSpace(ps, holes)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []SimplexOptions{{}, {Size: 0.9}, {Minimal: true}} {
			s := newSimplexSearch(space, o)
			c := s.center()
			vs := s.initial(c)
			seen := visited{}
			for _, v := range vs {
				if !space.Contains(v) || !seen.add(v) {
					t.Errorf("vertex %v", v)
				}
			}
			w := s.span(vs[0])
			for _, v := range vs[1:] {
				w.add(v)
			}
			for _, n := range append(s.neighbours(c), c) {
				if w.add(n) {
					t.Errorf("seed %d, %+v: the simplex %v does not span %v", seed, o, vs, n)
				}
			}
		}
	}
}
