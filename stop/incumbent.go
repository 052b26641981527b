package stop

import (
	"math"

	"github.com/assay-run/assay"
)

// Incumbent stops a run as soon as its value reaches the best finished trial's: BO-TC of Cello (Ding et al. 2022,
// §4.3). With an exact objective it never stops a run that would have been the new best. No run is stopped before a
// trial has finished.
//
// With noisy runs the best value is partly luck: once a lucky run is the best, no equally good run reaches its end, and
// nothing more is learned. Margin lets a run continue until its value is that share above the best: 0.1 is a tenth. The
// margin is relative to the best's absolute value.
type Incumbent struct {
	Margin float64 // 0 stops at the best value itself
}

var _ assay.Stopper = Incumbent{}

// Decide implements [assay.Stopper].
func (s Incumbent) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	best, ok := assay.Best(history)
	if ok && running.Value >= best.Value+s.Margin*math.Abs(best.Value) {
		return against(running, best, "best is")
	}
	return assay.Decision{Predicted: math.NaN()}
}
