package assay

import "math/rand/v2"

// Encode returns the features of c for models: the unit-cube coordinate of
// every ordered parameter, and one 0/1 feature for each level of a categorical
// one with more than two levels (a single one for two). See [Space.Features].
func (s *Space) Encode(c Config) []float64 {
	return s.AppendEncode(make([]float64, 0, len(c)), c)
}

// AppendEncode appends the features of c to x and returns the extended slice.
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

func (p Param) oneHot() bool { return p.Kind == Categorical && len(p.Levels) > 2 }

// newSampler returns the fixed source behind samples that are no part of a
// search's randomness.
func newSampler() *rand.Rand { return rand.New(rand.NewPCG(0, 0)) }
