package costmodel

import (
	"math"
	"math/rand/v2"

	"github.com/assay-run/assay"
)

const (
	maxCandidates = 512 // assignments that are compared for the next run; half of it in a space that cannot be counted
	maxTargets    = 160 // assignments over which the error is averaged; likewise
)

// accelerated is the default way to learn, which is not the paper's. Each run is the one with the largest expected
// reduction of the error per second.
//
// With the smooth function of log T, the error at r is proportional to its deviation σ_r. After a run at x, whatever
// its outcome, the deviation is
//
//	σ_r' = √(σ_r² - cov(r, x)²/(σ_x² + σ²))
//
// (Cohn, Ghahramani and Jordan 1996). So the score of x is
//
//	Σ_r (σ_r - σ_r')·(1 - risk_r) · (1 - risk_x) / T̂(x).
//
// σ_r is the deviation of the noise-free outcome at r, so that a run gets no credit for its own noise. risk is the
// probability that a run fails, see feasibility: an assignment on which the program fails is neither a target nor a
// good choice. T̂(x) is the predicted time.
type accelerated struct {
	surface *surface // of the runs at the time of asked
	asked   int      // how many runs surface is fitted to
}

// next implements plan.
func (a *accelerated) next(l *ActiveLearner) (pick, bool) {
	c, ok := a.choose(l)
	return pick{config: c, roles: roles{forTraining: true}}, ok
}

// choose returns the next assignment, or false if no assignment is left. The random numbers depend on the seed and on
// the number of earlier proposals, so that a resumed search repeats its proposals.
func (a *accelerated) choose(l *ActiveLearner) (assay.Config, bool) {
	rng := rand.New(rand.NewPCG(l.opts.Seed, uint64(l.proposals.Last())))
	// Nothing is known yet, and no assignment is far from the middle.
	if len(l.seen)+l.proposals.Len() == 0 {
		return l.middle(), true
	}
	candidates := a.candidates(l, rng)
	if len(candidates) == 0 {
		return nil, false
	}
	s := a.fitted(l)
	if s == nil { // nothing has run to the end yet
		return a.farthest(l, candidates), true
	}
	return a.score(l, s, candidates, a.targets(l, rng)), true
}

// fitted returns the surface of log T, nil without a run. It reuses the model's surface. For a model by another
// regression, it fits a separate surface, again only after new runs.
func (a *accelerated) fitted(l *ActiveLearner) *surface {
	if len(l.runs) == 0 {
		return nil
	}
	if m, err := l.Model(); err == nil && m.parts[Time] != nil && m.parts[Time].surface != nil {
		return m.parts[Time].surface
	}
	if a.surface == nil || a.asked != len(l.runs) {
		f, err := fit(l.attrs, l.runs, form{part: Time, regression: Smooth, attributes: every(l.attrs)}, nil)
		if err != nil {
			return nil
		}
		a.surface, a.asked = f.surface, len(l.runs)
	}
	return a.surface
}

// every returns the indices of all attributes.
func every(attrs []attribute) []int {
	all := make([]int, len(attrs))
	for i := range all {
		all[i] = i
	}
	return all
}

// candidates returns assignments that were not run and are not running: all of them in a small
// space, and a random part of those in a larger one. In a space that cannot be counted they
// are random ones, each with a neighbour that has some attributes at an end.
func (a *accelerated) candidates(l *ActiveLearner, rng *rand.Rand) []assay.Config {
	var cs []assay.Config
	if n := l.space.Size().N; l.space.Indexed() && n <= 4*maxCandidates {
		for c := range l.space.All() {
			if !l.visited(c) {
				cs = append(cs, c)
			}
		}
		if len(cs) > maxCandidates {
			rng.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
			cs = cs[:maxCandidates]
		}
		return cs
	}
	taken := map[string]bool{}
	add := func(c assay.Config) {
		if k := c.Key(); !taken[k] && !l.visited(c) {
			taken[k] = true
			cs = append(cs, c)
		}
	}
	for range maxCandidates {
		if len(cs) >= maxCandidates/2 {
			break
		}
		c, ok := l.space.Draw(rng)
		if !ok {
			break
		}
		add(c)
		// The most informative runs lie at the ends of the ranges.
		corner := c.Clone()
		for i, at := range l.attrs {
			switch worst, best := at.ends(); rng.IntN(3) {
			case 0:
				corner[i] = worst
			case 1:
				corner[i] = best
			}
		}
		if l.space.Contains(corner) {
			add(corner)
		}
	}
	return cs
}

// targets returns the assignments over which the error is averaged: all of a small space, else
// random ones. Assignments that were run are among them, since the model is used there as
// anywhere.
func (a *accelerated) targets(l *ActiveLearner, rng *rand.Rand) []assay.Config {
	return someOf(l.space, rng)
}

// someOf returns all assignments of a small space, and of a larger one some at random.
func someOf(space *assay.Space, rng *rand.Rand) []assay.Config {
	var cs []assay.Config
	if n := space.Size().N; space.Indexed() && n <= maxTargets {
		for c := range space.All() {
			cs = append(cs, c)
		}
		return cs
	}
	for range maxTargets / 2 {
		if c, ok := space.Draw(rng); ok {
			cs = append(cs, c)
		}
	}
	return cs
}

