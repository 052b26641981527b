package search

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// A spoke is one direction of an initial simplex: the vertices Π(c ± b_i·e_i),
// of which the better may move out.
//
// Sides are 0 and 1, and index levels and at alike.
type spoke struct {
	center assay.Config // c, the centre of the initial simplex
	// of c + b_i·e_i and c - b_i·e_i: the centre with the parameters that have no extent drawn at random
	levels [2]assay.Config
	param  int             // i, the parameter of the direction
	size   float64         // r of the vertices, of the better one once it has moved; b_i = r/2 of the range
	at     [2]assay.Config // the vertices; nil for one that there is not
	side   int             // of the better one
	grown  bool            // it does not move any more
}

// newSpoke returns the direction of parameter i at c, with its random levels but
// without vertices. Switches have opposite levels at opposite vertices.
func (s *simplexSearch) newSpoke(c assay.Config, i int) *spoke {
	drawn := s.drawLevels(c)
	opposite := drawn.Clone()
	for k, p := range s.space.Params {
		switch p.Kind {
		case assay.Switch:
			opposite[k] = 1 - opposite[k]
		case assay.Categorical, assay.Permutation:
			opposite[k] = p.At(s.rng.Int64N(p.Count()))
		}
	}
	return &spoke{center: c, levels: [2]assay.Config{drawn, opposite}, param: i, size: s.opts.Size}
}

// vertex returns the vertex of a at its size: side 0 is c + b_i·e_i, 1 is c -
// b_i·e_i.
//
// A step that rounding would undo goes to the next value instead. The result is admissible.
func (s *simplexSearch) vertex(a *spoke, side int) assay.Config {
	x := a.levels[side].Clone()
	if p := s.space.Params[a.param]; extended(p) {
		sign := 1 - 2*float64(side)
		u := p.ToUnit(a.center[a.param]) + sign*a.size/2
		if x[a.param] = p.Snap(unscale(p, u)); x[a.param] == a.center[a.param] && p.Count() > 0 {
			x[a.param] = next(p, a.center[a.param], sign)
		}
	}
	return s.space.Nearest(x)
}

// settleSpokes makes the better vertex of every spoke the one that may move.
func (s *simplexSearch) settleSpokes() {
	for _, a := range s.spokes {
		least := math.Inf(1)
		for side, c := range a.at {
			// Two vertices may be one after Nearest: both sides then have its value, and the first counts.
			if v := s.valueOf(c); c != nil && v < least {
				least, a.side = v, side
			}
		}
		a.grown = math.IsInf(least, 1) || !extended(s.space.Params[a.param])
	}
}

// valueOf returns the value of a vertex of the simplex, +Inf if c is no vertex.
func (s *simplexSearch) valueOf(c assay.Config) float64 {
	for _, v := range s.v {
		if v.at.Equal(c) {
			return v.value
		}
	}
	return math.Inf(1)
}

// grow tries the better vertex of every spoke that still grows at twice its size, and takes on those that are better;
// when none grows any more the search begins to iterate.
//
// Invariant: the best of all that was run is a vertex of the simplex, because a vertex only makes way for a better
// one.
//
// It does not wait: begin calls the continuation when the points have their values.
func (s *simplexSearch) grow() {
	var moved []*spoke
	var points []assay.Config
	for _, a := range s.spokes {
		if c := s.enlarge(a); c != nil {
			moved, points = append(moved, a), append(points, c)
		}
	}
	if len(points) == 0 {
		s.iterate()
		return
	}
	s.begin(points, s.v, nil, func(vs []vertex) {
		for k, v := range vs {
			a := moved[k]
			if a.grown = !(v.value < s.valueOf(a.at[a.side])); !a.grown {
				s.swap(a, v)
			}
		}
		s.grow()
	})
}

// enlarge doubles the size of a until its better vertex is another one, and
// returns that; nil if a grows no more.
func (s *simplexSearch) enlarge(a *spoke) assay.Config {
	for !a.grown && a.size < 1 {
		a.size = min(1, 2*a.size)
		if c := s.vertex(a, a.side); !c.Equal(a.at[a.side]) {
			return c
		}
	}
	a.grown = true
	return nil
}

// swap moves the better vertex of a to v. The old one stays if another spoke has
// it too.
func (s *simplexSearch) swap(a *spoke, v vertex) {
	old := a.at[a.side]
	a.at[a.side] = v.at
	// a has the new vertex by now, so that it does not hold the old one back by this side.
	stays := slices.ContainsFunc(s.spokes, func(b *spoke) bool {
		return old.Equal(b.at[0]) || old.Equal(b.at[1])
	})
	if !stays {
		s.v = slices.DeleteFunc(s.v, func(w vertex) bool { return w.at.Equal(old) })
	}
	if !slices.ContainsFunc(s.v, func(w vertex) bool { return w.at.Equal(v.at) }) {
		s.v = append(s.v, v)
	}
}
