package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

const (
	// These four bound the predictions of one proposal in a space without a pool.
	randomCandidates = 512 // draws from the whole space
	starts           = 4   // of the local search: as many trials, and as many candidates
	variations       = 16  // mutations of each of the best trials
	maxClimb         = 12  // steps of one local search
	lineValues       = 64  // of a continuous or finely divided parameter on a line
)

// maximize returns the configuration not visited with the largest expected
// improvement and its predicted mean; nil if it finds none.
func (b *Bayes) maximize() (assay.Config, float64) {
	if b.pool != nil {
		return b.pool.maximize(b)
	}
	// The best trials are scored first, though they are visited: the climb starts from them.
	s := &sweep{b: b, seen: visited{}}
	best := b.bestTrials(b.starts)
	var cs []assay.Config
	for _, e := range best {
		cs = s.admit(cs, e.config)
	}
	from := s.score(cs, math.Inf(-1))
	cs = nil
	for range b.draws {
		if c, ok := b.draw(limitedDraws); ok {
			cs = s.admit(cs, c)
		}
	}
	for _, e := range best {
		for range variations {
			if c, ok := b.vary(e.config); ok {
				cs = s.admit(cs, c)
			}
		}
	}
	scored := s.score(cs, math.Inf(-1))
	if !b.space.Listed() { // where neighbours cost a pass over the list
		// The sort is stable, so that the same seed climbs from the same candidates.
		slices.SortStableFunc(scored, func(a, c candidate) int { return cmp.Compare(c.score, a.score) })
		s.climb(append(from, scored[:min(b.starts, len(scored))]...))
	}
	return s.best.config, s.best.mean
}

// outsideBy returns by how much a measured trial breaks the limits, 0 if it keeps them.
func (b *Bayes) outsideBy(e example) float64 {
	if e.state == assay.Done {
		return 0
	}
	return math.Nextafter(b.limits.excess(e), math.Inf(1))
}

// bestTrials returns the n finished trials with the least values, the earliest of equals first. If limits are
// learned, the trials outside come last, the one that breaks them least first.
func (b *Bayes) bestTrials(n int) []example {
	// A copy: b.trials is in the order of time, and stays so.
	es := slices.DeleteFunc(slices.Clone(b.trials), func(e example) bool { return !b.measured(e) })
	slices.SortStableFunc(es, func(a, c example) int {
		if b.limits != nil && (a.state != assay.Done || c.state != assay.Done) {
			return cmp.Or(cmp.Compare(b.outsideBy(a), b.outsideBy(c)), cmp.Compare(a.value, c.value))
		}
		return cmp.Compare(a.value, c.value)
	})
	return es[:min(n, len(es))]
}

// vary returns c with one parameter or a few changed: a continuous or finely
// divided one by a normal step of a random width, any other to a random value.
func (b *Bayes) vary(c assay.Config) (assay.Config, bool) {
	v := c.Clone()
	d := b.space.Dim()
	for k := 0; k == 0 || b.rng.IntN(2) == 0; k++ { // 1, 2, 3, ... with 1/2, 1/4, 1/8, ...
		i := b.rng.IntN(d)
		p := b.space.Params[i]
		// A step of a fifth of the range may not leave the value of so coarse a parameter.
		if p.Kind == assay.Permutation {
			v[i] = swapped(p, v[i], b.rng)
			continue
		}
		if n := p.Count(); !p.Ordered() || n > 0 && n <= 5 {
			v[i] = p.FromUnit(b.rng.Float64())
			continue
		}
		// The logarithm of the width is uniform.
		width := 0.2 * math.Pow(0.1, b.rng.Float64()) // 0.02 to 0.2 of the range
		v[i] = p.Unscale(p.ToUnit(v[i]) + width*b.rng.NormFloat64())
	}
	v = b.space.Rested(v)
	return v, b.space.Contains(v)
}

// lines returns the admissible configurations that differ from c in one ordered parameter, by a step of any length. A
// parameter of more than lineValues values has as many on its line, evenly spread. Any other category is a neighbour of
// c already, and so is any swap of a permutation.
func lines(space *assay.Space, c assay.Config) (out []assay.Config) {
	for i, p := range space.Params {
		if !p.Ordered() {
			continue
		}
		values := p.Values(lineValues)
		if values == nil {
			for k := range lineValues {
				values = append(values, p.FromUnit((float64(k)+0.5)/lineValues))
			}
		}
		for _, x := range values {
			v := c.Clone()
			v[i] = x
			if v = space.Rested(v); space.Contains(v) && !v.Equal(c) {
				out = append(out, v)
			}
		}
	}
	return out
}

