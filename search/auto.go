package search

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// AutoOptions are the options of [NewAuto].
type AutoOptions struct {
	// Seed decides the initial design, the models, random candidates and ties.
	Seed uint64
	// Initial is that of [BayesOptions].
	Initial int
}

const (
	autoTrees  = 50  // of the forest; half as many from autoMany trials on
	autoMany   = 300 // trials
	autoRounds = 2   // of the imputation
	autoGP     = 100 // examples of the Gaussian process: the best and the latest
	autoShort  = 200 // candidates that the forest hands to it, and as many others
	autoSteps  = 15  // evaluations of its likelihood
	autoFolds  = 5   // of the choice between the two
	autoClimb  = 1   // start of its local search in a large space
	autoDraws  = 192 // random candidates there
)

// Auto is the default search: Bayesian optimization whose proposals are made in
// turn by three parts that fail in different ways, after an initial design.
//
//  1. A random forest over the whole space, as [Bayes]: robust, with any kind of
//     parameter, but blind between the values that it has seen.
//  2. A Gaussian process (Matérn 5/2, a length scale for each feature), where it
//     predicts trials that it has not seen better than the forest does: where the
//     objective is smooth or additive. Elsewhere it is the forest's turn again.
//  3. The forest over the neighbours of the best trial, one parameter away: what
//     remains to be done around an optimum is seldom what a model asks for once
//     it has become sure.
//
// All of them propose what has the largest expected improvement ([LogEI]) of the
// log of the objective. The choice of the second part is by cross-validation, and
// made anew each time the trials have become a quarter more.
//
// Runs that were stopped early enter with what the forest expects of them, given
// that they are at least so long (Hutter, Hoos and Leyton-Brown 2013); the process
// learns from the same values. It sees the best and the latest trials, 100
// together. In spaces of up to 200,000 points the forest scores all, and the
// process the 200 that it prefers and 200 others; in larger ones each climbs from
// good candidates (see Bayes). Nothing is proposed twice, and the search ends with
// ErrDone.
type Auto struct {
	bayes   *Bayes
	opts    AutoOptions
	turn    int  // proposals made by a model
	process bool // whether the second part is a Gaussian process
	decided int  // the number of examples when that was decided; 0 for never
}

var (
	_ assay.Searcher = (*Auto)(nil)
	_ assay.Observer = (*Auto)(nil)
)

// NewAuto returns an Auto searcher.
func NewAuto(space *assay.Space, opts AutoOptions) *Auto {
	return &Auto{opts: opts, bayes: NewBayes(space, BayesOptions{
		Learner: autoForest(opts.Seed, 0), Seed: opts.Seed, Initial: opts.Initial, Censored: true,
	})}
}

// autoForest is the first model, for n trials.
func autoForest(seed uint64, n int) assay.Learner {
	trees, rounds := autoTrees, autoRounds
	if n >= autoMany { // where more would take longer than they help
		trees, rounds = autoTrees/2, 1
	}
	return model.Impute(model.Forest{Trees: trees, Seed: seed}, rounds)
}

// Tell implements [assay.Searcher].
func (a *Auto) Tell(trials ...assay.Trial) error { return a.bayes.Tell(trials...) }

// Observe implements [assay.Observer].
func (a *Auto) Observe(trials ...assay.Trial) error { return a.bayes.Observe(trials...) }

// Ask implements [assay.Searcher]. The errors are those of [Bayes.Ask].
func (a *Auto) Ask(n int) ([]assay.Proposal, error) { return a.bayes.ask(n, a.choose) }

// choose is [Bayes.choose] by three models in turn.
func (a *Auto) choose() (assay.Config, float64, error) {
	b := a.bayes
	if b.ready() {
		b.learner = autoForest(a.opts.Seed, b.ended)
		switch err := b.fit(); {
		case err == nil:
			if c, mean := a.maximize(); c != nil {
				a.turn++
				return c, b.scale.inverse(mean), nil
			}
		case !errors.Is(err, assay.ErrTooFew):
			return nil, 0, err
		}
	}
	c, ok := b.design.propound()
	if !ok {
		return nil, 0, nil
	}
	return c, math.NaN(), nil
}

// maximize returns the proposal of the part whose turn it is; that of the forest
// if it has none.
func (a *Auto) maximize() (assay.Config, float64) {
	switch a.turn % 3 {
	case 1:
		d := a.forProcess(a.bayes.examples())
		if !a.preferred(d) {
			break
		}
		if c, mean := a.byProcess(d); c != nil {
			return c, mean
		}
	case 2:
		if c, mean := a.besideBest(); c != nil {
			return c, mean
		}
	}
	return a.bayes.maximize()
}

// besideBest returns the neighbour of the best trial with the largest expected
// improvement by the forest; nil if all are visited.
func (a *Auto) besideBest() (assay.Config, float64) {
	b := a.bayes
	s := &sweep{b: b, seen: visited{}}
	var cs []assay.Config
	for _, e := range b.bestTrials(1) {
		for _, c := range b.space.Neighbours(e.config) {
			if !b.visited.has(c) {
				cs = s.admit(cs, c)
			}
		}
	}
	if len(cs) == 0 {
		return nil, 0
	}
	s.score(cs)
	return s.best.config, s.best.mean
}

