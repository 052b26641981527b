package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
)

// SimplexOptions configure the direct searches [PRO], [SRO] and [NelderMead]. The zero value is the paper's: 2N
// vertices of relative size 0.2 around the centre of the space, and an end at the first local minimum.
type SimplexOptions struct {
	// Minimal: the initial simplex has N+1 vertices, the centre and one in each
	// direction, in place of 2N, two in each direction. Nelder–Mead's always has.
	Minimal bool
	// Size is r: vertices are r/2 of a parameter's range from the centre
	// (Tabatabaee et al. 2005, §6.1). 0 means 0.2.
	Size float64
	// Grow: the initial simplex begins with Size, and the better of the two vertices of each direction moves out to
	// twice its distance, at most to r = 1, as long as that makes it better. All directions are tried at once: it takes
	// at most ⌈log2(1/r)⌉ further steps of N points. This is our rule for the adaptive b that Tabatabaee et al. 2005,
	// §3.2.3, leave for later; docs/results/pro.md has its measurements. Nelder–Mead's does not grow.
	Grow bool
	// Center is the centre of the initial simplex; nil means the best
	// configuration observed before the first Ask, or else the admissible
	// configuration nearest to the middle of every range.
	Center assay.Config
	// Close is the distance on the unit scale below which the values of a continuous parameter count as equal, and the
	// distance of its neighbours in the stopping test. 0 means 0.01.
	Close float64
	// Restarts is how many times the search starts again after a local minimum, around a configuration drawn at random
	// that was not proposed before. Less than 0 means until there is no such configuration.
	Restarts int
	// Remember: no configuration that ran to its end, or was observed to, is
	// proposed again; its value stands. Use this and not a [Cache]: the stopping
	// test depends on the order of results within a step, and a Cache changes it.
	Remember bool
	// Seed is the seed of the order of the stopping test and of the restarts.
	Seed uint64
}

// A simplexSearch is the common part of the direct searches.
//
// Points move on the search scale of each parameter: linear, logarithmic, or by the index of the level. A categorical
// parameter has no direction: a point that is computed around a vertex has that vertex's category, so that other
// categories are tried by the initial simplex and by the stopping test.
type simplexSearch struct {
	space *assay.Space   // of the points
	opts  SimplexOptions // with defaults
	stepper
	rng      *rand.Rand // of the levels drawn and of the order of the stopping test
	draws    *Random    // the centres of restarts
	restarts int        // so far
	begun    bool       // the first simplex was made
	v        []vertex   // the simplex; v[0] is the best once sorted
	spokes   []*spoke   // of the initial simplex
	iterate  func()     // one iteration of the algorithm on v
}

func newSimplexSearch(space *assay.Space, opts SimplexOptions) simplexSearch {
	opts.Size, opts.Close = cmp.Or(opts.Size, 0.2), cmp.Or(opts.Close, 0.01)
	return simplexSearch{
		space: space, opts: opts, stepper: newStepper(opts.Remember),
		rng: rand.New(rand.NewPCG(opts.Seed, 0x73696d70)), draws: NewRandom(space, opts.Seed),
	}
}

// Ask implements [assay.Searcher].
func (s *simplexSearch) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	if !s.begun {
		s.begun = true
		s.start(s.initial(s.center()))
	}
	return s.stepper.Ask(n)
}

// Observe implements [assay.Observer]: the best of the trials before the first
// Ask is the centre of the initial simplex, unless the options name one. No
// restart is around an observed configuration.
func (s *simplexSearch) Observe(trials ...assay.Trial) error {
	if err := s.seen.observe(s.space, trials); err != nil {
		return err
	}
	for _, t := range trials {
		c, ok := s.space.Member(t.Config)
		if !ok {
			continue
		}
		s.remember(c, t)
		if !s.begun && directValue(t) < s.best.value {
			s.best = vertex{c.Clone(), t.Value}
		}
	}
	return nil
}