// farthest returns the candidate that is farthest from all that failed and from all that is
// running, the first of equals. It is how the search looks for a place where the program runs
// at all.
func (a *accelerated) farthest(l *ActiveLearner, candidates []assay.Config) assay.Config {
	at, most := 0, -1.0
	for i, c := range candidates {
		d := math.Inf(1)
		for _, f := range l.failed {
			d = min(d, l.space.Distance(c, f))
		}
		for _, p := range l.proposals.Outstanding() {
			d = min(d, l.space.Distance(c, p.config))
		}
		if d > most {
			at, most = i, d
		}
	}
	return candidates[at]
}

// score returns the best candidate, the first of equals.
//
// With L the Cholesky factor of the runs' covariance and v = L⁻¹k(·, runs), the posterior
// covariance of two points is k(x, r) - v_x·v_r: n operations for each pair of a candidate and
// a target.
func (a *accelerated) score(l *ActiveLearner, s *surface, candidates, targets []assay.Config) assay.Config {
	s = a.withPending(l, s)
	f := function{form: form{regression: Smooth, attributes: every(l.attrs)}, attrs: l.attrs}
	var ok []assay.Config
	for _, r := range l.runs {
		ok = append(ok, r.Config)
	}
	feasible := newFeasibility(l.space, l.attrs, l.failed, ok)
	q := s.h.prior()
	type point struct {
		z, v     []float64 // places, and L⁻¹k
		variance float64   // posterior
		mean     float64   // log T
		works    float64   // probability that a run succeeds
	}
	points := func(cs []assay.Config) []point {
		out := make([]point, len(cs))
		for i, c := range cs {
			p := point{z: s.places(f.features(c)), v: make([]float64, s.n), works: 1 - feasible.risk(c)}
			for k := range p.v {
				p.v[k] = q.covariance(p.z, s.z[k*s.d:(k+1)*s.d])
			}
			p.mean = s.process.Mean(p.v) + s.expected(p.z)
			s.process.Whiten(p.v)
			p.variance = q.covariance(p.z, p.z)
			for _, v := range p.v {
				p.variance -= v * v
			}
			p.variance = max(p.variance, 0)
			out[i] = p
		}
		return out
	}
	xs, rs := points(candidates), points(targets)
	best, most := 0, math.Inf(-1)
	for i, x := range xs {
		var gain float64
		for _, r := range rs {
			cov := q.covariance(x.z, r.z)
			for k, v := range x.v {
				cov -= v * r.v[k]
			}
			left := max(r.variance-cov*cov/(x.variance+q.noise), 0)
			gain += r.works * (math.Sqrt(r.variance) - math.Sqrt(left))
		}
		// In logarithms, as the predicted time is. The tiny number keeps the order by time
		// where no candidate teaches anything.
		score := math.Log(gain*x.works+1e-300) - (s.mean + s.scale*x.mean)
		if score > most {
			best, most = i, score
		}
	}
	return candidates[best]
}

// withPending returns the surface as it will be if the outstanding runs end as predicted. Its deviations are exact,
// since they do not depend on the outcomes. It returns s itself if nothing is outstanding, or if the added rows make
// the covariance singular.
func (a *accelerated) withPending(l *ActiveLearner, s *surface) *surface {
	if l.proposals.Len() == 0 {
		return s
	}
	f := function{form: form{regression: Smooth, attributes: every(l.attrs)}, attrs: l.attrs}
	// A shallow copy: z and y are cloned before they grow, and factorize replaces process. s itself,
	// which may belong to the model, stays as it is.
	t := *s
	t.n += l.proposals.Len()
	t.z = append([]float64(nil), s.z...)
	t.y = append([]float64(nil), s.y...)
	for _, p := range l.proposals.Outstanding() {
		row := f.features(p.config)
		t.z = append(t.z, s.places(row)...)
		t.y = append(t.y, (s.Predict(row).Mean-s.mean)/s.scale)
	}
	if !t.factorize() {
		return s
	}
	return &t
}

// told implements plan.
func (a *accelerated) told(*ActiveLearner, pick) {}

// observed implements plan.
func (a *accelerated) observed(assay.Config) roles { return roles{forTraining: true} }

// fit implements plan.
func (a *accelerated) fit(l *ActiveLearner) (*Model, error) {
	return Fit(l.space, l.runs, l.failed, l.opts.Regression)
}

// error implements plan. It returns the larger of the leave-one-out error of the runs and the model's expected error
// elsewhere ([Model.Elsewhere]). The chosen runs are short, so that the former alone ignores long runs.
func (a *accelerated) error(l *ActiveLearner) float64 {
	m, err := l.Model()
	if err != nil {
		return math.NaN()
	}
	e := m.Elsewhere()
	if math.IsNaN(e) {
		return m.Error()
	}
	return math.Max(m.Error(), e)
}
