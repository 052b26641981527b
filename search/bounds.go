package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/model"
)

// limits are the limits that a search learns, a model for each bound; see [assay.LimitLearner].
//
// The models are of the margin, the distance of the sides on a scale: 0 where they are equal, and above where
// the bound is broken.
type limits struct {
	of     []assay.Bound       // in the order of the other lists
	lies   map[int64][]float64 // believed margins of outstanding proposals
	models []chance            // of the present surrogate; nil without
	margin []model.MarginScale // of the present examples, one for each bound
}

// A chance is the model of a bound.
type chance struct {
	of int // index of the bound in limits.of
	model.Chance
}

// read returns the value of a trial for each bound.
func (l *limits) read(t assay.Trial) []model.Sides {
	all := make([]model.Sides, len(l.of))
	for k, b := range l.of {
		all[k] = model.SidesOf(t, b)
	}
	return all
}

// rescale sets the scales for the trials that have ended.
func (l *limits) rescale(trials []example) {
	l.margin = make([]model.MarginScale, len(l.of))
	all := make([]model.Sides, len(trials))
	for k := range l.of {
		for i, e := range trials {
			all[i] = e.sides[k]
		}
		l.margin[k] = model.NewMarginScale(all)
	}
}

// excess returns by how much a trial breaks its bounds in all, in deviations of their margins: 0 if it keeps all.
func (l *limits) excess(e example) float64 {
	sum := 0.0
	for k, s := range l.margin {
		if e.sides[k].Known == model.Unknown {
			continue
		}
		if m := s.Forward(e.sides[k]) - s.Edge; m > 0 {
			sum += m / cmp.Or(s.Usual, 1)
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
		switch x := e.sides[k]; {
		case x.Known == model.Exact:
			add(e.features, s.Forward(x), false)
		case x.Known == model.AtLeast && b.opts.Censored:
			add(e.features, s.Forward(x), true)
		}
	}
	for id, c := range b.proposals.Outstanding() {
		if lies := l.lies[id]; len(lies) == len(l.of) {
			add(b.encode(c), lies[k], false)
		}
	}
	return d
}

// fit makes the models by a learner. A bound with too few examples to distinguish configurations has none.
func (l *limits) fit(b *Bayes, learn func(k int, d assay.Data) assay.Predictor) []chance {
	var all []chance
	for k, s := range l.margin {
		if s.Usual == 0 {
			continue
		}
		if m := learn(k, l.examples(b, k)); m != nil {
			all = append(all, chance{k, s.Chance(m)})
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

// outside reports whether limits are learned and no trial has met them. The search then looks for a trial that does.
func (b *Bayes) outside() bool { return b.limits != nil && math.IsInf(b.incumbent, 1) }

// improvement returns the score of a prediction without the limits: the logarithm of the expected improvement over
// the incumbent less the least improvement that counts.
func (b *Bayes) improvement(o assay.Prediction) float64 {
	if b.outside() {
		return 0
	}
	return stats.LogEI(o.Mean, o.Std, b.incumbent-b.worth*b.spreadOf)
}

// weigh adds to scores the logarithms of the probabilities that the configurations of rows keep the limits. A score
// that is below least before all are added may stay so, since it only can become less.
func (l *limits) weigh(rows [][]float64, scores []float64, least float64) {
	if l == nil {
		return
	}
	at := make([]int, len(scores))
	for i := range at {
		at[i] = i
	}
	some, out := make([][]float64, len(rows)), make([]assay.Prediction, len(rows))
	for _, c := range l.models {
		// A candidate that one limit has brought below least needs no other.
		at = slices.DeleteFunc(at, func(i int) bool { return scores[i] < least || math.IsInf(scores[i], -1) })
		for k, i := range at {
			some[k] = rows[i]
		}
		assay.PredictAll(c.Model, some[:len(at)], out[:len(at)])
		for k, i := range at {
			scores[i] += stats.LogNormCDF(c.Z(out[k]))
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
		lies[m.of] = m.Model.Predict(x).Mean
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

// usual is a process' or forest's deviation that ranks configurations by their means alone, as a share of the
// deviation of the measurements.
const usualShare = 0.3

// rank returns the order of configurations by the means of models: less is better. It is the negative score, with a
// usual deviation in place of each one's own.
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
		p, ok := c.Model.(model.MeanPredictor)
		if !ok {
			continue
		}
		p.PredictMeans(rows, means)
		for i, mean := range means {
			out[i] -= stats.LogNormCDF(c.Z(assay.Prediction{Mean: mean, Std: usualShare * b.limits.margin[c.of].Usual}))
		}
	}
}
