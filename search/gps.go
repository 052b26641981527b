package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// GPSOptions configure [GPS]. The zero value is usable.
type GPSOptions struct {
	// Initial is the number of trials of the initial design, the best of which is the first centre. 0 means 6.
	Initial int
	// Mesh and Finest are the first size of the mesh and the least, as shares of
	// the range of a parameter. 0 means 1/4 and 1/64.
	Mesh, Finest float64
	// Seed is the seed of the initial design, of the order of polls and of restarts.
	Seed uint64
}

// GPS is generalized pattern search (Torczon 1997). It polls the points of a
// mesh around a centre, in both directions of every parameter,
//
//	centre ± Δ·range·e_i,
//
// and goes to the first that is better (an opportunistic poll), beginning with the direction of the latest success.
// After a success Δ is doubled, up to 1/2; after a poll without one it is halved, and when it is finest the poll is of
// the neighbours ([assay.Space.Neighbours]). Then the centre is a local minimum, and the search starts again around a
// random configuration.
//
//   - A step of a discrete parameter is rounded, and at least one value.
//   - A category has no direction: at every mesh size all other levels are polled
//     (Audet and Dennis 2001).
//   - A point that breaks a relation, or is not in the list, is drawn in towards the
//     centre ([assay.Space.Project]).
//   - Where Ask wants more than the poll has left, the others are points of the
//     search step: drawn uniformly, and the next centre if one is better than the
//     best of all. An Ask returns nothing only when nothing is left, which is
//     ErrDone.
//
// Trials that failed, broke a limit or were stopped early are not better than any. No configuration is proposed twice:
// known values are used in their place, and observed trials are known. If the limit leaves the centre outside, the best
// trial within it is the next, or else a random configuration.
type GPS struct {
	ground
	opts   GPSOptions     // with defaults
	center vertex         // NaN if its value is not known yet; no configuration before the first
	mesh   float64        // size of a step, as a share of a range
	queue  []assay.Config // of the poll that were not asked
	polled map[int64]bool // outstanding trials of the poll, or of the centre
	ready  bool           // the poll of this centre and mesh was made
	lead   int            // parameter and sign of the latest success
	sign   float64        // -1 or 1
	begun  map[int64]bool // outstanding trials of the initial design
}

var (
	_ assay.Searcher = (*GPS)(nil)
	_ assay.Observer = (*GPS)(nil)
	_ assay.Narrower = (*GPS)(nil)
)

const coarsest = 0.5 // mesh

// NewGPS returns a GPS searcher. It panics unless the options are at least 0 and Finest <= Mesh <= 1.
func NewGPS(space *assay.Space, opts GPSOptions) *GPS {
	opts.Initial, opts.Mesh, opts.Finest = cmp.Or(opts.Initial, 6), cmp.Or(opts.Mesh, 0.25), cmp.Or(opts.Finest, 1.0/64)
	if opts.Initial < 0 || !(opts.Finest > 0 && opts.Finest <= opts.Mesh && opts.Mesh <= 1) {
		panic(fmt.Sprintf("search: pattern search options out of range: %+v", opts))
	}
	s := &GPS{
		ground: newGround(space, opts.Seed, 0x677073), opts: opts,
		polled: map[int64]bool{}, begun: map[int64]bool{}, lead: -1,
	}
	s.start = s.design(opts.Initial)
	return s
}

// Ask implements [assay.Searcher].
func (s *GPS) Ask(n int) ([]assay.Proposal, error) {
	return s.ask(n, func() (assay.Proposal, bool) { return s.next(), true })
}

// next returns the next proposal: of the initial design, of the poll once all results of the design are known, or
// else of the search step.
func (s *GPS) next() assay.Proposal {
	if c, ok := s.initial(); ok {
		p := s.give(c)
		s.begun[p.ID] = true
		return p
	}
	if len(s.begun) == 0 {
		if c, ok := s.advance(); ok {
			p := s.give(c)
			s.polled[p.ID] = true
			return p
		}
	}
	c, _ := s.random()
	return s.give(c)
}

// advance returns the next point of the poll, or of the next poll if this one
// has no success; false if it has trials outstanding and no more points.
func (s *GPS) advance() (assay.Config, bool) {
	if s.center.at == nil || !s.limit.holds(s.center.at) {
		if best := s.best(); best.at != nil {
			s.recenter(best, s.opts.Mesh)
		} else {
			return s.restart(), true
		}
	}
	for {
		if math.IsNaN(s.center.value) {
			return nil, false
		}
		if !s.ready {
			s.poll()
		}
		for len(s.queue) > 0 {
			c := s.queue[0]
			if s.queue = s.queue[1:]; s.free(c) {
				return c, true
			}
		}
		switch {
		case len(s.polled) > 0:
			return nil, false
		case s.mesh > s.opts.Finest:
			s.mesh, s.ready = max(s.mesh/2, s.opts.Finest), false
		default:
			return s.restart(), true
		}
	}
}

