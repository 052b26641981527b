package stop

import (
	"math"

	"github.com/assay-run/assay"
)

// None stops no run.
type None struct{}

var _ assay.Stopper = None{}

// Decide implements [assay.Stopper].
func (None) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	return assay.Decision{Predicted: math.NaN()}
}
