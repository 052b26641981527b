package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/stats"
)

// chanceFloor is the least deviation of a predicted side, as a share of the deviation of those that were measured:
// where all trees of a forest agree it is not certain for that.
const chanceFloor = 0.05

// limits are the limits that a search learns, a model for each bound; see [assay.LimitLearner].
//
// The models are of the margin, the distance of the sides on a scale: 0 where they are equal, and above where
// the bound is broken.
type limits struct {
	of     []assay.Bound
	lies   map[int64][]float64 // believed margins of outstanding proposals
	models []chance            // of the present surrogate; nil without
	margin []marginScale       // of the present examples, one for each bound
}

// A chance is a model of how probably a bound is kept.
type chance struct {
	of    int // the bound
	model assay.Predictor
	edge  float64 // the greatest margin that keeps it
	floor float64 // the least deviation
}

// log returns the logarithm of the probability that the bound is kept.
func (c chance) log(o assay.Prediction) float64 {
	std := c.floor
	if o.Std > 0 {
		std = math.Hypot(std, o.Std)
	}
	return stats.LogNormCDF((c.edge - o.Mean) / std)
}

// sides are what a trial tells of a bound.
type sides struct {
	left, right float64
	known       uint8
}

const (
	unknown uint8 = iota
	atLeast       // left is no more than it would have become
	exact
)

// read returns what a trial tells of each bound; nil if that is nothing.
func (l *limits) read(t assay.Trial) []sides {
	if t.State != assay.Done && t.State != assay.Infeasible && t.State != assay.Censored {
		return nil // what a failed run measured is not what the configuration does
	}
	all := make([]sides, len(l.of))
	for k, b := range l.of {
		left, right, err := b.Sides(t.Measurement.Metric)
		switch {
		case err != nil:
		case t.State != assay.Censored:
			all[k] = sides{left, right, exact}
		case b.Grows:
			all[k] = sides{left, right, atLeast}
		}
	}
	return all
}

// A marginScale makes one number of two sides: the logarithm of their ratio if all are positive, else an inverse
// hyperbolic sine of their difference.
type marginScale struct {
	ratio  bool
	spread float64 // a usual difference
	edge   float64 // see chance
	usual  float64 // deviation of the exact margins; 0 if all are equal, or none is known
}

func (s marginScale) forward(x sides) float64 {
	if s.ratio {
		return math.Log(x.left) - math.Log(x.right)
	}
	return math.Asinh((x.left/2 - x.right/2) / (s.spread / 2))
}

// newMarginScale returns the scale of the bound k for the trials.
func newMarginScale(trials []example, k int) marginScale {
	s := marginScale{ratio: true, spread: 1}
	var away []float64
	for _, e := range trials {
		if e.sides == nil || e.sides[k].known == unknown {
			continue
		}
		x := e.sides[k]
		s.ratio = s.ratio && x.left > 0 && x.right > 0
		if x.known == exact {
			away = append(away, min(math.Abs(x.left-x.right), math.MaxFloat64))
		}
	}
	if len(away) == 0 {
		return s
	}
	if m := stats.Median(away); m > 0 {
		s.spread = m
	} else if m := slices.Max(away); m > 0 {
		s.spread = m
	}
	// Whole numbers may lie on the bound: the middle between those and the least that breaks it is as far from both.
	var margins []float64
	least, touches := math.Inf(1), false
	for _, e := range trials {
		if e.sides == nil || e.sides[k].known != exact {
			continue
		}
		m := s.forward(e.sides[k])
		margins = append(margins, m)
		touches = touches || m == 0
		if m > 0 {
			least = min(least, m)
		}
	}
	if touches && !math.IsInf(least, 1) {
		s.edge = least / 2
	}
	s.usual = deviation(margins)
	return s
}

// deviation returns the standard deviation of some numbers.
func deviation(x []float64) float64 {
	var n, mean, sum float64
	for _, v := range x {
		n++
		d := v - mean
		mean += d / n
		sum += d * (v - mean)
	}
	return math.Sqrt(sum / max(1, n-1))
}

// rescale sets the scales for the trials that have ended.
func (l *limits) rescale(trials []example) {
	l.margin = make([]marginScale, len(l.of))
	for k := range l.of {
		l.margin[k] = newMarginScale(trials, k)
	}
}

// excess returns by how much a trial breaks its bounds in all, in deviations of their margins: 0 if it keeps all.
func (l *limits) excess(e example) float64 {
	if e.sides == nil {
		return math.Inf(1)
	}
	sum := 0.0
	for k, s := range l.margin {
		if e.sides[k].known == unknown {
			continue
		}
		if m := s.forward(e.sides[k]) - s.edge; m > 0 {
			sum += m / cmp.Or(s.usual, 1)
		}
	}
	return sum
}