// center returns the centre of the first simplex: the centre of the options, or else the best observed configuration,
// or else the middle of every range on its search scale.
func (s *simplexSearch) center() assay.Config {
	switch {
	case s.opts.Center != nil:
		return s.space.Nearest(s.opts.Center)
	case s.best.at != nil:
		return s.best.at
	}
	middle := make(assay.Config, s.space.Dim())
	for i, p := range s.space.Params {
		middle[i] = p.Unscale(0.5)
	}
	return s.space.Nearest(middle)
}

// start evaluates an initial simplex and begins to iterate. A vertex that was
// observed to be the best joins it.
func (s *simplexSearch) start(vs []assay.Config) {
	var known []vertex
	if s.best.at != nil && s.restarts == 0 {
		known = []vertex{s.best}
		if !slices.ContainsFunc(vs, s.best.at.Equal) {
			vs = append(vs, s.best.at)
		}
	}
	s.begin(vs, known, nil, func(vs []vertex) {
		s.v = vs
		if s.opts.Grow {
			s.settleSpokes()
			s.grow()
			return
		}
		s.iterate()
	})
}

// initial returns the vertices of the simplex around c: Π(c ± b_i·e_i) with b_i = r/2 of the range (Tabatabaee et al.
// 2005, §3.2.3, §6.1), each once. If rounding brings a vertex of a discrete parameter back to c, it is the next value
// instead. The parameters without an extent are drawn at random at each vertex, switches with the opposite draw at
// the opposite vertex. If there are fewer than N+1 vertices, the neighbours of c join them, and c itself if need be;
// and so do the neighbours in directions that it does not span.
func (s *simplexSearch) initial(c assay.Config) []assay.Config {
	var vs []assay.Config
	got := visited{}
	add := func(v assay.Config) {
		if got.add(v) {
			vs = append(vs, v)
		}
	}
	if s.opts.Minimal {
		add(c)
	} else {
		got.add(c)
	}
	s.spokes = s.spokes[:0:0]
	for i := range s.space.Params {
		a := s.newSpoke(c, i)
		s.spokes = append(s.spokes, a)
		plus, minus := s.vertex(a, 0), s.vertex(a, 1)
		switch {
		case !s.opts.Minimal:
			a.at = [2]assay.Config{plus, minus}
		case plus.Equal(c):
			a.at[1] = minus
		default:
			a.at[0] = plus
		}
		for _, v := range a.at {
			if v != nil {
				add(v)
			}
		}
	}
	if need := s.space.Dim() + 1; !s.opts.Minimal && len(vs) < need {
		for _, n := range s.neighbours(c) {
			if len(vs) < need {
				add(n)
			}
		}
		if len(vs) < need {
			vs = append(vs, c)
		}
	}
	return s.spanning(vs, c)
}

// extended reports whether the values of p have distances, so that a simplex
// has an extent in its direction.
func extended(p assay.Param) bool { return p.Ordered() && p.Kind != assay.Switch }

// drawLevels returns c with the parameters that have no extent drawn at random.
func (s *simplexSearch) drawLevels(c assay.Config) assay.Config {
	x := c.Clone()
	for i, p := range s.space.Params {
		if !extended(p) {
			x[i] = p.At(s.rng.Int64N(p.Count()))
		}
	}
	return x
}

// next returns the value of a countable parameter after or before x, or x.
func next(p assay.Param, x, sign float64) float64 {
	step := 1.0
	if p.Numeric() && p.Step > 0 {
		step = p.Step
	}
	return p.Snap(x + sign*step)
}

// unscale is the inverse of ToUnit, also outside the bounds and between values.
func unscale(p assay.Param, u float64) float64 {
	lo, hi := p.Lo, p.Hi
	switch {
	case !p.Numeric():
		lo, hi = 0, float64(len(p.Levels)-1)
	case p.Log:
		return p.Lo * math.Pow(p.Hi/p.Lo, u)
	}
	return lo + u*(hi-lo)
}

// around returns Π(v + a·(x - v)), the image of x under a scaling around v: a =
// -1 reflects, -2 expands, 0.5 shrinks.
func (s *simplexSearch) around(v, x assay.Config, a float64) assay.Config {
	y := v.Clone()
	for i, p := range s.space.Params {
		if x[i] == v[i] || !p.Ordered() {
			continue
		}
		u, w := p.ToUnit(v[i]), p.ToUnit(x[i])
		y[i] = unscale(p, u+a*(w-u))
	}
	return s.space.Project(y, v)
}

