package stop

import (
	"math"

	"github.com/assay-run/assay"
)

// Incumbent stops a run as soon as its value reaches that of the best finished
// trial: BO-TC of Cello (Ding et al. 2022, §4.3). With an exact objective it
// never stops a run that would have been the new best. No run is stopped before
// a trial has finished.
//
// Where runs are noisy the best value is partly luck: once a lucky run is the
// best, nothing that is as good gets to its end any more, and nothing more is
// learned. Margin lets a run go on until its value is that share above the best:
// 0.1 is a tenth. The margin is of the best's absolute value.
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
