package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// AnnealOptions configure [Anneal]. The zero value is usable.
type AnnealOptions struct {
	// Chains is the number of chains, and so the most trials at a time once the
	// initial design is out. 0 means 3.
	Chains int
	// Initial is the number of trials of the initial design, of which the chains
	// start at the best. 0 means twice the number of chains.
	Initial int
	// Hot and Cold are the first temperature and that at which a chain ends, in
	// units of the spread of the values. 0 means 0.1 and 0.003.
	Hot, Cold float64
	// Cooling is the factor of the temperature per trial of a chain. 0 means 0.8:
	// a budget of some tens of trials is to see the cold end.
	Cooling float64
	// Seed is the seed of the initial design and of all draws.
	Seed uint64
}

// Anneal is simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) by several
// chains at once. A chain at a configuration with value y proposes one close to
// it, and goes there if its value y' is less, or else with probability
//
//	exp(-(y' - y)/(T·s))                          (Metropolis et al. 1953)
//
// where s is the spread of the finished trials until then, the difference of
// their upper and lower quartile: it makes the temperature T free of the unit of
// the objective and of its offset. T falls from Hot to Cold by the factor Cooling
// with each trial of the chain. Then the chain begins again, hot, at the best
// trial of all if it was not there, or else at a random configuration.
//
// A step changes one parameter, and with probability 1/2, 1/4, ... two, three,
// ...: categories and switches to another level, others by a normal step whose
// width falls with the square root of the temperature from 0.2 to 0.02 of the
// range, at least to the next value. A point that breaks a relation, or is not in
// the list, is moved to the nearest admissible configuration. If its value is
// known, the chain decides at once and steps on, up to 16 times; then it proposes
// one near it that can be proposed, or else a random one, so that no
// configuration is proposed twice.
//
// Trials that failed, broke a limit or were stopped early are worse than all:
// no chain goes there. An Ask returns nothing only if all chains are out.
// Observed trials are known, and their best is a place to begin at. Under a limit
// a chain that stands outside begins again within. ErrDone comes when every
// configuration was proposed.
type Anneal struct {
	ground
	turns                // of the chains; the trials of the initial design are of none
	opts   AnnealOptions // with defaults
	chains []chain       // whose proposals take turns
	halves []float64     // half of each finite value, sorted
}

// A chain is one walk.
type chain struct {
	at    vertex  // where it is; no configuration if that has no value yet
	t     float64 // temperature
	begun bool    // it has had a first place
	best  bool    // it began at the best of all
}

var (
	_ assay.Searcher = (*Anneal)(nil)
	_ assay.Observer = (*Anneal)(nil)
	_ assay.Narrower = (*Anneal)(nil)
)

// maxFree is the number of steps of a chain over known values for one proposal.
const maxFree = 16

// NewAnneal returns an Anneal searcher. It panics unless the options are at
// least 0, Cold <= Hot and Cooling < 1.
func NewAnneal(space *assay.Space, opts AnnealOptions) *Anneal {
	opts.Chains = cmp.Or(opts.Chains, 3)
	opts.Initial = cmp.Or(opts.Initial, 2*opts.Chains)
	opts.Hot, opts.Cold, opts.Cooling = cmp.Or(opts.Hot, 0.1), cmp.Or(opts.Cold, 0.003), cmp.Or(opts.Cooling, 0.8)
	if opts.Chains < 0 || opts.Initial < 0 || !(opts.Cold > 0 && opts.Cold <= opts.Hot) ||
		!(opts.Cooling > 0 && opts.Cooling < 1) {
		panic(fmt.Sprintf("search: annealing options out of range: %+v", opts))
	}
	s := &Anneal{
		ground: newGround(space, opts.Seed, 0x7361), turns: newTurns(opts.Chains), opts: opts,
		chains: make([]chain, opts.Chains),
	}
	s.start = s.design(opts.Initial)
	return s
}

// Ask implements [assay.Searcher].
func (s *Anneal) Ask(n int) ([]assay.Proposal, error) {
	return s.ask(n, func() (assay.Proposal, bool) {
		if c, ok := s.initial(); ok {
			return s.give(c), true
		}
		i, ok := s.idle()
		if !ok {
			return assay.Proposal{}, false
		}
		return s.leave(i, s.give(s.advance(&s.chains[i]))), true
	})
}

