package assay

import (
	"math"
)

// realStep is how far apart, on the unit scale, neighbours of a continuous
// parameter are.
const realStep = 0.05

// Unit maps c to the unit cube, one number in [0, 1] per parameter on its
// search scale; see [Param.ToUnit].
func (s *Space) Unit(c Config) []float64 {
	u := make([]float64, len(c))
	for i, p := range s.Params {
		u[i] = p.ToUnit(c[i])
	}
	return u
}

// FromUnit maps a point of the unit cube to a configuration such that a uniform point gives uniform values; see
// [Param.FromUnit]. Parameters that are not in force are at rest. It ignores relations and list: check with
// [Space.Contains], or use [Space.Nearest].
func (s *Space) FromUnit(u []float64) Config {
	c := make(Config, len(s.Params))
	for i, p := range s.Params {
		c[i] = p.FromUnit(u[i])
	}
	return s.Rested(c)
}

// Distance returns the distance of two configurations: Euclidean on the unit
// cube, where two different categories are at distance 1, two orders at the share of the pairs
// that they have the other way round, and a parameter that is in force in one configuration
// alone adds 1.
func (s *Space) Distance(a, b Config) float64 { return math.Sqrt(s.distance2(a, b)) }

// distance2 returns the square of Distance, which has the same order and no root.
func (s *Space) distance2(a, b Config) float64 {
	var sum float64
	for i := range s.Params {
		if s.order != nil && s.Params[i].When != nil {
			if x, y := s.Active(a, i), s.Active(b, i); x != y {
				sum++
				continue
			} else if !x {
				continue
			}
		}
		sum += s.Params[i].distance2(a[i], b[i])
	}
	return sum
}

// distance2 returns the square of the distance of two coordinates.
func (p *Param) distance2(x, y float64) float64 {
	d := 1.0
	switch {
	case x == y:
		return 0
	case p.Kind == Permutation:
		d = p.orderDistance(x, y)
	case p.Kind != Categorical:
		d = p.ToUnit(x) - p.ToUnit(y)
	}
	return d * d
}

// Nearest returns the admissible configuration at the least [Space.Distance] from c, whose coordinates need not be
// values of their parameters; the first of equals. c has one coordinate for each parameter, and is not changed.
//
// First, each coordinate is snapped, and parameters that are not in force are put at rest; distances are taken from
// there. Groups of related parameters do not interact, so each is moved on its own: the sum of the least squares is the
// least sum. Parameters that are not in force after the move cost nothing there. If a group is continuous or too large
// to hold, its tuple is only the nearest of a fixed set of random draws, or stays as it is if none of these is
// admissible. Cost: the length of the list, or the size of the related groups.
func (s *Space) Nearest(c Config) Config {
	snapped := make(Config, len(c))
	for i, p := range s.Params {
		snapped[i] = p.Snap(c[i])
	}
	snapped = s.Rested(snapped)
	if s.Contains(snapped) {
		return snapped
	}
	if s.list != nil {
		dist, best, least := s.distances(snapped), 0, math.Inf(1)
		for k := range s.list.n {
			if d := dist(k, least); d < least {
				best, least = k, d
			}
		}
		return s.list.at(best)
	}
	for i := range s.groups {
		if g := &s.groups[i]; !g.holds(s, snapped) {
			g.nearest(s, snapped)
		}
	}
	return snapped
}

// nearest moves the coordinates of c that belong to the group to the nearest
// admissible tuple.
func (g *group) nearest(s *Space, c Config) {
	target := c.Clone()
	if g.tuples != nil {
		g.tuples.nearest(func(layer int, value int64, alone bool) float64 {
			d := g.dims[layer]
			p := &s.Params[d]
			if alone && p.When != nil { // the only edge: at rest, or all that is left
				return 0
			}
			return p.distance2(p.At(value), target[d])
		}, g.setter(s, c))
		return
	}
	try := c.Clone()
	least := math.Inf(1)
	rng := newSampler()
	for range 256 {
		if !g.draw(s, try, rng) {
			continue
		}
		if d := s.distance2(try, target); d < least {
			least = d
			for _, k := range g.dims {
				c[k] = try[k]
			}
		}
	}
}

