package assay

import "math/rand/v2"

// Encode returns the features of c for models, in the order of the parameters:
//
//   - of an ordered parameter its unit-cube coordinate;
//   - of a categorical one with more than two levels a 0/1 feature for each level,
//     so that a model need not see an order where there is none;
//   - of a categorical one with one or two levels its unit-cube coordinate.
//
// Every feature is in [0, 1], and different configurations have different features.
// The caller owns the slice. See [Space.Features].
func (s *Space) Encode(c Config) []float64 {
	return s.AppendEncode(make([]float64, 0, len(c)), c)
}

// AppendEncode appends the features of c to x and returns the extended slice. Given
// room, it allocates nothing: a model that looks at many configurations keeps one x.
func (s *Space) AppendEncode(x []float64, c Config) []float64 {
	for i, p := range s.Params {
		if !p.oneHot() {
			x = append(x, p.ToUnit(c[i]))
			continue
		}
		for l := range p.Levels {
			if float64(l) == c[i] {
				x = append(x, 1)
			} else {
				x = append(x, 0)
			}
		}
	}
	return x
}

// A Feature is one column of [Space.Encode].
type Feature struct {
	Param int    // index of the parameter it comes from
	Name  string // the parameter's name, or "name=level"
}

// Features describes the columns of [Space.Encode].
func (s *Space) Features() []Feature {
	var fs []Feature
	for i, p := range s.Params {
		if !p.oneHot() {
			fs = append(fs, Feature{i, p.Name})
			continue
		}
		for _, l := range p.Levels {
			fs = append(fs, Feature{i, p.Name + "=" + l})
		}
	}
	return fs
}

// oneHot reports whether each level has a feature of its own. Two levels need only one.
func (p Param) oneHot() bool { return p.Kind == Categorical && len(p.Levels) > 2 }

// newSampler returns the fixed source behind draws that are no part of a search's
// randomness: a space of the same definition has the same size, and the same nearest
// configurations, in every process.
func newSampler() *rand.Rand { return rand.New(rand.NewPCG(0, 0)) }