// byProcess returns the candidate with the largest expected improvement by a
// Gaussian process; nil if it does not fit.
func (a *Auto) byProcess(d assay.Data) (assay.Config, float64) {
	b := a.bayes
	forest := b.surrogate
	g, err := a.gp().Fit(d)
	if err != nil {
		return nil, 0
	}
	if b.pool != nil {
		return b.pool.best(b, b.pool.shortlist(b, forest), g)
	}
	draws, starts := b.draws, b.starts
	b.surrogate, b.draws, b.starts = g, min(draws, autoDraws), min(starts, autoClimb)
	c, mean := b.maximize()
	b.surrogate, b.draws, b.starts = forest, draws, starts
	return c, mean
}

func (a *Auto) gp() assay.Learner {
	return model.GP{Evaluations: autoSteps, MaxExamples: autoGP, Seed: a.opts.Seed}
}

// preferred reports whether the process predicts examples that it does not know
// with a smaller squared error than a forest does.
func (a *Auto) preferred(d assay.Data) bool {
	if n := a.bayes.ended; a.decided == 0 || 4*n >= 5*a.decided {
		a.decided = n
		p, f := a.squaredError(a.gp(), d), a.squaredError(model.Forest{Trees: autoTrees / 2, Seed: a.opts.Seed}, d)
		a.process = p < f
	}
	return a.process
}

// squaredError returns the sum of squares in cross-validation, infinite if there
// is none.
func (a *Auto) squaredError(l assay.Learner, d assay.Data) float64 {
	out, err := model.CrossValidate(l, d, autoFolds, a.opts.Seed)
	if err != nil {
		return math.Inf(1)
	}
	var sum float64
	for i, o := range out {
		sum += (o.Mean - d.Y[i]) * (o.Mean - d.Y[i])
	}
	return sum
}

// forProcess returns the examples for the process: the best half and the latest
// half of autoGP, where there are more, and censored outcomes as the forest
// expects them.
func (a *Auto) forProcess(d assay.Data) assay.Data {
	y := slices.Clone(d.Y)
	out := make([]assay.Prediction, len(y))
	assay.PredictAll(a.bayes.surrogate, d.X, out)
	for i, c := range d.Censored {
		if c {
			y[i] = max(y[i], out[i].Mean)
		}
	}
	if len(y) <= autoGP {
		return assay.Data{X: d.X, Y: y}
	}
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
	}
	latest := len(y) - autoGP/2
	slices.SortStableFunc(order[:latest], func(i, j int) int { return cmp.Compare(y[i], y[j]) })
	var few assay.Data
	for _, i := range append(order[:autoGP/2], order[latest:]...) {
		few.X = append(few.X, d.X[i])
		few.Y = append(few.Y, y[i])
	}
	return few
}

// shortlist returns the configurations not visited that have the largest
// expected improvement by p, autoShort of them, and as many others at random. The
// order is random among equals.
func (p *pool) shortlist(b *Bayes, model assay.Predictor) []int {
	type entry struct {
		at    int
		score float64
	}
	var all []entry
	fill := 0
	flush := func() {
		assay.PredictAll(model, p.rows[:fill], p.out[:fill])
		for k, o := range p.out[:fill] {
			all = append(all, entry{p.at[k], LogEI(o.Mean, o.Std, b.incumbent)})
		}
		fill = 0
	}
	for i, v := range p.visited {
		if v {
			continue
		}
		p.expand(i, p.rows[fill])
		p.at[fill] = i
		if fill++; fill == poolChunk {
			flush()
		}
	}
	flush()
	b.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(x, y entry) int { return cmp.Compare(y.score, x.score) })
	var short []int
	for k, e := range all {
		if k < autoShort {
			short = append(short, e.at)
		}
	}
	if rest := all[len(short):]; len(rest) > 0 {
		for range min(autoShort, len(rest)) {
			short = append(short, rest[b.rng.IntN(len(rest))].at)
		}
	}
	return short
}

// best returns the configuration with the largest expected improvement by model
// among the given ones, the first of equals, and its predicted mean; nil if there
// are none.
func (p *pool) best(b *Bayes, among []int, model assay.Predictor) (assay.Config, float64) {
	at, top := -1, candidate{}
	for len(among) > 0 {
		part := among[:min(poolChunk, len(among))]
		among = among[len(part):]
		for k, i := range part {
			p.expand(i, p.rows[k])
		}
		assay.PredictAll(model, p.rows[:len(part)], p.out[:len(part)])
		for k, o := range p.out[:len(part)] {
			c := candidate{mean: o.Mean, score: LogEI(o.Mean, o.Std, b.incumbent)}
			if at < 0 || better(c, top) {
				at, top = part[k], c
			}
		}
	}
	if at < 0 {
		return nil, math.NaN()
	}
	return p.space.At(int64(at)), top.mean
}
