package assay

import (
	"math/rand/v2"
	"slices"
)

// Encode returns the features of c for models, in the order of the parameters:
//
//   - an ordered parameter: its unit-cube coordinate;
//   - a categorical parameter with more than two levels: a 0/1 feature for each level,
//     so that a model need not see an order where none exists;
//   - a categorical parameter with one or two levels: its unit-cube coordinate;
//   - a permutation: a 0/1 feature for each pair of levels: whether the second comes first;
//   - a parameter with a condition: after these, a 0/1 feature for whether it is in force. Parameters with
//     one condition share it. While it is not in force, the other features are 1/2: a model sees that the
//     value is missing, and a distance between features sees no value.
//
// Every feature is in [0, 1], and different configurations have different features. The caller owns the slice. See
// [Space.Features].
func (s *Space) Encode(c Config) []float64 {
	return s.AppendEncode(make([]float64, 0, len(c)), c)
}

// AppendEncode appends the features of c to x and returns the extended slice. Given
// room, it allocates nothing for a space without permutations: a model that looks at many
// configurations keeps one x.
func (s *Space) AppendEncode(x []float64, c Config) []float64 {
	for i := range s.Params {
		p := &s.Params[i]
		active := s.order == nil || s.Active(c, i)
		switch {
		case !active:
			for range p.width() {
				x = append(x, 0.5)
			}
		case p.Kind == Permutation:
			x = p.appendPairs(x, c[i])
		case !p.oneHot():
			x = append(x, p.ToUnit(c[i]))
		default:
			for l := range p.Levels {
				x = append(x, indicator(float64(l) == c[i]))
			}
		}
		if s.tells(i) {
			x = append(x, indicator(active))
		}
	}
	return x
}

// indicator returns 1 for true.
func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// tells reports whether the i-th parameter has the feature for whether its condition holds.
func (s *Space) tells(i int) bool {
	when := s.Params[i].When
	return when != nil && !slices.ContainsFunc(s.Params[:i], func(p Param) bool {
		return p.When != nil && p.When.Text == when.Text && slices.Equal(p.When.Params, when.Params)
	})
}

// A Feature is one column of [Space.Encode].
type Feature struct {
	Param int    // index of the parameter it comes from
	Name  string // the parameter's name, "name=level", "name=second<first" of a pair, or "name?"
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
		if s.tells(i) {
			fs = append(fs, Feature{i, p.Name + "?"})
		}
	}
	return fs
}

// Ties returns the features of each permutation of more than two levels: in a distance between
// orders each pair of levels weighs the same.
func (s *Space) Ties() [][]int {
	var ties [][]int
	at := 0
	for i, p := range s.Params {
		n := p.width()
		if p.Kind == Permutation && n > 1 {
			var tied []int
			for k := range n {
				tied = append(tied, at+k)
			}
			ties = append(ties, tied)
		}
		if at += n; s.tells(i) {
			at++
		}
	}
	return ties
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
	var place [MaxOrder]int
	for i, l := range p.Order(at) {
		place[l] = i
	}
	for b := range p.Levels {
		for a := range b {
			x = append(x, indicator(place[b] < place[a]))
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
