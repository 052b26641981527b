package setup

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stop"
)

// NewEnder returns the rule that ends a study of a space once doubling the number of runs is likely to gain less than
// percent per cent of the best value.
func NewEnder(space *assay.Space, percent float64, seed uint64) assay.StudyStopper {
	return stop.NewGain(space, percent/100, seed)
}
