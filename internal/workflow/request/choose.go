package request

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assay-run/assay/internal/stats"
)

// This file chooses among rules by their waste on tasks that they were not fitted to.

// levels are the candidate levels of a rule beyond its shape: the quantile of the use relative to the
// shape, times a margin. Smaller requests come first.
var levels = func() (all []level) {
	for _, p := range []float64{0.9, 0.95, 0.98, 0.99, 1} {
		for _, margin := range []float64{1, 1.05, 1.1, 1.2, 1.35, 1.5, 1.8, 2.2} {
			if p == 1 || margin < 1.2 {
				all = append(all, level{p, margin})
			}
		}
	}
	return all
}()

// A level is a quantile and a margin.
type level struct{ quantile, margin float64 }

// A shape fits the form of a rule to a sample; raised lifts it to a level.
type shape struct {
	// sized shapes depend on the size of the input
	sized bool
	tau   float64 // of the quantile regression
	cap   bool    // at most the most that was seen
	added bool    // lifted by an amount, otherwise by a factor
}

// shapes returns the shapes that are tried for a sample, the simplest first.
func (s *sample) shapes() []shape {
	all := []shape{{}}
	if !s.sized {
		return all
	}
	for _, tau := range []float64{0.5, 0.9} {
		for _, capped := range []bool{false, true} {
			for _, added := range []bool{false, true} {
				all = append(all, shape{sized: true, tau: tau, cap: capped, added: added})
			}
		}
	}
	return all
}

// fit returns the rule of the shape, not lifted. The least that it asks for is the least that was seen,
// so that a line that falls below zero does no harm; a line that falls with the size is no
// rule, and a constant takes its place.
func (h shape) fit(s *sample) Rule {
	if !h.sized {
		return Constant(stats.Median(s.y))
	}
	a, b := s.line(h.tau)
	if !(b > 0) {
		return Constant(stats.Median(s.y))
	}
	low, high := slices.Min(s.y), slices.Max(s.y)
	if !h.cap {
		high = math.MaxFloat64 / 1e30
	}
	return Rule{Base: a, PerByte: b, Low: low, High: high}
}

// line returns the line of a quantile, which several shapes share.
func (s *sample) line(tau float64) (a, b float64) {
	l, ok := s.lines[tau]
	if !ok {
		l[0], l[1] = quantLine(s.x, s.y, tau)
		if s.lines == nil {
			s.lines = map[float64][2]float64{}
		}
		s.lines[tau] = l
	}
	return l[0], l[1]
}

// excess returns how the uses exceed the rule, ascending: as factors, or as amounts.
func (h shape) excess(s *sample, r Rule) []float64 {
	e := make([]float64, len(s.y))
	for i := range s.y {
		if at := r.At(s.x[i]); h.added {
			e[i] = s.y[i] - at
		} else {
			e[i] = s.y[i] / at
		}
	}
	slices.Sort(e)
	return e
}

// raised returns the rule lifted to a level, where excess is how the uses exceed it.
func (h shape) raised(r Rule, excess []float64, l level) Rule {
	lift := excess[rankOf(l.quantile, len(excess))-1]
	if h.added {
		r = r.plus(lift)
		if r.Low <= 0 { // a lift may be negative
			r.Low = math.SmallestNonzeroFloat64
		}
		return r.times(l.margin)
	}
	return r.times(lift * l.margin)
}

// score is the cost of a rule on tasks that were left out.
type score struct {
	waste float64 // cost of unused and of lost units
	fails int     // attempts that failed
}

// add counts the tasks of s at the indices.
func (c *score) add(s *sample, r Rule, at []int) {
	for _, i := range at {
		ask := r.At(s.x[i])
		if s.y[i] > ask {
			c.fails++
		}
		for s.y[i] > ask {
			c.waste += ask * s.w[i]
			ask *= 2
		}
		c.waste += (ask - s.y[i]) * s.w[i] * s.slack
	}
}