// A candidate is a configuration with its prediction.
//
// mean and score are on the scale of the surrogate.
type candidate struct {
	config assay.Config // nil before the first one
	mean   float64      // predicted
	score  float64      // LogEI, and the log of the chance to keep the limits
}

// A sweep scores candidates for one proposal.
//
// Invariant: best is open, and one of ties equals with probability 1/ties. It has no configuration as long
// as none that is open was scored.
type sweep struct {
	b    *Bayes    // scores the candidates
	seen visited   // candidates so far
	best candidate // among those not visited
	ties int       // candidates as good as best
}

// admit appends c to cs unless it has been a candidate before.
func (s *sweep) admit(cs []assay.Config, c assay.Config) []assay.Config {
	if s.seen.add(c) {
		cs = append(cs, c)
	}
	return cs
}

// openOf returns the given configurations that can be proposed, without those that have been candidates.
func (s *sweep) openOf(given []assay.Config) (cs []assay.Config) {
	for _, c := range given {
		if s.b.open(c) {
			cs = s.admit(cs, c)
		}
	}
	return cs
}

// score predicts configurations. Visited ones are scored, to be passed through,
// but never the best; likewise those outside a limit. A score below least need not be exact, but is below it.
func (s *sweep) score(cs []assay.Config, least float64) []candidate {
	X, out := make([][]float64, len(cs)), make([]assay.Prediction, len(cs))
	// One array for all rows. A row that is cut off before the array grows keeps the old one, which is as good.
	all := make([]float64, 0, len(cs)*len(s.b.trials[0].features))
	for i, c := range cs {
		n := len(all)
		all = s.b.appendEncode(all, c)
		// The capacity ends with the row, so that no append reaches into the next one.
		X[i] = all[n:len(all):len(all)]
	}
	assay.PredictAll(s.b.surrogate, X, out)
	scores := make([]float64, len(cs))
	for i, o := range out {
		scores[i] = s.b.improvement(o)
	}
	if s.best.config == nil {
		least = math.Inf(-1)
	}
	s.b.limits.weigh(X, scores, min(least, s.best.score))
	scored := make([]candidate, len(cs))
	for i, c := range cs {
		scored[i] = candidate{c, out[i].Mean, scores[i]}
		s.offer(scored[i])
	}
	return scored
}

// offer keeps c if it can be proposed and is the best so far, or one of n equals
// with probability 1/n.
func (s *sweep) offer(c candidate) {
	// open comes last: the limit may be dear.
	first := s.best.config == nil || better(c, s.best)
	if !first && better(s.best, c) || !s.b.open(c.config) {
		return
	}
	if first {
		s.best, s.ties = c, 1
	} else if s.ties++; s.b.rng.IntN(s.ties) == 0 {
		s.best = c
	}
}

// better orders by expected improvement, and by predicted mean if there is no improvement.
//
// It is a strict order: neither of two equals is better.
func better(a, b candidate) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.mean < b.mean
}

// climb moves each candidate to its best neighbour until that is no better. All
// of them step together, so that the surrogate predicts many at once; where two
// meet, one goes on.
func (s *sweep) climb(from []candidate) {
	for step := 0; step < maxClimb && len(from) > 0; step++ {
		least := math.Inf(1)
		for _, c := range from {
			least = min(least, c.score)
		}
		var cs []assay.Config
		var of []int // the climber whose neighbour it is
		for i, c := range from {
			for _, n := range s.b.space.Neighbours(c.config) {
				// A neighbour of two climbers belongs to the first of them.
				if cs = s.admit(cs, n); len(cs) > len(of) {
					of = append(of, i)
				}
			}
		}
		next := slices.Clone(from)
		for k, c := range s.score(cs, least) {
			if i := of[k]; better(c, next[i]) {
				next[i] = c
			}
		}
		var moved []candidate
		for i, c := range next {
			if better(c, from[i]) {
				moved = append(moved, c)
			}
		}
		// Who has not moved is done.
		from = moved
	}
}
