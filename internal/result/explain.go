package result

// This file shows which parameter pushes the objective in which direction, by a model of the
// trials of a study: Shapley values of the best configuration and of all trials (Ding et al. 2022, §6),
// and the main effects of a functional analysis of variance (Hutter, Hoos and Leyton-Brown 2014).
//
// It explains the model, not the program: how far the model is to be trusted is part of the
// [Explanation].

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

const (
	trees = 200
	folds = 5
	least = 5 // exact trials: fewer are not enough
)

// An Explanation holds a model's results about the parameters. If Relative, every effect is on the
// natural logarithm of the metric, so that exp of it is a factor; otherwise it is in the metric's unit.
// Signs follow the metric.
type Explanation struct {
	Trials    int         // that the model was fitted to
	Exact     int         // of these, trials with an exact value
	Relative  bool        // the metric is positive throughout
	Explained float64     // share of the exact trials' variance that is predicted in cross-validation; can be negative
	Base      float64     // the metric of the average trial, as the model sees it
	Best      assay.Trial // the recommended one
	Predicted float64     // the metric at the best configuration, as the model sees it
	Params    []Param     // by falling Mean, then by name
	Limits    []Limit     // of the goal

	story    *Story // of the study; nil if it is not known
	space    *assay.Space
	ensemble model.Ensemble
	configs  []assay.Config // of the trials that the model was fitted to
}

// A Param is the part of one parameter.
type Param struct {
	Name   string
	Effect float64 // Shapley value at the best configuration; their sum leads from Base to Predicted
	Mean   float64 // mean over the trials of the absolute Shapley value
	Share  float64 // of the model's variance over the whole space: the main effect, 0 to 1
}

// Explain explains the trials of a study over the given parameters, which are
// taken for independent. Trials that ran to the end are exact, stopped ones are
// imputed (Hutter et al. 2013), failed ones are left out. best is the recommended
// trial; its Config is nil if no trial is recommended. It returns an error that matches
// assay.ErrTooFew then, or if fewer than 5 trials are exact. Cost: six forests
// of 200 trees.
func Explain(
	params []assay.Param, goal assay.Goal, trials []assay.Trial, best assay.Trial, seed uint64,
) (*Explanation, error) {
	space, err := assay.NewSpace(params)
	if err != nil {
		return nil, err
	}
	if best.Config == nil {
		return nil, fmt.Errorf("no trial ran to its end within the limits: %w", assay.ErrTooFew)
	}
	e := &Explanation{Best: best, Limits: Limits(space, goal, trials, best.Config, seed)}
	d := e.examples(space, goal, trials)
	if e.Exact < least {
		return nil, fmt.Errorf("%d trials ran to their end, at least %d are needed: %w", e.Exact, least, assay.ErrTooFew)
	}
	learner := model.Impute(model.Forest{Trees: trees, Seed: seed}, 0)
	if e.Explained, err = explained(learner, d, seed); err != nil {
		return nil, err
	}
	p, err := learner.Fit(d)
	if err != nil {
		return nil, err
	}
	e.space, e.ensemble = space, p.(model.Trees).Ensemble()
	e.effects(space, e.ensemble, d.X)
	return e, nil
}

// examples returns the training set, and sets Trials, Exact and Relative.
// Outcomes are metrics, or their logarithms if e.Relative. A maximized metric is
// never censored.
func (e *Explanation) examples(space *assay.Space, goal assay.Goal, trials []assay.Trial) assay.Data {
	var d assay.Data
	e.Relative = true
	for _, t := range trials {
		y := goal.Show(t.Value)
		measured := t.State == assay.Done || t.State == assay.Infeasible || t.State == assay.Censored
		if !measured || math.IsInf(y, 0) || math.IsNaN(y) || !goal.Reached(t.Config) {
			continue
		}
		d.X = append(d.X, space.Encode(t.Config))
		e.configs = append(e.configs, t.Config)
		d.Y = append(d.Y, y)
		d.Censored = append(d.Censored, t.State == assay.Censored)
		if t.State != assay.Censored {
			e.Exact++
		}
		e.Relative = e.Relative && y > 0
	}
	e.Trials = len(d.Y)
	if e.Relative {
		for i, y := range d.Y {
			d.Y[i] = math.Log(y)
		}
	}
	return d
}

// explained returns 1 - Σ(y-ŷ)²/Σ(y-ȳ)² over the exact examples, each predicted
// from the other folds; 0 if they are all equal.
func explained(l assay.Learner, d assay.Data, seed uint64) (float64, error) {
	out, err := model.CrossValidate(l, d, folds, seed)
	if err != nil {
		return 0, err
	}
	var n, mean float64
	for i, y := range d.Y {
		if !d.Censored[i] {
			n++
			mean += (y - mean) / n
		}
	}
	var left, all float64
	for i, y := range d.Y {
		if !d.Censored[i] {
			left += (y - out[i].Mean) * (y - out[i].Mean)
			all += (y - mean) * (y - mean)
		}
	}
	if all == 0 {
		return 0, nil
	}
	return 1 - left/all, nil
}

// effects sets Base, Predicted and Params. The effect of a parameter is the sum
// of the effects of its features. A parameter that is not in force has none: the
// parameters that its condition reads have it, since they put it out of force.
func (e *Explanation) effects(space *assay.Space, ensemble model.Ensemble, X [][]float64) {
	features := space.Features()
	e.Params = make([]Param, space.Dim())
	for i, p := range space.Params {
		e.Params[i].Name = p.Name
	}
	fold := func(phi []float64, c assay.Config) []float64 {
		sum := make([]float64, len(e.Params))
		for j, f := range features {
			sum[f.Param] += phi[j]
		}
		owned := make([]float64, len(sum))
		for i, v := range sum {
			addOwned(owned, space, c, i, v)
		}
		return owned
	}
	phi, base := ensemble.Shap(space.Encode(e.Best.Config))
	predicted := base
	for i, v := range fold(phi, e.Best.Config) {
		e.Params[i].Effect = v
		predicted += v
	}
	e.Base, e.Predicted = e.show(base), e.show(predicted)
	for k, x := range X {
		phi, _ := ensemble.Shap(x)
		for i, v := range fold(phi, e.configs[k]) {
			e.Params[i].Mean += math.Abs(v) / float64(len(X))
		}
	}
	for i, v := range ensemble.MainEffects(model.SpaceAxes(space)) {
		e.Params[i].Share = v
	}
	slices.SortStableFunc(e.Params, func(a, b Param) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Name, b.Name))
	})
}

// addOwned adds an effect of the i-th parameter in c to the effects of the parameters that own it: the parameter itself
// if it is in force, else, in equal parts, those that its condition reads.
func addOwned(owned []float64, space *assay.Space, c assay.Config, i int, effect float64) {
	if space.Active(c, i) {
		owned[i] += effect
		return
	}
	read := space.Params[i].When.Params
	for _, j := range read {
		addOwned(owned, space, c, j, effect/float64(len(read)))
	}
}

// show returns the metric for a value of the model.
func (e *Explanation) show(y float64) float64 {
	if e.Relative {
		return math.Exp(y)
	}
	return y
}
