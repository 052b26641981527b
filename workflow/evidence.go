package workflow

import "math"

// The constants of byEvidence. They were chosen on seven applications of the open public executions
// (lab/notes/workflow.md) and judged on four others. The result hardly depends on any of them.
var (
	// noises are the relative errors that a model may have, and scales the factors by which the
	// coefficients of an application may be larger than termScale: the evidence is summed over both.
	// Their priors are normal in the logarithm about noiseMedian and about 1.
	noises = []float64{0.02, 0.04, 0.08, 0.16, 0.32, 0.64}
	scales = []float64{0.3, 1, 3, 10, 30}
)

const (
	noiseMedian = 0.05
	noiseSpread = 0.7
	scaleSpread = 2
	// factorSpread is the standard deviation of Scale about 1.
	factorSpread = 0.5
	// repeatShare is the share of an execution's error that its repetitions have too. Their evidence about
	// the site grows that much slower than their number.
	repeatShare = 0.7
	// evidencePower is the power to which the evidence counts: every model is an approximation, and errors
	// are not independent.
	evidencePower = 0.5
)

// byEvidence is the rule that prefers models that make the executions likely. Errors are normal, of a
// size that is not known; coefficients have priors of the sizes that are usual for their terms, or of
// some multiple that is common to all (a hierarchical prior: how much a site adds differs between
// applications by orders of magnitude). A model's score is minus the logarithm of the probability of the
// recorded makespans, plus the penalties for the overheads that it leaves out.
//
// Unlike byValidation it needs no second configuration, and the same rule holds for any number.
func byEvidence(s *training, m *candidate, left []Seconds) fitted {
	p := len(m.terms)
	count := s.repetitions()
	parts, total := s.equations(m, func(k int) float64 { return count[k] })
	theta, evidence := m.posterior(&total)
	out := missingPenalty*m.missing(Scale, WorkPerNode) + slotPenalty*computeModels()[m.model].halvings()
	r := fitted{candidate: m, by: byEvidence, theta: theta, left: left, score: out - evidencePower*evidence}
	if left == nil {
		return r
	}
	for g := range parts {
		rest := theta
		if len(parts) > 1 {
			others := total.minus(&parts[g])
			rest, _ = m.posterior(&others)
		}
		for _, k := range s.members[g] {
			left[k] = m.predict(s.feature[k], rest[:p])
		}
	}
	return r
}

// repetitions returns how much each execution counts beside its repetitions: n of them are worth
// n/(1 + repeatShare·(n-1)) of as many configurations.
func (s *training) repetitions() []float64 {
	size := make([]float64, len(s.configs))
	for _, c := range s.config {
		size[c]++
	}
	count := make([]float64, len(s.config))
	for k, c := range s.config {
		count[k] = 1 / (1 + repeatShare*(size[c]-1))
	}
	return count
}

// posterior returns the mean coefficients and the logarithm of the evidence, up to a constant that is the
// same for all models of a training set.
func (c *candidate) posterior(r *residuals) (mean [maxTerms]float64, evidence float64) {
	var sum logSum
	for _, scale := range scales {
		for _, noise := range noises {
			theta, e := c.mode(r, scale, noise)
			z, y := math.Log(scale)/scaleSpread, math.Log(noise/noiseMedian)/noiseSpread
			weight, shrink := sum.add(e - (z*z+y*y)/2)
			for i := range mean {
				mean[i] = mean[i]*shrink + theta[i]*weight
			}
		}
	}
	return mean, sum.log
}

// mode returns the likeliest coefficients that are not negative, for errors of one size and priors of
// one scale, and the logarithm of the evidence by Laplace's approximation there: over the coefficients above 0.
func (c *candidate) mode(r *residuals, scale, noise float64) (theta [maxTerms]float64, evidence float64) {
	p := len(c.terms)
	m, squares := r.gram, r.squares
	logDet := 0.0
	var spread [maxTerms]float64
	for i, t := range c.terms {
		about := 0.0
		spread[i] = scale * termScale[t]
		if t == Scale {
			spread[i], about = factorSpread, 1
		}
		prior := noise * noise / (spread[i] * spread[i])
		m.g[i*maxTerms+i] += prior
		m.c[i] += prior * about
		squares += prior * about * about
	}
	theta = m.nnls(p)
	var free [maxTerms]bool
	for i := range p {
		free[i] = theta[i] > 0
		squares -= 2 * theta[i] * m.c[i]
		for j := range p {
			squares += theta[i] * m.g[i*maxTerms+j] * theta[j]
		}
		if free[i] {
			logDet += 2 * math.Log(spread[i]/noise)
		}
	}
	logDet += m.logDet(p, &free)
	return theta, -squares/(2*noise*noise) - r.rows*math.Log(noise) - logDet/2
}

// logSum is the logarithm of a sum of exponentials, kept so that nothing overflows, and n terms of
// it so far.
type logSum struct {
	log float64 // of the sum so far
	n   int     // terms so far
}

// add adds exp(x) and returns its share of the sum, and the share of the earlier terms.
func (s *logSum) add(x float64) (share, before float64) {
	if s.n++; s.n == 1 {
		s.log = x
		return 1, 0
	}
	top := max(s.log, x)
	log := top + math.Log(math.Exp(s.log-top)+math.Exp(x-top))
	share, before = math.Exp(x-log), math.Exp(s.log-log)
	s.log = log
	return share, before
}
