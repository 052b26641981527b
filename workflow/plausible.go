package workflow

import (
	"math"
	"slices"
)

// With one configuration every model fits, and its predictions for others depend on its terms. The
// constants of implausibility were chosen by how well one configuration predicts the others of its
// application and site, as a mean over the nine applications of the open public executions that have
// several (lab/notes/workflow.md): the mean |log(predicted/real)| fell from 0.37 to 0.22. It is flat
// around them: 0.232 to 0.237 from (0.03, 0.03) to (0.05, 0.08) where it was 0.294 without the slots and
// the density.
const (
	// missingPenalty is added for each kind of overhead that a model leaves out: such a model claims that
	// the recorded overhead has no part of this kind.
	missingPenalty = 1.5
	// slotPenalty is for each halving of the slots below the recorded cores.
	slotPenalty = 2
)

// implausibility returns the addition to the score of a model with coefficients theta that were fitted
// to one configuration: minus the logarithm of the prior density of theta, normal with standard
// deviations termScale, in units of modelSpread, so that the model's weight is multiplied by the
// density; and the penalties.
func (c *candidate) implausibility(theta []float64) float64 {
	const most = 20 // standard deviations squared: beyond it is as good as excluded
	sum := missingPenalty*c.missing() + slotPenalty*computeModels()[c.model].halvings()
	for i, t := range c.terms {
		z := theta[i] / termScale[t]
		if t == Scale {
			z = math.Log(max(theta[i], 1e-3))
		}
		sum += min(z*z/2, most)
	}
	return sum
}

// missing returns how many kinds of overhead the model leaves out: once or per level, per task, per
// byte, and the run times themselves, in Eq. 3 or by one of the terms in its place.
func (c *candidate) missing(runTimes ...Term) float64 {
	has := func(terms ...Term) bool {
		return slices.ContainsFunc(terms, func(t Term) bool { return slices.Contains(c.terms, t) })
	}
	missing := 0.0
	for _, there := range []bool{
		has(Start, PerLevel), has(PerTask, PerWave), has(PerGB) || computeModels()[c.model].Link > 0,
		c.fixed || has(runTimes...),
	} {
		if !there {
			missing++
		}
	}
	return missing
}

// halvings returns how often the recorded cores are halved until they are the
// slots. A number of slots counts as a share of 128 cores.
func (m ComputeModel) halvings() float64 {
	switch {
	case m.Cap > 0:
		return math.Log2(128 / float64(m.Cap))
	case m.Share > 0:
		return -math.Log2(m.Share)
	}
	return 0
}
