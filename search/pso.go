package search

import (
	"cmp"
	"fmt"

	"github.com/assay-run/assay"
)

// PSOOptions configure [PSO]. The zero value is usable.
type PSOOptions struct {
	// Particles is the size of the swarm, and so the most trials at a time.
	// 0 means 8.
	Particles int
	// Inertia and Pull are the weights w and c of the velocity. 0 means the weights of the constriction with φ = 4.1: χ
	// = 0.7298 and χ·φ/2 = 1.4962 (Clerc and Kennedy 2002, eq. 4).
	Inertia, Pull float64
	// Seed is the seed of the initial design and of all draws.
	Seed uint64
}

// PSO is particle swarm optimization (Kennedy and Eberhart 1995) with the constriction of Clerc and Kennedy 2002. On
// the unit scale a particle at x with velocity v moves by
//
//	v' = w·v + c·r1·(p - x) + c·r2·(g - x),  x' = x + v'
//
// with r1 and r2 uniform in [0, 1] for each coordinate, p the particle's best trial and g the best of all. Speed is
// at most half of the range; at a bound a particle stops. The swarm starts on a Latin hypercube with velocities
// towards random points.
//
//   - A coordinate with discrete values, of an ordinal parameter too, moves on the
//     scale between them and is rounded for the run only, so that slow steps add
//     up.
//   - Categories and switches have no direction: the level stays, becomes the level of
//     p or of g with probabilities as 1 : c·r1 : c·r2, and with 1/(2d), d the
//     number of parameters, any other.
//   - A point that breaks a relation, or is not in the list, is moved to the
//     nearest admissible configuration, and one that was proposed or observed
//     before, or is outside of the limit of Narrow, to one near it that can be
//     proposed, or else to a random one. The particle is there from then on.
//
// The swarm is asynchronous: a particle moves on when its own trial has a result, by the knowledge at that time, and
// an Ask returns nothing only if all particles are out. Trials that failed, broke a limit or were stopped early are
// never a best trial. A particle without a best trial is drawn to the best of all; without that, it goes to a random
// place. Observed trials count for the best of all. Under a limit the best trials are those within it. ErrDone comes
// when every configuration was proposed.
type PSO struct {
	ground
	turns            // of the particles
	opts  PSOOptions // with defaults
	swarm []particle // by particle
}

// A particle has a position, a velocity and a best trial. x and v are on the unit scale; for a parameter without
// direction x is the level itself and v is not used.
type particle struct {
	x, v  []float64 // on the unit scale; the level itself without direction
	tried []vertex  // its trials
}

var (
	_ assay.Searcher = (*PSO)(nil)
	_ assay.Observer = (*PSO)(nil)
	_ assay.Narrower = (*PSO)(nil)
)

const maxSpeed = 0.5 // of a range

// NewPSO returns a PSO searcher. It panics if an option is negative.
func NewPSO(space *assay.Space, opts PSOOptions) *PSO {
	if opts.Particles < 0 || opts.Inertia < 0 || opts.Pull < 0 {
		panic(fmt.Sprintf("search: PSO options out of range: %+v", opts))
	}
	opts.Particles = cmp.Or(opts.Particles, 8)
	opts.Inertia, opts.Pull = cmp.Or(opts.Inertia, 0.7298), cmp.Or(opts.Pull, 1.4962)
	s := &PSO{ground: newGround(space, opts.Seed, 0x70736f), turns: newTurns(opts.Particles), opts: opts}
	for _, u := range s.design(opts.Particles) {
		c := s.admissible(u)
		p := particle{x: s.position(c), v: make([]float64, space.Dim())}
		for i, q := range space.Params {
			if movable(q) {
				p.v[i] = (s.rng.Float64() - p.x[i]) / 2
			}
		}
		s.swarm = append(s.swarm, p)
	}
	return s
}

// position returns the coordinates of c as a particle has them: on the unit scale, or the
// level of a parameter without direction.
func (s *PSO) position(c assay.Config) []float64 {
	x := s.space.Unit(c)
	for i, p := range s.space.Params {
		if !extended(p) {
			x[i] = c[i]
		}
	}
	return x
}

// Ask implements [assay.Searcher].
func (s *PSO) Ask(n int) ([]assay.Proposal, error) {
	return s.ask(n, func() (assay.Proposal, bool) {
		i, ok := s.idle()
		if !ok {
			return assay.Proposal{}, false
		}
		return s.leave(i, s.give(s.advance(&s.swarm[i]))), true
	})
}

// advance moves a particle, but for its first trial, and returns where it is. A coordinate
// that had to be moved by more than rounding takes the particle with it; rounding alone does
// not, so that slow steps add up.
func (s *PSO) advance(p *particle) assay.Config {
	if len(p.tried) > 0 {
		own, all := leastWithin(p.tried, s.limit), s.best()
		if all.at == nil {
			c, _ := s.random()
			p.x = s.position(c)
			return c
		}
		s.move(p, own, all)
	}
	want := s.config(p.x)
	c := s.near(s.space.Nearest(want))
	for i, at := range s.position(c) { // moved by more than rounding
		if c[i] != want[i] {
			p.x[i] = at
		}
	}
	return c
}

// move is one step of the particle, drawn to its own best and to the best of all. Speed is limited to half of the
// range, and a particle that reaches a bound stops there: it would press against it otherwise.
func (s *PSO) move(p *particle, own, all vertex) {
	g, b := s.position(all.at), p.x
	if own.at != nil {
		b = s.position(own.at)
	}
	any := 1 / (2 * float64(s.space.Dim()))
	for i, q := range s.space.Params {
		r1, r2 := s.opts.Pull*s.rng.Float64(), s.opts.Pull*s.rng.Float64()
		if !extended(q) {
			switch r := s.rng.Float64() * (1 + r1 + r2); {
			case s.rng.Float64() < any:
				p.x[i] = s.otherLevel(q, p.x[i])
			case r < r1:
				p.x[i] = b[i]
			case r < r1+r2:
				p.x[i] = g[i]
			}
			continue
		}
		if !movable(q) {
			continue
		}
		v := s.opts.Inertia*p.v[i] + r1*(b[i]-p.x[i]) + r2*(g[i]-p.x[i])
		v = min(max(v, -maxSpeed), maxSpeed)
		x := min(max(p.x[i]+v, 0), 1)
		if x != p.x[i]+v {
			v = 0
		}
		p.x[i], p.v[i] = x, v
	}
}

// config rounds a position to values; it need not be admissible.
func (s *PSO) config(x []float64) assay.Config {
	c := make(assay.Config, len(x))
	for i, p := range s.space.Params {
		if c[i] = x[i]; extended(p) {
			c[i] = p.Unscale(x[i])
		}
	}
	return c
}

// Tell implements [assay.Searcher].
func (s *PSO) Tell(trials ...assay.Trial) error {
	vs, err := s.settled(trials)
	if err != nil {
		return err
	}
	for k, t := range trials {
		i, _ := s.back(t.ID)
		s.swarm[i].tried = append(s.swarm[i].tried, vs[k])
	}
	return nil
}
