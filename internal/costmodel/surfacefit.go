package costmodel

import (
	"math"

	"github.com/assay-run/assay/model"
)

// A belief is a normal prior on the logarithm of a hyperparameter.
//
// mean, lo and hi are logarithms, and variance is the variance of the logarithm.
type belief struct{ mean, variance, lo, hi float64 }

// The beliefs are in units of the expected deviation of the outcomes, for z from
// -1/2 to 1/2. They were set on simulated and recorded run times.
var (
	slopeBelief  = belief{math.Log(3), 2, math.Log(1e-3), math.Log(1e3)}
	signalBelief = belief{math.Log(0.1), 2, math.Log(1e-4), math.Log(1e2)}
	noiseBelief  = belief{math.Log(3e-3), 2, math.Log(1e-6), math.Log(1)}
	lengthBelief = belief{math.Log(0.8), 0.7, math.Log(0.05), math.Log(20)}
)

// logDensity is the logarithm of the density of the normal prior, up to a constant.
func (b belief) logDensity(x float64) float64 {
	return -(x - b.mean) * (x - b.mean) / (2 * b.variance)
}

// clamp keeps a step within the range in which the covariance can be factorized.
func (b belief) clamp(x float64) float64 { return min(max(x, b.lo), b.hi) }

// choose sets the hyperparameters and transformations to the most likely ones by a search along one coordinate after
// the other, with steps that halve from 1.6 to 0.2 in the logarithm. With more than 150 examples, it uses every second,
// third, ...
//
// Gradients would take fewer steps, but the transformations are discrete, and few runs make a flat likelihood with a
// prior that decides: a coarse search finds the same mode. With one example the priors stand.
//
// It sets h, warp and z and leaves process unchanged: factorize comes next.
func (p *surface) choose() {
	if p.n > maxChosenFrom {
		// The rest of the examples count in the prediction, but not for the choice.
		q := p.thinned((p.n + maxChosenFrom - 1) / maxChosenFrom)
		q.choose()
		p.h = q.h
		for j, t := range q.warp {
			p.warp[j] = t
			p.column(j)
		}
		return
	}
	p.h.slope, p.h.signal, p.h.noise = slopeBelief.mean, signalBelief.mean, noiseBelief.mean
	for j := range p.h.length {
		p.h.length[j] = lengthBelief.mean
	}
	best := p.posterior()
	if p.n < 2 {
		return
	}
	type coordinate struct {
		at     *float64 // the hyperparameter
		belief belief   // its prior
	}
	coordinates := []coordinate{{&p.h.noise, noiseBelief}, {&p.h.signal, signalBelief}, {&p.h.slope, slopeBelief}}
	for j := range p.h.length {
		if p.lo[j] < p.hi[j] {
			coordinates = append(coordinates, coordinate{&p.h.length[j], lengthBelief})
		}
	}
	// 1.6, 0.8, 0.4 and 0.2.
	for step := 1.6; step > 0.15; step /= 2 {
		// Invariant: best is the posterior where the coordinates stand.
		for _, c := range coordinates {
			for _, dir := range [2]float64{step, -step} {
				old := *c.at
				*c.at = c.belief.clamp(old + dir)
				if v := p.posterior(); v > best+1e-9 {
					best = v
					break
				}
				*c.at = old
			}
		}
		for j := range p.warp {
			best = p.rewarp(j, best)
		}
	}
}

// maxChosenFrom is how many examples hyperparameters are chosen from at most.
//
// A fit takes some 200 evaluations of n³/6 operations: see [Surface].
const maxChosenFrom = 150

// thinned returns the unfitted surface of every k-th example.
//
// It shares the rows of features with p, which neither changes. All that choose sets is its own.
func (p *surface) thinned(k int) *surface {
	q := *p
	q.raw, q.y = nil, nil
	for i := 0; i < p.n; i += k {
		q.raw, q.y = append(q.raw, p.raw[i]), append(q.y, p.y[i])
	}
	q.n = len(q.y)
	q.warp = append([]Transform(nil), p.warp...)
	q.h.length = make([]float64, p.d)
	q.z = make([]float64, q.n*q.d)
	for j := range q.d {
		q.column(j)
	}
	return &q
}

// rewarp tries the other transformations of feature j and returns the posterior
// of the one that it leaves.
func (p *surface) rewarp(j int, best float64) float64 {
	if !p.allows(j, Logarithm) {
		return best
	}
	kept := p.warp[j]
	for _, t := range [...]Transform{Logarithm, Identity, Reciprocal} {
		if t == kept {
			continue
		}
		p.warp[j] = t
		p.column(j)
		// For examples with two values, the transformations are equal but for rounding.
		if v := p.posterior(); v > best+1e-6 {
			best, kept = v, t
		}
	}
	p.warp[j] = kept
	p.column(j)
	return best
}

// posterior returns the logarithm of the marginal likelihood times the priors, up
// to a constant; -Inf where the covariance is not positive definite.
func (p *surface) posterior() float64 {
	y, covariance := p.conditions()
	v := model.LogEvidence(y, covariance) + slopeBelief.logDensity(p.h.slope) +
		signalBelief.logDensity(p.h.signal) + noiseBelief.logDensity(p.h.noise)
	for _, l := range p.h.length {
		v += lengthBelief.logDensity(l)
	}
	return v
}