// examples returns the training set of a bound, in the order of [Bayes.examples].
func (l *limits) examples(b *Bayes, k int) assay.Data {
	var d assay.Data
	s := l.margin[k]
	add := func(features []float64, y float64, censored bool) {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return
		}
		d.X, d.Y = append(d.X, features), append(d.Y, y)
		if b.opts.Censored {
			d.Censored = append(d.Censored, censored)
		}
	}
	for _, e := range b.trials {
		if e.sides == nil {
			continue
		}
		switch x := e.sides[k]; {
		case x.known == exact:
			add(e.features, s.forward(x), false)
		case x.known == atLeast && b.opts.Censored:
			add(e.features, s.forward(x), true)
		}
	}
	for id, c := range b.proposals.Outstanding() {
		if lies := l.lies[id]; len(lies) == len(l.of) {
			add(b.encode(c), lies[k], false)
		}
	}
	return d
}

// fit makes the models by a learner. A bound of which too little is known to tell configurations apart has none.
func (l *limits) fit(b *Bayes, learn func(k int, d assay.Data) assay.Predictor) []chance {
	var all []chance
	for k, s := range l.margin {
		if s.usual == 0 {
			continue
		}
		if m := learn(k, l.examples(b, k)); m != nil {
			all = append(all, chance{k, m, s.edge, chanceFloor * s.usual})
		}
	}
	return all
}

// fitLimits makes the models of the limits by the learner of the surrogate.
func (b *Bayes) fitLimits() {
	if b.limits == nil {
		return
	}
	b.limits.models = b.limits.fit(b, func(_ int, d assay.Data) assay.Predictor {
		if len(d.Y) == 0 {
			return nil
		}
		m, err := b.learner.Fit(d)
		if err != nil {
			return nil
		}
		return m
	})
}

// outside reports whether limits are learned and no trial has kept them: then the search is for one that does.
func (b *Bayes) outside() bool { return b.limits != nil && math.IsInf(b.incumbent, 1) }

// improvement returns the score of a prediction but for the limits.
func (b *Bayes) improvement(o assay.Prediction) float64 {
	if b.outside() {
		return 0
	}
	return stats.LogEI(o.Mean, o.Std, b.incumbent)
}

// weigh adds to scores the logarithms of the probabilities that the configurations of rows keep the limits. A score
// that is below least stays as it is, since it only can become less.
func (b *Bayes) weigh(rows [][]float64, scores []float64, least float64) {
	if b.limits == nil {
		return
	}
	var some [][]float64
	var at []int
	for i, s := range scores {
		if s >= least && !math.IsInf(s, -1) {
			some, at = append(some, rows[i]), append(at, i)
		}
	}
	out := make([]assay.Prediction, len(some))
	for _, c := range b.limits.models {
		assay.PredictAll(c.model, some, out)
		for k, i := range at {
			scores[i] += c.log(out[k])
		}
	}
}

// believe returns the margins that the models expect of c, for a proposal that is outstanding; nil without limits.
func (b *Bayes) believe(c assay.Config) []float64 {
	if b.limits == nil {
		return nil
	}
	lies := slices.Repeat([]float64{math.NaN()}, len(b.limits.of))
	x := b.encode(c)
	for _, m := range b.limits.models {
		lies[m.of] = m.model.Predict(x).Mean
	}
	return lies
}

// LearnLimits implements [assay.LimitLearner].
func (b *Bayes) LearnLimits(bounds []assay.Bound) {
	b.limits = nil
	if len(bounds) > 0 {
		b.limits = &limits{of: slices.Clone(bounds), lies: map[int64][]float64{}}
	}
}

// measured reports whether the objective of a trial is known.
func (b *Bayes) measured(e example) bool {
	return e.state == assay.Done || e.state == assay.Infeasible && b.limits != nil
}

// usual is a process' or forest's deviation that ranks configurations by their means alone, as a share of that of
// what was measured.
const usualShare = 0.3

// rank returns what orders configurations by the means of models: the less the better. It is the negative score,
// with a usual deviation in place of that of each.
func (b *Bayes) rank(process model.MeanPredictor, rows [][]float64, out []float64) {
	process.PredictMeans(rows, out)
	if b.limits == nil {
		return
	}
	std := usualShare * b.spreadOf
	for i, mean := range out {
		out[i] = -b.improvement(assay.Prediction{Mean: mean, Std: std})
	}
	means := make([]float64, len(rows))
	for _, c := range b.limits.models {
		p, ok := c.model.(model.MeanPredictor)
		if !ok {
			continue
		}
		p.PredictMeans(rows, means)
		for i, mean := range means {
			out[i] -= c.log(assay.Prediction{Mean: mean, Std: usualShare * b.limits.margin[c.of].usual})
		}
	}
}
