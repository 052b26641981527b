package costmodel

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
)

const (
	// The size and the sweeps bound the cost: each sweep takes up to 3 + 2·d evaluations of n³/6 operations.
	ensembleSize  = 16 // surfaces
	ensembleSweep = 3  // sweeps over all coordinates from one to the next, and three times as many before the first
	ensembleMost  = 60 // examples: with more, the likeliest surface is as good as the only one
)

// An ensemble is a list of surfaces of the same examples, drawn from the posterior of the hyperparameters and
// transformations. Few runs do not determine the curvature of a function and the share of noise: the likeliest surface
// alone has underestimated their uncertainty.
//
// Each surface has its own covariance, factorized, and shares the examples with the others.
type ensemble []*surface

// ensembleOf draws by Metropolis' rule, one coordinate after the other, from p on. It is a function of
// the examples.
func ensembleOf(p *surface) ensemble {
	if p.n < 2 || p.n > ensembleMost {
		return nil
	}
	// No seed of the user's: a model that is read again from its file has the same intervals.
	rng := rand.New(rand.NewPCG(uint64(p.n), uint64(p.d)))
	q := p.copied()
	at := q.posterior()
	var out ensemble
	for sweep := 0; len(out) < ensembleSize; sweep++ {
		at = q.sweep(rng, at)
		if sweep < 3*ensembleSweep || sweep%ensembleSweep != 0 {
			continue
		}
		s := q.copied()
		// Without the whole ensemble the deviation of the likeliest surface stands.
		if !s.factorize() {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// copied returns a surface of the same examples whose choices are its own; it has no process.
func (p *surface) copied() *surface {
	q := *p
	q.process = nil
	q.warp, q.z, q.h.length = slices.Clone(p.warp), slices.Clone(p.z), slices.Clone(p.h.length)
	return &q
}

// sweep takes one step of the chain along each coordinate. It takes the posterior of the current state in at, and
// returns the posterior of the new state.
func (p *surface) sweep(rng *rand.Rand, at float64) float64 {
	accept := func(v float64) bool { return math.Log(rng.Float64()) < v-at }
	step := func(x *float64, b belief) {
		old := *x
		// The proposal is symmetric, so that the ratio of the posteriors alone decides. A step out of the range
		// of the belief is refused.
		*x += 1.2 * rng.NormFloat64()
		if *x != b.clamp(*x) {
			*x = old
			return
		}
		if v := p.posterior(); accept(v) {
			at = v
			return
		}
		*x = old
	}
	step(&p.h.noise, noiseBelief)
	step(&p.h.signal, signalBelief)
	step(&p.h.slope, slopeBelief)
	for j := range p.h.length {
		if p.lo[j] == p.hi[j] {
			continue
		}
		step(&p.h.length[j], lengthBelief)
		if !p.allows(j, Logarithm) {
			continue
		}
		old := p.warp[j]
		// All three are proposed alike, the present one included, which keeps this proposal symmetric too.
		p.warp[j] = [...]Transform{Logarithm, Identity, Reciprocal}[rng.IntN(3)]
		p.column(j)
		if v := p.posterior(); accept(v) {
			at = v
			continue
		}
		p.warp[j] = old
		p.column(j)
	}
	return at
}

// deviation returns the standard deviation of a new outcome at x, in units of the outcome, noise included. It combines
// the deviations of all surfaces with the distances of their means from mean, the prediction.
func (e ensemble) deviation(x []float64, mean float64) float64 {
	var sum float64
	for _, s := range e {
		p := s.Predict(x)
		// The variance of a mixture about mean: that within each surface and that between them.
		sum += p.Std*p.Std + (p.Mean-mean)*(p.Mean-mean)
	}
	return math.Sqrt(sum / float64(len(e)))
}

// deviation returns the standard deviation of log T at c, noise included. likeliest is the deviation by the likeliest
// function.
func (m *Model) deviation(c assay.Config, seconds, likeliest float64) float64 {
	f := m.parts[Time]
	if f == nil || f.surface == nil || !f.log || m.ensemble == nil {
		return likeliest
	}
	return m.ensemble.deviation(f.features(c), math.Log(max(seconds, least)/f.scale))
}
