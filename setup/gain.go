package setup

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stop"
)

// ender returns the rule that ends the study when no more is to be gained; nil if it asks for none.
func (p *Problem) ender() assay.Ender {
	if p.Definition.Stop.Gain == 0 {
		return nil
	}
	return NewEnder(p.Space, p.Definition.Stop.Gain, p.Definition.Search.Seed)
}

// NewEnder returns the rule that ends a study of a space when as much again is likely to bring less than
// so many per cent of the best value.
func NewEnder(space *assay.Space, percent float64, seed uint64) assay.Ender {
	return stop.NewGain(space, percent/100, seed)
}
