package stop

import (
	"fmt"
	"math"
	"strconv"

	"github.com/assay-run/assay"
)

// Static stops a run as soon as its value reaches the one of the first trial that finished: BO-ST of Cello (Ding et al.
// 2022, §4.3), whose limit is the run time of the initial configuration and never falls. The first trial that finished
// is the first of history in state Done, in the order of results; no run is stopped before a trial has finished.
type Static struct{}

var _ assay.Stopper = Static{}

// Decide implements [assay.Stopper].
func (Static) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	for _, t := range history {
		if t.State == assay.Done && !math.IsNaN(t.Value) {
			return against(running, t, "first was")
		}
	}
	return assay.Decision{Predicted: math.NaN()}
}

// against stops a run whose value so far is at least the standard's: it can no longer be better.
func against(running, standard assay.Trial, standing string) assay.Decision {
	d := assay.Decision{Predicted: math.NaN()}
	if running.Value >= standard.Value {
		d.Stop = true
		d.Reason = fmt.Sprintf("%s so far, %s %s (trial %d)",
			number(running.Value), standing, number(standard.Value), standard.ID)
	}
	return d
}

// number writes x with 4 significant digits, which is enough to see why.
func number(x float64) string {
	if y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64); err == nil {
		x = y
	}
	return assay.FormatNumber(x)
}
