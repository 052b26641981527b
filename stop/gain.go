package stop

import (
	"fmt"
	"math"
	"strconv"

	"github.com/assay-run/assay"
)

// A Gain ends a study when going on is not worth it: when as much again as it has had, or what is left of
// its budget if that is less, is likely to make the best value better by less than Least. It is an
// [assay.Ender], safe for concurrent use.
//
// What going on brings cannot be computed: the models of a search know nothing of a basin that they have not seen. So
// the chance that it brings less than Least is one that was learned from recorded studies, by how much a process and a
// forest expect of the best untried configuration, how long the study has gone on without gaining as much, and how many
// runs it had. It was calibrated so that at least 9 of 10 studies that are ended for 1 % would have gained less;
// docs/results/gain.md has how far that holds.
//
// It judges when the study has had 15 runs and after every further tenth: a judgement fits two models.
type Gain struct {
	space *assay.Space
	least float64
	seed  uint64
}

var _ assay.Ender = (*Gain)(nil)

// NewGain returns the rule for studies of a space. It panics unless least, a share of the best value, is in (0, 1].
func NewGain(space *assay.Space, least float64, seed uint64) *Gain {
	if !(least > 0 && least <= 1) {
		panic(fmt.Sprintf("stop: a least gain of %v", least))
	}
	return &Gain{space, least, seed}
}

// Least implements [assay.Ender].
func (g *Gain) Least() float64 { return g.least }

const (
	gainAfter  = 15  // runs before the first judgement
	gainEvery  = 1.1 // growth of the runs from one judgement to the next
	gainDone   = 8   // runs that came to their end, without which no model says much
	gainLikely = 0.93
)

// Enough implements [assay.Ender].
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
	much := "as many runs again are"
	if left < 1 {
		much = "what is left of the budget is"
	}
	return fmt.Sprintf("after %d runs %s likely (%.0f %%) to gain less than %s; of no untried configuration more than "+
		"%s is expected",
		len(history), much, 100*likely, percentText(g.least), percentText(math.Exp(e.expected()))), true
}

// judges reports whether the rule judges after so many runs.
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

// A gainEvidence is what the judgement hangs on.
type gainEvidence struct {
	least           float64
	runs            float64
	quietFor        float64 // doublings of the runs since the best value was within least of what it is
	process, forest float64 // log of the improvement that each expects of the best untried configuration
}

// expected returns the log of the greater of the improvements that the models expect.
func (e gainEvidence) expected() float64 { return max(e.process, e.forest) }

// quiet returns how likely as many runs again gain less than least: a logistic function, whose coefficients were
// fitted to recorded studies.
func (e gainEvidence) quiet() float64 {
	units := min(3, max(-6, e.expected()-math.Log(e.least))) // models are never surer than that
	z := gainWeights[0] + gainWeights[1]*math.Log(e.runs) + gainWeights[2]*e.quietFor + gainWeights[3]*units
	return 1 / (1 + math.Exp(-z))
}

// gainWeights were fitted to 100 replays of ten recorded tables, see lab/notes/gain.md: of 1, the log of the runs, the
// quiet doublings, and the log of the expected improvement in units of the least gain.
var gainWeights = [4]float64{-1.45, 0.65, 0.33, -0.39}
