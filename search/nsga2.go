package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// NSGA2Options configure [NSGA2]. The zero value is usable.
type NSGA2Options struct {
	// Population is how many trials survive; 0 means 20.
	Population int
	// Seed is the seed of the initial design and of all draws.
	Seed uint64
}

// NSGA2 is the genetic algorithm NSGA-II (Deb et al. 2002) in its steady-state form (Durillo et al. 2009): each
// proposal is a child of two trials of the population, each of which wins a tournament of two by its rank of
// domination and then by how lonely it is. The best of all trials in that order survive. So it waits for no
// generation, and can be asked for any number of proposals at once.
//
// A child takes each parameter from one of its parents; a number may lie between them or a little outside (BLX with
// alpha 0.25), and with probability 1/d, d the number of parameters, a parameter is changed at random. A child that
// was proposed before, or cannot be, is moved to a configuration near it. Trials that failed or broke a limit do not
// survive as long as others do; one that was stopped early counts with its last values.
//
// It reads [assay.Trial].Values, or Value as the only objective. ErrDone comes when every configuration was proposed.
// It is a baseline: see [Front].
type NSGA2 struct {
	ground
	opts    NSGA2Options // with defaults
	parents []parent     // the population, the best first
}

// A parent is a trial with a result.
type parent struct {
	config assay.Config // a member of the space
	values []float64    // nil if there are none
	rank   int          // of non-domination, 0 is the front
	lonely float64      // crowding distance within the rank
}

var (
	_ assay.Searcher = (*NSGA2)(nil)
	_ assay.Observer = (*NSGA2)(nil)
	_ assay.Narrower = (*NSGA2)(nil)
)

// NewNSGA2 returns an NSGA2 searcher. It panics if the population is negative.
func NewNSGA2(space *assay.Space, opts NSGA2Options) *NSGA2 {
	if opts.Population < 0 {
		panic(fmt.Sprintf("search: a population of %d", opts.Population))
	}
	opts.Population = cmp.Or(opts.Population, 20)
	s := &NSGA2{ground: newGround(space, opts.Seed, 0x6e736761), opts: opts}
	s.start = s.design(opts.Population)
	return s
}

// Ask implements [assay.Searcher].
func (s *NSGA2) Ask(n int) ([]assay.Proposal, error) {
	return s.ask(n, func() (assay.Proposal, bool) {
		if c, ok := s.initial(); ok {
			return s.give(c), true
		}
		if len(s.parents) == 0 { // no result yet
			c, _ := s.random()
			return s.give(c), true
		}
		return s.give(s.near(s.child())), true
	})
}

// child returns an admissible configuration of two parents.
func (s *NSGA2) child() assay.Config {
	a, b := s.pick(), s.pick()
	d := s.space.Dim()
	c := make(assay.Config, d)
	for i, p := range s.space.Params {
		x, y := a[i], b[i]
		switch {
		case s.rng.Float64() < 1/float64(d):
			if extended(p) {
				c[i] = p.FromUnit(s.rng.Float64())
			} else {
				c[i] = s.otherLevel(p, x)
			}
		case extended(p) && x != y:
			u, v := p.ToUnit(x), p.ToUnit(y)
			c[i] = p.Unscale(u + (v-u)*(1.5*s.rng.Float64()-0.25))
		case s.rng.IntN(2) == 0:
			c[i] = x
		default:
			c[i] = y
		}
	}
	c = s.space.Rested(c)
	if s.space.Contains(c) {
		return c
	}
	return s.space.Nearest(c)
}

// pick returns the winner of a tournament.
func (s *NSGA2) pick() assay.Config {
	i, j := s.rng.IntN(len(s.parents)), s.rng.IntN(len(s.parents))
	return s.parents[min(i, j)].config // they are in order
}

// Tell implements [assay.Searcher].
func (s *NSGA2) Tell(trials ...assay.Trial) error {
	told, err := s.settled(trials)
	if err != nil {
		return err
	}
	for i, t := range trials {
		s.born(told[i].at, t)
	}
	s.survive()
	return nil
}

// Observe implements [assay.Observer].
func (s *NSGA2) Observe(trials ...assay.Trial) error {
	if err := s.ground.Observe(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if c, ok := s.space.Member(t.Config); ok {
			s.born(c.Clone(), t)
		}
	}
	s.survive()
	return nil
}

// born adds a trial to the population.
func (s *NSGA2) born(c assay.Config, t assay.Trial) {
	if t.State == assay.Withdrawn {
		return
	}
	p := parent{config: c}
	if t.State == assay.Done || t.State == assay.Censored {
		if p.values = t.Values; p.values == nil {
			p.values = []float64{t.Value}
		}
		if slices.ContainsFunc(p.values, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			p.values = nil
		}
	}
	s.parents = append(s.parents, p)
}

// survive puts the population in order, and has the best survive.
func (s *NSGA2) survive() {
	var points [][]float64
	var of []int
	for i := range s.parents {
		s.parents[i].rank, s.parents[i].lonely = math.MaxInt, 0
		if v := s.parents[i].values; v != nil {
			points, of = append(points, v), append(of, i)
		}
	}
	layers := map[int][]int{}
	for k, r := range stats.FrontRanks(points) {
		s.parents[of[k]].rank = r
		layers[r] = append(layers[r], k)
	}
	for _, layer := range layers {
		some := make([][]float64, len(layer))
		for n, k := range layer {
			some[n] = points[k]
		}
		for n, x := range stats.Crowding(some) {
			s.parents[of[layer[n]]].lonely = x
		}
	}
	slices.SortStableFunc(s.parents, func(a, b parent) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.lonely, a.lonely))
	})
	s.parents = s.parents[:min(len(s.parents), s.opts.Population)]
}
