package stop

import (
	"math"

	"github.com/assay-run/assay"
)

// Incumbent stops a run as soon as its value reaches that of the best finished
// trial: BO-TC of Cello (Ding et al. 2022, §4.3). With an exact objective it
// never stops a run that would have been the new best. No run is stopped before
// a trial has finished.
type Incumbent struct{}

var _ assay.Stopper = Incumbent{}

// Decide implements [assay.Stopper].
func (Incumbent) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	if best, ok := assay.Best(history); ok {
		return against(running, best, "best is")
	}
	return assay.Decision{Predicted: math.NaN()}
}
