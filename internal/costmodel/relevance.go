package costmodel

import (
	"math"
	"slices"

	"github.com/assay-run/assay/internal/stats"
)

// This file finds the total orders of Algorithm 1, of predictors and of attributes, by their relevance.

// order makes the predictors in their total order, each with the total order of its attributes (§3.2, §3.3).
//
// Relevance comes from the screening design. The relevance of an attribute for a predictor is its effect on the
// occupancy. The relevance of a predictor is the largest effect that any attribute has through it, in seconds. An order
// of predictors in the options comes first, and the other predictors follow by relevance. An order of attributes in the
// options is complete for its predictor: an omitted attribute is never added.
//
// The data flow is a predictor only if it is to be learned and varies between the runs.
func (p *published) order(l *ActiveLearner) {
	// A run may be in more than one list. That does no harm: the runs are only used to find their common split.
	runs := slices.Concat(l.runs, l.tests)
	for _, seen := range l.seen {
		runs = append(runs, seen...)
	}
	parts := slices.Clone(splitOf(runs).Parts())
	if hasOther(runs) {
		parts = append(parts, Other)
	}
	if !p.KnownDataFlow && !constantFlow(runs) {
		parts = append(parts, DataFlow)
	}
	effects := map[Part][]float64{}
	relevance := map[Part]float64{}
	for _, part := range append(slices.Clone(parts), DataFlow) {
		effects[part] = p.effects(l, part, false)
		relevance[part] = stats.Max(append(p.effects(l, part, true), 0))
	}
	byRelevance := func(a, b Part) int {
		switch {
		case relevance[a] > relevance[b]:
			return -1
		case relevance[a] < relevance[b]:
			return 1
		}
		return 0
	}
	// Both sorts are stable: predictors that the options omit keep their order by relevance, and ties keep the order of
	// the split.
	slices.SortStableFunc(parts, byRelevance)
	if p.Predictors != nil {
		slices.SortStableFunc(parts, func(a, b Part) int { return place(p.Predictors, a) - place(p.Predictors, b) })
	}
	for _, part := range parts {
		f := &predictor{part: part, error: math.NaN(), before: math.NaN()}
		for _, name := range p.Attributes[part] {
			f.order = append(f.order, l.space.Index(name))
		}
		if f.order == nil {
			// Without a screening there are no effects, and the attributes keep the order of
			// the space.
			f.order = stats.RankEffects(append(effects[part], make([]float64, len(l.attrs)-len(effects[part]))...))
		}
		f.next = make([]int, len(f.order))
		p.predictors = append(p.predictors, f)
	}
}

// place returns the index of x in the order, or one beyond it.
func place(order []Part, x Part) int {
	if i := slices.Index(order, x); i >= 0 {
		return i
	}
	return len(order)
}

// effects returns the effect of each attribute on a part by the screening design;
// in seconds, where the effects of parts are compared, and nil without a screening. A row that
// was run more than once has the mean of its runs, and one that failed the mean of the others.
func (p *published) effects(l *ActiveLearner, part Part, inSeconds bool) []float64 {
	if p.rows == nil {
		return nil
	}
	y := make([]float64, len(p.rows))
	var sum, n float64
	for i, c := range p.screen {
		y[i] = math.NaN()
		if seen := l.seen[c.Key()]; len(seen) > 0 {
			y[i] = meanOf(seen, part, inSeconds)
			sum += y[i]
			n++
		}
	}
	for i := range y {
		if math.IsNaN(y[i]) {
			y[i] = sum / max(n, 1)
		}
	}
	// A failed row has the mean, so that it adds to no effect more than to another.
	effects := stats.Effects(p.rows, y)
	if inSeconds && part == DataFlow {
		for i := range effects {
			effects[i] *= p.meanOccupancy(l)
		}
	}
	return effects
}

// meanOccupancy returns the mean of o_a + o_s over the runs of the screening design, in seconds per
// unit of data flow. With it a difference of the data flow alone becomes one of the time. The product
// D·(o_a + o_s) of each run would not do: that is the time itself, which everything makes differ.
func (p *published) meanOccupancy(l *ActiveLearner) float64 {
	var runs []Run
	for _, c := range p.screen {
		runs = append(runs, l.seen[c.Key()]...)
	}
	if len(runs) == 0 {
		return 0
	}
	return meanOf(runs, Whole, false)
}

// meanOf returns the mean of a part over runs; of an occupancy in seconds if so, which is that times
// the data flow of its run.
func meanOf(runs []Run, part Part, inSeconds bool) float64 {
	var sum float64
	for _, r := range runs {
		x := r.Of(part)
		if inSeconds && part != DataFlow {
			x *= r.DataFlow
		}
		sum += x
	}
	return sum / float64(len(runs))
}