// images returns around(v[0], v[j], a) for the vertices j = 1..n.
func (s *simplexSearch) images(a float64) []assay.Config {
	cs := make([]assay.Config, len(s.v)-1)
	for j, v := range s.v[1:] {
		cs[j] = s.around(s.v[0].at, v.at, a)
	}
	return cs
}

// order sorts the simplex by value; equal ones keep their order.
func (s *simplexSearch) order() {
	slices.SortStableFunc(s.v, func(a, b vertex) int { return cmp.Compare(a.value, b.value) })
}

// collapsed reports whether all vertices are the same in the discrete
// parameters and very close in the continuous ones (§3.2.2).
func (s *simplexSearch) collapsed() bool {
	v0 := s.v[0].at
	for _, v := range s.v[1:] {
		for i, p := range s.space.Params {
			if v.at[i] == v0[i] {
				continue
			}
			if p.Count() != 0 || math.Abs(p.ToUnit(v.at[i])-p.ToUnit(v0[i])) > s.opts.Close {
				return false
			}
		}
	}
	return true
}

// neighbours returns the points of the stopping test around c: the next values
// of every discrete parameter, every other category, and Close up and down of a
// continuous one.
func (s *simplexSearch) neighbours(c assay.Config) []assay.Config {
	near := s.space.Neighbours(c)
	if s.space.Listed() {
		return near
	}
	ns := slices.DeleteFunc(near, func(n assay.Config) bool {
		for i, p := range s.space.Params {
			if n[i] != c[i] {
				return p.Count() == 0
			}
		}
		return true
	})
	for i, p := range s.space.Params {
		if p.Count() != 0 {
			continue
		}
		for _, sign := range []float64{1, -1} {
			n := c.Clone()
			n[i] = p.Unscale(p.ToUnit(c[i]) + sign*s.opts.Close)
			if n = s.space.Rested(n); !n.Equal(c) && s.space.Contains(n) {
				ns = append(ns, n)
			}
		}
	}
	return ns
}

// poll is the stopping test (§3.2.2): if a neighbour of the best vertex is better than it, the search goes on with
// the simplex of the neighbours, otherwise the vertex is a local minimum. The neighbours come in random order; unless
// all are asked for at once, one in each direction comes before the others. Once a better one is known and the
// simplex spans as much as all of them would, the neighbours that have not been asked are left out: with a request
// for all at once it is the test of the paper.
func (s *simplexSearch) poll() {
	v0 := s.v[0]
	ns := s.neighbours(v0.at)
	s.rng.Shuffle(len(ns), func(i, j int) { ns[i], ns[j] = ns[j], ns[i] })
	all := s.span(v0.at)
	for _, n := range ns {
		all.add(n)
	}
	better := func(v vertex) bool { return v.value < v0.value }
	enough := func(vs []vertex) bool {
		if !slices.ContainsFunc(vs, better) {
			return false
		}
		got := s.span(v0.at)
		for _, v := range vs {
			got.add(v.at)
		}
		return got.rank() == all.rank()
	}
	s.begin(ns, s.v, &shortcut{enough, s.secondInDirection(v0.at, ns)}, func(vs []vertex) {
		if !slices.ContainsFunc(vs, better) {
			s.restart()
			return
		}
		s.v = append([]vertex{v0}, vs...)
		s.iterate()
	})
}

// restart begins again somewhere else, or ends the search.
func (s *simplexSearch) restart() {
	if s.opts.Restarts >= 0 && s.restarts >= s.opts.Restarts {
		s.end()
		return
	}
	for {
		c, ok := s.draws.draw()
		if !ok {
			s.end()
			return
		}
		if !s.seen.has(c) {
			s.restarts++
			vs := s.initial(c)
			if !slices.ContainsFunc(vs, c.Equal) {
				vs = append(vs, c) // something new in every simplex
			}
			s.start(vs)
			return
		}
	}
}
