package search

import (
	"math/rand/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// LHS proposes the points of one Latin hypercube and then ends: each parameter
// takes n values that are spread evenly over its search scale (McKay, Beckman
// and Conover 1979).
//
// A point of the unit cube becomes a configuration by [assay.Space.FromUnit];
// one that breaks a relation, or is not in the list of a listed space, is moved
// to the nearest that is admissible, and one that was proposed or observed
// before, or is outside of a limit, is replaced by a random new one. In a space of
// less than n configurations it ends after the last, and under a limit too after n
// points in all.
type LHS struct {
	place
	points [][]float64 // of the unit cube, still to propose
}

var (
	_ assay.Searcher = (*LHS)(nil)
	_ assay.Observer = (*LHS)(nil)
	_ assay.Narrower = (*LHS)(nil)
)

// maximinSwaps is the number of swaps per point by which a hypercube is spread;
// more than some tens per point bring little.
const maximinSwaps = 20

// maximinWork bounds the distances of coordinates computed for that.
const maximinWork = 5_000_000

// NewLHS returns an LHS searcher of n points, spread by [stats.Maximin]. It panics
// if n < 1. Cost: of order n²·d, at most some tenths of a second.
func NewLHS(space *assay.Space, n int, seed uint64) *LHS {
	return &LHS{place: newPlace(space, seed), points: hypercube(n, space.Dim(), rand.New(rand.NewPCG(seed, 1)))}
}

// hypercube returns n points of a Latin hypercube of d parameters, spread evenly.
func hypercube(n, d int, rng *rand.Rand) [][]float64 {
	points := stats.LatinHypercube(n, d, rng)
	stats.Maximin(points, min(maximinSwaps*n, maximinWork/(n*d)), rng)
	return points
}

// Ask implements [assay.Searcher].
func (l *LHS) Ask(n int) ([]assay.Proposal, error) {
	return l.ask(n, func() (assay.Config, bool) {
		if len(l.points) == 0 {
			return nil, false
		}
		c, ok := l.admissible(l.points[0]), true
		if !l.free(c) {
			c, ok = l.fresh()
		}
		if ok {
			l.points = l.points[1:]
		}
		return c, ok
	})
}

// Tell implements [assay.Searcher].
func (l *LHS) Tell(trials ...assay.Trial) error { return l.settle(trials) }

// Sobol proposes the points of a scrambled Sobol' sequence: like [Random], and
// without an end in a continuous space, but evenly spread at any time; see
// [stats.Sobol] for how many parameters.
//
// A point of the unit cube becomes a configuration by [assay.Space.FromUnit].
// Points that break a relation or a limit, or whose configuration was proposed or
// observed before, are passed over, which keeps the others where they belong. After 32
// of them in a row the next point is moved to the nearest admissible
// configuration, and if that is not new, replaced by a random new one. A
// listed space, which holds few of the points, moves every point to the nearest
// listed configuration.
type Sobol struct {
	place
	sequence *stats.Sobol // of the unit cube
	next     int64        // index of the next point
	point    []float64    // room for one point
}

var (
	_ assay.Searcher = (*Sobol)(nil)
	_ assay.Observer = (*Sobol)(nil)
	_ assay.Narrower = (*Sobol)(nil)
)

// maxPassed is the number of points in a row that a Sobol searcher passes over.
const maxPassed = 32

// NewSobol returns a Sobol searcher whose scrambling belongs to seed.
func NewSobol(space *assay.Space, seed uint64) *Sobol {
	d := space.Dim()
	return &Sobol{place: newPlace(space, seed), sequence: stats.NewSobol(d).Scrambled(seed), point: make([]float64, d)}
}

// Ask implements [assay.Searcher].
func (s *Sobol) Ask(n int) ([]assay.Proposal, error) { return s.ask(n, s.propound) }

// propound returns the next new configuration of the sequence without proposing it; false without one.
func (s *Sobol) propound() (assay.Config, bool) {
	if s.exhausted() {
		return nil, false
	}
	space, from := s.space, s.next
	for range maxPassed {
		s.advance()
		c := space.FromUnit(s.point)
		if space.Listed() {
			c = space.Nearest(c)
		}
		if space.Contains(c) && s.free(c) {
			return c, true
		}
	}
	s.advance()
	if c := s.admissible(s.point); s.free(c) {
		return c, true
	}
	c, ok := s.fresh()
	if !ok {
		s.next = from
	}
	return c, ok
}

// advance takes the next point; the sequence starts over after 2^32 of them.
func (s *Sobol) advance() {
	s.sequence.At(s.next, s.point)
	s.next = (s.next + 1) % (1 << 32)
}

// Tell implements [assay.Searcher].
func (s *Sobol) Tell(trials ...assay.Trial) error { return s.settle(trials) }

// A place turns points of the unit cube into proposals that are admissible and
// all different.
type place struct {
	space *assay.Space // of the proposals
	ledger
	visited visited // proposed or observed
	limit   limit   // of Narrow
	spare   *Random // replaces a point that gives no configuration
}

func newPlace(space *assay.Space, seed uint64) place {
	return place{space: space, visited: visited{}, spare: NewRandom(space, seed)}
}

// ask proposes the results of next, and remembers them; see [ledger.ask].
func (p *place) ask(n int, next func() (assay.Config, bool)) ([]assay.Proposal, error) {
	return p.ledger.ask(n, func() (assay.Config, bool) {
		c, ok := next()
		if ok {
			p.visited.add(c)
		}
		return c, ok
	})
}

// admissible returns the configuration of a point, or the nearest admissible.
func (p *place) admissible(point []float64) assay.Config {
	c := p.space.FromUnit(point)
	if p.space.Contains(c) {
		return c
	}
	return p.space.Nearest(c)
}

// free reports whether c, which is admissible, can be proposed.
func (p *place) free(c assay.Config) bool { return p.limit.holds(c) && !p.visited.has(c) }

// fresh returns a random configuration that can be proposed. Without one it draws nothing.
func (p *place) fresh() (assay.Config, bool) {
	before := p.spare.rng.mark()
	for {
		c, ok := p.spare.draw()
		if !ok {
			p.spare.rng.reset(before)
			return nil, false
		}
		if !p.visited.has(c) {
			return c, true
		}
	}
}

// Narrow implements [assay.Narrower] for the searchers that have a place.
func (p *place) Narrow(keep func(assay.Config) bool) {
	p.limit = limit{keep}
	p.spare.Narrow(keep)
}

// exhausted reports whether every configuration is visited; false if they
// cannot be counted.
func (p *place) exhausted() bool {
	return p.spare.order != nil && int64(len(p.visited)) >= p.spare.order.Len()
}

// Observe implements [assay.Observer] for the searchers that have a place.
func (p *place) Observe(trials ...assay.Trial) error { return p.visited.observe(p.space, trials) }