// recenter goes to v with a mesh of that size, and drops the rest of the poll.
func (s *GPS) recenter(v vertex, mesh float64) {
	s.center, s.mesh, s.queue, s.ready = v, mesh, nil, false
}

// restart begins again around a random configuration, which it returns. There is no poll until its value is known.
func (s *GPS) restart() assay.Config {
	c, _ := s.random()
	s.recenter(vertex{c, math.NaN()}, s.opts.Mesh)
	clear(s.polled)
	return c
}

// poll makes the queue of the centre and the mesh. If a point is known to be better, it is the next centre.
func (s *GPS) poll() {
	for {
		points := s.points()
		s.queue, s.ready = s.queue[:0:0], true
		better := s.center
		for _, c := range points {
			if v, ok := s.value[c.Key()]; ok {
				if v < better.value && s.limit.holds(c) {
					better = vertex{c, v}
				}
			} else if !s.visited.has(c) {
				s.queue = append(s.queue, c)
			}
		}
		if better.value == s.center.value {
			return
		}
		s.recenter(better, s.mesh) // the value falls: this ends
	}
}

// points returns the points of the poll, each once: the direction of the latest success first,
// and the others in random order, so that no parameter is favoured by its place in the space.
func (s *GPS) points() []assay.Config {
	c := s.center.at
	if s.mesh <= s.opts.Finest {
		ns := s.space.Neighbours(c)
		s.rng.Shuffle(len(ns), func(i, j int) { ns[i], ns[j] = ns[j], ns[i] })
		return ns
	}
	type point struct {
		at  assay.Config // a neighbour of the centre
		dim int          // the parameter that differs
		up  float64      // the sign of the step
	}
	var points []point
	got := visited{}
	got.add(c)
	add := func(i int, x, up float64) {
		y := c.Clone()
		y[i] = x
		if q := s.space.Project(y, c); got.add(q) {
			points = append(points, point{q, i, up})
		}
	}
	for i, p := range s.space.Params {
		switch {
		case p.Kind == assay.Permutation:
			for _, x := range p.Swaps(c[i]) {
				add(i, x, 1)
			}
		case !extended(p):
			for l := range p.Levels {
				add(i, float64(l), 1)
			}
		case movable(p):
			for _, sign := range []float64{1, -1} {
				add(i, s.along(p, c[i], sign), sign)
			}
		}
	}
	s.rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	place := func(p point) int {
		if p.dim == s.lead && p.up == s.sign {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(points, func(a, b point) int { return place(a) - place(b) })
	out := make([]assay.Config, len(points))
	for i, p := range points {
		out[i] = p.at
	}
	return out
}

// along returns the value of p one step of the mesh from x. A step that rounds back to x
// becomes the next value: a coarse parameter would stand still otherwise.
func (s *GPS) along(p assay.Param, x, sign float64) float64 {
	y := p.Unscale(p.ToUnit(x) + sign*s.mesh)
	if y == x && p.Count() > 0 {
		return next(p, x, sign)
	}
	return y
}

// Tell implements [assay.Searcher].
func (s *GPS) Tell(trials ...assay.Trial) error {
	vs, err := s.settled(trials)
	if err != nil {
		return err
	}
	for k, t := range trials {
		v := vs[k]
		delete(s.begun, t.ID)
		polled := s.polled[t.ID]
		delete(s.polled, t.ID)
		switch {
		case s.center.at == nil:
		case v.at.Equal(s.center.at): // a restart
			if s.center.value = v.value; math.IsInf(v.value, 1) {
				s.center = vertex{}
			}
		case !s.limit.holds(v.at):
		case polled && v.value < s.center.value:
			s.succeed(v)
		case !polled && v.value < s.center.value && v.at.Equal(s.best().at):
			s.recenter(v, s.opts.Mesh)
			clear(s.polled)
		}
	}
	return nil
}

// succeed goes to a better point of the poll, with a coarser mesh. Outstanding points of the poll still count.
func (s *GPS) succeed(v vertex) {
	s.lead = -1
	for i, x := range v.at {
		if x != s.center.at[i] {
			s.lead, s.sign = i, math.Copysign(1, x-s.center.at[i])
			if !extended(s.space.Params[i]) {
				s.sign = 1
			}
		}
	}
	s.recenter(v, min(2*s.mesh, max(coarsest, s.opts.Mesh)))
}