// Neighbours returns the admissible configurations that differ from c in one parameter by one step: the next value up
// and down on the grid, 0.05 of the range for a continuous parameter, every other category, every swap of two levels of
// a permutation. Parameters that a step puts in force or out of force are at rest. In an explicit list, the neighbours
// are the listed configurations that differ in one parameter, by the least difference up and down, or, if none exist,
// the 2N nearest ones. c itself is never among them. The order is fixed: by parameter, up before down.
func (s *Space) Neighbours(c Config) []Config {
	if s.list != nil {
		return s.listNeighbours(c)
	}
	var ns []Config
	add := func(i int, x float64) {
		if x == c[i] {
			return
		}
		n := c.Clone()
		n[i] = x
		if n = s.Rested(n); s.broken(n) < 0 {
			ns = append(ns, n)
		}
	}
	for i, p := range s.Params {
		if !s.Active(c, i) {
			continue
		}
		switch n := p.Count(); {
		case p.Kind == Permutation:
			for _, x := range p.Swaps(c[i]) {
				add(i, x)
			}
		case p.Kind == Categorical:
			for l := range n {
				add(i, float64(l))
			}
		case n == 0:
			add(i, p.Unscale(p.ToUnit(c[i])+realStep))
			add(i, p.Unscale(p.ToUnit(c[i])-realStep))
		default:
			k := p.index(c[i])
			if k+1 < n {
				add(i, p.At(k+1))
			}
			if k > 0 {
				add(i, p.At(k-1))
			}
		}
	}
	return ns
}

// Project is the operator Π of direct search (Tabatabaee et al. 2005, §3.2.1): it clamps x to the bounds, then rounds
// every coordinate between two values towards center's, so that a simplex that contracts onto its centre arrives
// there. center is admissible. If the result is not admissible, the point moves towards center in eighths of the way
// until it is; in an explicit list the result is the listed configuration nearest to the rounded point that is no
// farther from center than that point, or center itself. Coordinates without an order are rounded to the nearest index,
// and parameters that are not in force are at rest.
func (s *Space) Project(x []float64, center Config) Config {
	round := func(x []float64) Config {
		c := make(Config, len(s.Params))
		for i, p := range s.Params {
			c[i] = p.roundTowards(x[i], center[i])
		}
		return s.Rested(c)
	}
	c := round(x)
	if s.Contains(c) {
		return c
	}
	if s.list != nil {
		reach := s.distance2(c, center)
		best, least := center, reach
		dist := s.distances(c)
		for k := range s.list.n {
			if d := dist(k, least); d < least {
				if l := s.list.at(k); s.distance2(l, center) <= reach {
					best, least = l, d
				}
			}
		}
		return best
	}
	y := make([]float64, len(x))
	for k := 7; k > 0; k-- {
		for i := range y {
			y[i] = center[i] + (s.Params[i].clamp(x[i])-center[i])*float64(k)/8
		}
		if c := round(y); s.Contains(c) {
			return c
		}
	}
	return center
}

// clamp moves x into the range of the coordinate; NaN becomes the least value.
func (p Param) clamp(x float64) float64 {
	lo, hi := p.Lo, p.Hi
	if !p.Numeric() {
		lo, hi = 0, float64(p.Count()-1)
	}
	if math.IsNaN(x) {
		return lo
	}
	return min(max(x, lo), hi)
}

// roundTowards clamps x and rounds it to the next value in the direction of
// the coordinate center.
func (p Param) roundTowards(x, center float64) float64 {
	x = p.clamp(x)
	switch {
	case !p.Ordered():
		return math.Round(x)
	case p.Count() == 0:
		return x
	}
	// If the nearest value y lies beyond x, as seen from the centre, the value before y
	// is the right one. The tolerance takes x for y where they differ by rounding.
	y := p.Snap(x)
	tol := 1e-9 * max(1, math.Abs(x))
	switch {
	case x > center && y > x+tol:
		return p.At(p.index(y) - 1)
	case x < center && y < x-tol:
		return p.At(p.index(y) + 1)
	}
	return y
}
