package assay

import (
	"fmt"
	"math"
	"slices"
)

// A Level restricts the goal to one value of a parameter that decides the cost of a run, such as the size of an input.
// A run at another value is cheaper and not a solution: it ends [Infeasible], with an exact Value, and shows which
// configurations are worth a run at the full level. Param is the index of the parameter in the space.
type Level struct {
	Param int
	Full  float64 // its coordinate
	Name  string  // of the parameter
	Text  string  // Full as the parameter writes it
}

// At returns c at another level.
func (l Level) At(c Config, level float64) Config {
	c = c.Clone()
	c[l.Param] = level
	return c
}

// Reached reports whether c is at the full level, which is so of every configuration without levels.
func (g Goal) Reached(c Config) bool {
	return g.Level == nil || len(c) <= g.Level.Param || c[g.Level.Param] == g.Level.Full
}

// Beneath returns why a run of c is no answer though it ran to its end, "" if it is one.
func (g Goal) Beneath(c Config) string {
	if g.Reached(c) {
		return ""
	}
	return fmt.Sprintf("a run below the full level, %s=%s", g.Level.Name, g.Level.Text)
}

// Fixed returns the configurations of s whose i-th parameter has the coordinate x, as a space in which that parameter
// has one value. Each of its configurations is one of s. The error matches [ErrEmpty] if no such configuration exists.
func (s *Space) Fixed(i int, x float64) (*Space, error) {
	params := slices.Clone(s.Params)
	params[i] = Param{Name: params[i].Name, Kind: Real, Lo: x, Hi: x}
	if s.list == nil {
		return NewSpace(params, s.Relations...)
	}
	var listed []Config
	for c := range s.All() {
		if c[i] == x {
			listed = append(listed, c)
		}
	}
	return NewList(params, listed, s.Relations...)
}

// levelRatio is how many times as much a level is as the one below it, about; mostLevels is how many there are at most.
const (
	levelRatio = 3.0
	mostLevels = 5
)

// LevelsUpTo returns the coordinates of at most five levels of a parameter from the cheapest to the full one: each
// about a third of the next, among the numbers above 0 that the parameter can be. It is the full one alone if none is
// below it.
func (p Param) LevelsUpTo(full float64) []float64 {
	number := func(x float64) float64 {
		n, _ := p.NumberAt(x)
		return n
	}
	nearest := func(want, below float64) (float64, bool) {
		at, off := 0.0, math.Inf(1)
		try := func(x float64) {
			if n := number(x); n > 0 && n <= below {
				if d := math.Abs(math.Log(n / want)); d < off {
					at, off = x, d
				}
			}
		}
		if p.Numeric() {
			try(p.Snap(max(want, p.Lo)))
			try(p.Snap(min(below, p.Hi)))
		} else {
			for i := range p.Count() {
				try(p.At(i))
			}
		}
		return at, !math.IsInf(off, 1)
	}
	levels := []float64{full}
	for len(levels) < mostLevels {
		now := number(levels[0])
		x, ok := nearest(now/levelRatio, now*0.7)
		if !ok {
			break
		}
		levels = slices.Insert(levels, 0, x)
	}
	return levels
}
