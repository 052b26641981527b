package costmodel

import (
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// choose returns the predictor to refine (step 2.1; §3.2), nil if no predictor has an assignment left.
//
//   - Dynamic: the predictor of the greatest current error (Algorithm 4).
//   - Improvement: the same predictor until a run has lowered its error by less than the threshold; then the next in
//     the total order.
//   - RoundRobin: each in turn, in the total order.
//
// Invariant: turn only grows, and predictors[turn % n] is the last choice. A predictor that was never chosen (used = 0)
// is not skipped.
func (p *published) choose() *predictor {
	n := len(p.predictors)
	left := 0
	for _, f := range p.predictors {
		if !f.spent {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	switch p.Traversal {
	case Dynamic:
		return p.worst()
	case Improvement:
		f := p.predictors[p.turn%n]
		if f.spent || f.used > 0 && f.before-f.error < p.Threshold {
			// A comparison with NaN is false: when its turn comes again the predictor is tried
			// once more before it can be left.
			f.before = math.NaN() // when its turn comes again it is tried anew
			p.turn++
		}
	default:
		if p.predictors[p.turn%n].used > 0 || p.predictors[p.turn%n].spent {
			p.turn++
		}
	}
	for p.predictors[p.turn%n].spent {
		p.turn++
	}
	return p.predictors[p.turn%n]
}

// worst returns the predictor of the greatest error among those with assignments left (Algorithm 4). An unknown error
// counts as greatest, so that each predictor gets its first runs. Ties go to the first in the total order.
func (p *published) worst() *predictor {
	var at *predictor
	rank := func(e float64) float64 {
		if math.IsNaN(e) {
			return math.Inf(1)
		}
		return e
	}
	for _, f := range p.predictors {
		if !f.spent && (at == nil || rank(f.error) > rank(at.error)) {
			at = f
		}
	}
	return at
}

// assignment returns the next run for f (step 2.3), or false if none is left for it. Before
// that it adds an attribute if it is time to (step 2.2): when the last run for f lowered its
// error by less than the threshold, in percentage points. An error that is unknown decides
// nothing.
//
// The designs other than L_max-I_1 vary all attributes at once. They choose the assignment by
// themselves; attributes are added all the same, as functions grow one attribute at a time.
func (p *published) assignment(l *ActiveLearner, f *predictor) (assay.Config, bool) {
	switch {
	case f.used == 0:
		f.used = 1
	case f.before-f.error < p.Threshold:
		f.advance()
	}
	if p.design != nil {
		for {
			c, ok := p.design()
			if !ok {
				return nil, false
			}
			if !l.visited(c) || p.reuse(l, c) {
				return c, true
			}
		}
	}
	for range f.order {
		if c, ok := p.level(l, f); ok {
			return c, true
		}
		f.advance()
	}
	return nil, false
}

// reuse reports whether an assignment that was run is to be run again, now for training. That
// is so for a run of the screening, which the paper spends for the orders alone: the algorithm
// then pays for it twice. A run that trains or is a test sample is never
// repeated.
func (p *published) reuse(l *ActiveLearner, c assay.Config) bool {
	for _, r := range l.runs {
		if r.Config.Equal(c) {
			return false
		}
	}
	for _, r := range l.tests {
		if r.Config.Equal(c) {
			return false
		}
	}
	return len(l.seen[c.Key()]) > 0
}

// advance makes the next attribute in the order ρ_r, the one that is varied, and adds it to
// the function if it is new. After the last comes the first again (step 2.2): an attribute
// that gained little by its first levels may gain more by the finer ones.
func (f *predictor) advance() {
	f.at = (f.at + 1) % len(f.order)
	f.used = max(f.used, f.at+1)
}

// level returns the reference assignment with ρ_r at its next value (Algorithm 5). Values whose assignment was run are
// skipped. If relations exclude the assignment, it is the nearest admissible one. False means that the sequence of
// values is used up.
func (p *published) level(l *ActiveLearner, f *predictor) (assay.Config, bool) {
	a := f.order[f.at]
	levels := l.attrs[a].sequence()
	for f.next[f.at] < len(levels) {
		c := p.reference.Clone()
		c[a] = levels[f.next[f.at]]
		f.next[f.at]++
		if !l.space.Contains(c) {
			c = l.space.Nearest(c)
		}
		if !l.visited(c) || p.reuse(l, c) {
			return c, true
		}
	}
	return nil, false
}

// form returns how a predictor is fitted. Its attributes are those added so far, with their
// predetermined transformations; its runs are those that it can explain; its baseline R_b is
// the reference (Algorithm 6).
func (p *published) form(l *ActiveLearner, f *predictor) form {
	fm := form{part: f.part, regression: Linear, attributes: f.order[:f.used]}
	fm.transforms = publishedTransforms(l.attrs, fm.attributes, p.Reciprocal)
	for i, r := range l.runs {
		if r.Config.Equal(p.reference) {
			fm.base = i
		}
		if p.serves(f, r) {
			fm.runs = append(fm.runs, i)
		}
	}
	return fm
}

// serves reports whether a run refines f (§3.5): it may differ from the reference in the attributes of f only. A
// difference in another attribute would be ascribed to the attributes of f. Designs that vary all attributes at once
// have no such runs: all their runs serve.
func (p *published) serves(f *predictor, r Run) bool {
	if p.Design != LMaxI1 {
		return true
	}
	in := make([]bool, len(r.Config))
	for _, i := range f.order[:f.used] {
		in[i] = true
	}
	for i, x := range r.Config {
		if !in[i] && x != p.reference[i] {
			return false
		}
	}
	return true
}

// forms returns the forms of all parts, the data flow among them: [newModel] needs it. Before
// the orders are known the model is the constant one of the reference (step 1).
func (p *published) forms(l *ActiveLearner) []form {
	if !p.ready {
		fm := form{part: Whole, regression: Linear}
		return []form{fm, {part: DataFlow, regression: Linear}}
	}
	var fms []form
	flow := false
	for _, f := range p.predictors {
		fms = append(fms, p.form(l, f))
		flow = flow || f.part == DataFlow
	}
	if !flow {
		fm := form{part: DataFlow, regression: Linear}
		if p.KnownDataFlow && !constantFlow(l.runs) {
			fm.regression, fm.attributes = Smooth, every(l.attrs)
		}
		fms = append(fms, fm)
	}
	return fms
}

// fit implements plan.
func (p *published) fit(l *ActiveLearner) (*Model, error) {
	return newModel(l.space, l.runs, l.failed, p.forms(l))
}

// errorOf returns the current error of a predictor in percent, NaN if it has none: over the
// test set if there is one, else by leaving out each training assignment that the predictor is
// fitted to (§3.6).
func (p *published) errorOf(l *ActiveLearner, f *predictor) float64 {
	fm := p.form(l, f)
	g, err := fit(l.attrs, l.runs, fm, nil)
	if err != nil {
		return math.NaN()
	}
	if p.Error != CrossValidation && len(l.tests) > 0 {
		which, means := make([]int, len(l.tests)), make([]float64, len(l.tests))
		for i, r := range l.tests {
			which[i] = i
			means[i], _, _ = g.at(r.Config)
		}
		return partError(l.tests, which, f.part, means)
	}
	means, _ := leaveOut(l.attrs, l.runs, g)
	var served []float64
	for _, i := range fm.runs {
		served = append(served, means[i])
	}
	return partError(l.runs, fm.runs, f.part, served)
}

// error implements plan: the mean absolute percentage error of the total time, over the test
// set if there is one, else by cross-validation (§3.6). It is NaN before the initialization
// has ended, so that no search stops there.
func (p *published) error(l *ActiveLearner) float64 {
	m, err := l.Model()
	if err != nil || !p.ready {
		return math.NaN()
	}
	if p.Error == CrossValidation || len(l.tests) == 0 {
		return m.Error()
	}
	predicted := make([]float64, len(l.tests))
	for i, r := range l.tests {
		predicted[i] = m.Predict(r.Config).Seconds
	}
	return stats.MAPE(seconds(l.tests), predicted)
}