// advance returns the next proposal of a chain.
func (s *Anneal) advance(c *chain) assay.Config {
	if c.at.at == nil || c.t < s.opts.Cold || !s.limit.holds(c.at.at) {
		if !s.begin(c) {
			r, _ := s.random()
			return r
		}
	}
	var x assay.Config
	for range maxFree {
		x = s.step(c.at.at, c.t)
		if s.free(x) {
			return x
		}
		if v, ok := s.value[x.Key()]; ok && s.limit.holds(x) {
			s.decide(c, vertex{x, v})
		}
	}
	return s.near(x)
}

// begin puts a chain at a place to begin; false if that is a random
// configuration, which has no value yet. The chains begin at different trials.
func (s *Anneal) begin(c *chain) bool {
	c.t = s.opts.Hot
	switch {
	case !c.begun:
		c.at, c.begun = s.unclaimed(), true
	case c.best:
		c.at, c.best = vertex{}, false
	default:
		c.at, c.best = s.best(), true
	}
	return c.at.at != nil
}

// unclaimed returns the best trial at which no chain is.
func (s *Anneal) unclaimed() vertex {
	return leastWithin(slices.DeleteFunc(slices.Clone(s.trials), func(v vertex) bool {
		return slices.ContainsFunc(s.chains, func(c chain) bool { return c.at.at != nil && c.at.at.Equal(v.at) })
	}), s.limit)
}

// step returns an admissible configuration close to c.
func (s *Anneal) step(c assay.Config, t float64) assay.Config {
	width := max(0.02, 0.2*math.Sqrt(t/s.opts.Hot))
	x := c.Clone()
	for k := 0; k == 0 || s.rng.IntN(2) == 0; k++ {
		i := s.rng.IntN(len(x))
		p := s.space.Params[i]
		switch {
		case !extended(p):
			x[i] = s.otherLevel(p, x[i])
		case movable(p):
			d := width * s.rng.NormFloat64()
			v := p.Unscale(p.ToUnit(x[i]) + d)
			if v == x[i] && p.Count() > 0 {
				v = next(p, x[i], math.Copysign(1, d))
			}
			x[i] = v
		}
	}
	if x = s.space.Rested(x); s.space.Contains(x) {
		return x
	}
	return s.space.Nearest(x)
}

// decide moves the chain to v or leaves it, by Metropolis' rule, and cools it.
func (s *Anneal) decide(c *chain, v vertex) {
	if c.at.at == nil {
		if !math.IsInf(v.value, 1) {
			c.at = v
		}
		return
	}
	if v.value <= c.at.value && !math.IsInf(v.value, 1) || s.rng.Float64() < math.Exp(-s.worse(c.at.value, v.value)/c.t) {
		c.at = v
	}
}

// worse returns (y' - y)/s, +Inf if there is no spread or y' is infinite.
func (s *Anneal) worse(y, then float64) float64 {
	if len(s.halves) == 0 || math.IsInf(then, 1) {
		return math.Inf(1)
	}
	spread := quantile(s.halves, 0.75) - quantile(s.halves, 0.25)
	if !(spread > 0) {
		return math.Inf(1)
	}
	return (then/2 - y/2) / spread
}

// note keeps a value for the spread.
func (s *Anneal) note(v float64) {
	if math.IsInf(v, 0) {
		return
	}
	i, _ := slices.BinarySearch(s.halves, v/2)
	s.halves = slices.Insert(s.halves, i, v/2)
}

// quantile returns the q-th quantile of sorted values, one of them.
func quantile(sorted []float64, q float64) float64 {
	return sorted[int(math.Round(q*float64(len(sorted)-1)))]
}

// Tell implements [assay.Searcher].
func (s *Anneal) Tell(trials ...assay.Trial) error {
	vs, err := s.settled(trials)
	if err != nil {
		return err
	}
	for k, t := range trials {
		s.note(vs[k].value)
		if i, ok := s.back(t.ID); ok {
			c := &s.chains[i]
			s.decide(c, vs[k])
			c.t *= s.opts.Cooling
		}
	}
	return nil
}

// Observe implements [assay.Observer].
func (s *Anneal) Observe(trials ...assay.Trial) error {
	n := len(s.trials)
	if err := s.ground.Observe(trials...); err != nil {
		return err
	}
	for _, v := range s.trials[n:] {
		s.note(v.value)
	}
	return nil
}
