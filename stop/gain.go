package stop

import (
	"fmt"
	"math"
	"strconv"

	"github.com/assay-run/assay"
)

// A Gain ends a study when continuing is not worth the cost: when as much again as its cost so far, or the rest of its
// budget if that is less, is likely to improve the best value by less than Least. It is an [assay.StudyStopper], safe
// for concurrent use.
//
// The gain of continuing cannot be computed: the models of a search know nothing of a basin that they have not seen. So
// the chance that it is less than Least was learned from recorded studies, from the gain that a process and a forest
// expect of the best untried configuration, the time since the last gain of that size, and the number of runs. It was
// calibrated so that at least 9 of 10 studies that are ended for 1 % would have gained less; docs/results/gain.md
// reports how far that holds.
//
// It judges after 15 runs of the study and after every further tenth: a judgement fits two models.
type Gain struct {
	space *assay.Space // of the study
	least float64      // relative improvement that is worth going on
	seed  uint64       // of the models
}

var _ assay.StudyStopper = (*Gain)(nil)

// NewGain returns the rule for studies of a space. It panics unless least, a share of the best value, is in (0, 1].
func NewGain(space *assay.Space, least float64, seed uint64) *Gain {
	if !(least > 0 && least <= 1) {
		panic(fmt.Sprintf("stop: a least gain of %v", least))
	}
	return &Gain{space, least, seed}
}

// Least implements [assay.StudyStopper].
func (g *Gain) Least() float64 { return g.least }

const (
	gainAfter  = 15  // runs before the first judgement
	gainEvery  = 1.1 // growth of the runs from one judgement to the next
	gainDone   = 8   // finished runs; with fewer, a model is of little use
	gainLikely = 0.93
)

// Enough implements [assay.StudyStopper].
func (g *Gain) Enough(history []assay.Trial, left float64) (why string, enough bool) {
	if !(left > 0) || !judges(len(history)) {
		return "", false
	}
	e, ok := g.evidence(history)
	if !ok {
		return "", false
	}
	// A gain in a part of the doubling is as likely as that part of it, on the scale on which doublings are equal.
	again := min(1, left)
	likely := 1 - (1-e.quiet())*math.Log2(1+again)
	if likely < gainLikely {
		return "", false
	}
	much := "doubling the number of runs is"
	if left < 1 {
		much = "spending the rest of the budget is"
	}
	return fmt.Sprintf("after %d runs %s likely (%.0f %%) to gain less than %s; of no untried configuration more than "+
		"%s is expected",
		len(history), much, 100*likely, percentText(g.least), percentText(math.Exp(e.expected()))), true
}

// judges reports whether the rule judges after n runs.
func judges(n int) bool {
	at := gainAfter
	for at < n {
		at = max(at+1, int(gainEvery*float64(at)))
	}
	return at == n
}

// percentText writes a share for people, in per cent with two digits.
func percentText(x float64) string {
	if x < 1e-4 {
		return "0.01 %"
	}
	return strconv.FormatFloat(100*x, 'g', 2, 64) + " %"
}

// A gainEvidence is the input of the judgement.
type gainEvidence struct {
	least           float64 // as in Gain
	runs            float64 // of the study so far
	quietFor        float64 // doublings of the runs since the best value came within least of the present one
	process, forest float64 // log of the improvement that each expects of the best untried configuration
}

// expected returns the log of the greater of the improvements that the models expect.
func (e gainEvidence) expected() float64 { return max(e.process, e.forest) }

// quiet returns the probability that doubling the number of runs gains less than least: a logistic function, whose
// coefficients were fitted to recorded studies.
func (e gainEvidence) quiet() float64 {
	units := min(3, max(-6, e.expected()-math.Log(e.least))) // models are never surer than that
	z := gainWeights[0] + gainWeights[1]*math.Log(e.runs) + gainWeights[2]*e.quietFor + gainWeights[3]*units
	return 1 / (1 + math.Exp(-z))
}

// gainWeights were fitted to 100 replays of ten recorded tables, see lab/notes/gain.md: of 1, the log of the runs,
// the quiet doublings, and the log of the expected improvement in units of the least gain.
var gainWeights = [4]float64{-1.45, 0.65, 0.33, -0.39}
