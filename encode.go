package assay

import (
	"math"
	"math/rand/v2"
)

// Encode returns the features of c for models, in the order of the parameters:
//
//   - of an ordered parameter its unit-cube coordinate;
//   - of a categorical one with more than two levels a 0/1 feature for each level,
//     so that a model need not see an order where there is none;
//   - of a categorical one with one or two levels its unit-cube coordinate;
//   - of a permutation a 0/1 feature for each pair of levels: whether the second comes first.
//
// Every feature is in [0, 1], or NaN, which is missing, if its parameter is not in force; different
// configurations have different features. The caller owns the slice. See [Space.Features].
func (s *Space) Encode(c Config) []float64 {
	return s.AppendEncode(make([]float64, 0, len(c)), c)
}

// AppendEncode appends the features of c to x and returns the extended slice. Given
// room, it allocates nothing for a space without permutations: a model that looks at many
// configurations keeps one x.
func (s *Space) AppendEncode(x []float64, c Config) []float64 {
	for i := range s.Params {
		p := &s.Params[i]
		switch {
		case p.When != nil && !s.Active(c, i):
			for range p.width() {
				x = append(x, math.NaN())
			}
		case p.Kind == Permutation:
			x = p.appendPairs(x, c[i])
		case !p.oneHot():
			x = append(x, p.ToUnit(c[i]))
		default:
			for l := range p.Levels {
				if float64(l) == c[i] {
					x = append(x, 1)
				} else {
					x = append(x, 0)
				}
			}
		}
	}
	return x
}

// A Feature is one column of [Space.Encode].
type Feature struct {
	Param int    // index of the parameter it comes from
	Name  string // the parameter's name, "name=level", or "name=second<first" of a pair
}

// Features describes the columns of [Space.Encode].
func (s *Space) Features() []Feature {
	var fs []Feature
	for i, p := range s.Params {
		switch {
		case p.Kind == Permutation && len(p.Levels) > 1:
			for b := range p.Levels {
				for _, first := range p.Levels[:b] {
					fs = append(fs, Feature{i, p.Name + "=" + p.Levels[b] + "<" + first})
				}
			}
		case !p.oneHot():
			fs = append(fs, Feature{i, p.Name})
		default:
			for _, l := range p.Levels {
				fs = append(fs, Feature{i, p.Name + "=" + l})
			}
		}
	}
	return fs
}

// width returns how many features the parameter has.
func (p *Param) width() int {
	switch n := len(p.Levels); {
	case p.Kind == Permutation && n > 1:
		return n * (n - 1) / 2
	case p.oneHot():
		return n
	}
	return 1
}

// appendPairs appends the features of an order.
func (p *Param) appendPairs(x []float64, at float64) []float64 {
	if len(p.Levels) < 2 {
		return append(x, p.ToUnit(at))
	}
	var place [maxOrder]int
	for i, l := range p.Order(at) {
		place[l] = i
	}
	for b := range p.Levels {
		for a := range b {
			if place[b] < place[a] {
				x = append(x, 1)
			} else {
				x = append(x, 0)
			}
		}
	}
	return x
}

// oneHot reports whether each level has a feature of its own. Two levels need only one.
func (p Param) oneHot() bool { return p.Kind == Categorical && len(p.Levels) > 2 }

// newSampler returns the fixed source behind draws that are no part of a search's
// randomness: a space of the same definition has the same size, and the same nearest
// configurations, in every process.
func newSampler() *rand.Rand { return rand.New(rand.NewPCG(0, 0)) }