// choose returns the rule that wastes least on tasks that were left out and, there, fails for no more
// than the permitted share. If there are too few tasks to estimate that, or no rule keeps it, the rule
// is a cautious one.
//
// A half is added to the failures: 49 tasks without a failure are the fewest that show 1 %.
func (s *sample) choose(failures, usual, unit, floor float64) Choice {
	if len(s.y) == 0 {
		return Choice{}
	}
	c := Choice{Peak: slices.Max(s.y)}
	all := s.shapes()
	scores := s.scores(all, unit, floor)
	best, at := math.Inf(1), [2]int{-1, -1}
	for h := range all {
		for l := range levels {
			sc := scores[h][l]
			if float64(sc.fails)+0.5 > failures*float64(len(s.y)+1) {
				continue
			}
			// A rule that is less simple must be better by more than chance makes it.
			if cost := sc.waste * (1 + 0.02*float64(min(h, 1))); cost < best {
				best, at = cost, [2]int{h, l}
			}
		}
	}
	if s.folds > 1 && at[0] >= 0 {
		h := all[at[0]]
		r := h.fit(s)
		c.Rule = s.sealed(h.raised(r, h.excess(s, r), levels[at[1]])).times(s.margin).rounded(unit, floor)
		return c
	}
	c.Cautious = true
	c.Rule = s.sealed(s.cautious(all, failures, usual)).times(s.margin).rounded(unit, floor)
	return c
}

// mostGrowth bounds a request for an input that is larger than any that was seen: more is left to the
// doubling.
const mostGrowth = 4

// sealed gives a rule without a cap one that can be written, mostGrowth times its request for the
// largest input that was seen. If sizes are known but too similar to fit a line, the rule grows in
// proportion to the size for larger inputs.
func (s *sample) sealed(r Rule) Rule {
	if s.grows {
		return Rule{PerByte: r.High / slices.Max(s.x), Low: r.High, High: mostGrowth * r.High}
	}
	if !r.Sized() {
		return r
	}
	r.High = min(r.High, max(mostGrowth*r.At(slices.Max(s.x)), r.Low))
	return r
}

// scores returns the cost of each level of each shape on the folds that it was not fitted to.
func (s *sample) scores(all []shape, unit, floor float64) [][]score {
	scores := make([][]score, len(all))
	for h := range all {
		scores[h] = make([]score, len(levels))
	}
	for fold := range s.folds {
		rest, out := s.without(fold)
		if len(rest.y) == 0 {
			continue
		}
		for i, h := range all {
			r := h.fit(rest)
			excess := h.excess(rest, r)
			for l := range levels {
				scores[i][l].add(s, h.raised(r, excess, levels[l]).rounded(unit, floor), out)
			}
		}
	}
	return scores
}

// The prior of a cautious rule for the spread of uses when few tasks are known: as if usualWeight tasks
// had been seen with the usual spread. mostCaution bounds its request beyond the most that was seen:
// more is left to the doubling.
const (
	usualWeight = 4
	mostCaution = 2.0
)

// cautious returns a rule for few tasks: the rule of the least spread, lifted to a bound that the next
// task keeps with the chance 1-failures if logarithms of uses are normal, and at least to the largest
// use that was seen, which it exceeds with a chance of one in n+1.
func (s *sample) cautious(all []shape, failures, usual float64) Rule {
	best, least := Constant(stats.Median(s.y)), math.Inf(1)
	for i, h := range all {
		if h.added || len(s.y) < 5 && h.sized {
			continue
		}
		r := h.fit(s)
		// Lines always fit their own data well: they must be a good deal better.
		if spread := s.spread(r) * (1 + 0.5*float64(min(i, 1))); spread < least {
			best, least = r, spread
		}
	}
	n := float64(len(s.y))
	mean := 0.0
	for i := range s.y {
		mean += math.Log(s.y[i]/best.At(s.x[i])) / n
	}
	own := s.spread(best)
	spread := math.Sqrt((usualWeight*usual*usual + (n-1)*own*own) / (usualWeight + n - 1))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: usualWeight + n - 1}.Quantile(1 - failures)
	excess := shape{}.excess(s, best)
	most := excess[len(excess)-1]
	lift := math.Exp(mean + t*spread*math.Sqrt(1+1/n))
	return best.times(min(max(lift, most), mostCaution*most))
}

// usualSpread returns the median over samples of ten tasks and more of the spread of the logarithms
// of their uses; 0.25 if there are none.
func usualSpread(samples []*sample) float64 {
	var all []float64
	for _, s := range samples {
		if len(s.y) >= 10 {
			all = append(all, s.spread(Constant(1)))
		}
	}
	if len(all) == 0 {
		return 0.25
	}
	return stats.Median(all)
}
