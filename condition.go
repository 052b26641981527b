package assay

import (
	"fmt"
	"slices"
)

// Rest returns the coordinate that a parameter has where it is not in force: see [Space.Active].
// It is the middle of an ordered one on its search scale, off of a switch, else the first value.
func (p Param) Rest() float64 {
	if p.Numeric() || p.Kind == Ordinal {
		return p.Unscale(0.5)
	}
	return 0
}

// Conditional reports whether a parameter of the space has a condition.
func (s *Space) Conditional() bool { return s.order != nil }

// Active reports whether the i-th parameter is in force in c: it has no condition, or all
// parameters that its condition reads are in force and the condition holds. One that is not in
// force is not passed to the program, and its coordinate is its [Param.Rest], so that no two
// configurations of a space mean the same.
func (s *Space) Active(c Config, i int) bool { return Active(s.Params, c, i) }

// Active is [Space.Active] for the parameters of a space.
func Active(params []Param, c Config, i int) bool {
	when := params[i].When
	if when == nil {
		return true
	}
	for _, j := range when.Params {
		if !Active(params, c, j) {
			return false
		}
	}
	return when.Holds(c)
}

// Rested returns c with each parameter that is not in force at rest, and c itself if that
// changes nothing.
func (s *Space) Rested(c Config) Config {
	shared := true
	for _, i := range s.order {
		if s.Params[i].When == nil || c[i] == s.rest[i] || s.Active(c, i) {
			continue
		}
		if shared {
			c, shared = c.Clone(), false
		}
		c[i] = s.rest[i]
	}
	return c
}

// says reports whether a relation constrains c: it does if all parameters that it reads are in force.
func (s *Space) says(r *Relation, c Config) bool {
	if s.order == nil {
		return true
	}
	for _, i := range r.Params {
		if !s.Active(c, i) {
			return false
		}
	}
	return true
}

// makeOrder puts the parameters in an order in which each comes behind those that its condition
// reads. It returns an error for a condition that reads its own parameter, be it by others.
func (s *Space) makeOrder() error {
	if !slices.ContainsFunc(s.Params, func(p Param) bool { return p.When != nil }) {
		return nil
	}
	const begun, placed = 1, 2
	state := make([]uint8, len(s.Params))
	s.order = make([]int, 0, len(s.Params))
	var place func(i int) error
	place = func(i int) error {
		p := &s.Params[i]
		switch state[i] {
		case placed:
			return nil
		case begun:
			return fmt.Errorf("parameter %q: its condition hangs on itself", p.Name)
		}
		state[i] = begun
		if p.When != nil {
			if len(p.When.Params) == 0 {
				return fmt.Errorf("parameter %q: its condition %q names no parameter", p.Name, p.When.Text)
			}
			for _, j := range p.When.Params {
				if j < 0 || j >= len(s.Params) {
					return fmt.Errorf("parameter %q: its condition reads parameter %d of %d", p.Name, j, len(s.Params))
				}
				if err := place(j); err != nil {
					return err
				}
			}
		}
		state[i] = placed
		s.order = append(s.order, i)
		return nil
	}
	for i := range s.Params {
		if err := place(i); err != nil {
			return err
		}
	}
	s.rest = make([]float64, len(s.Params))
	for i, p := range s.Params {
		s.rest[i] = p.Rest()
	}
	return nil
}
