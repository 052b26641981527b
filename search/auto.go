package search

import (
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
	// Initial is the Initial of [BayesOptions]; but the models begin as soon as half as many trials have finished, and
	// at least two. Stopped runs teach less, so with early stopping the design is longer.
	Initial int
}

const (
	autoTrees  = 50   // of the forest; half as many from autoMany trials on
	autoMany   = 300  // trials
	autoMost   = 1600 // examples of the forest
	autoRounds = 2    // of the imputation
)

// Auto is the default search: Bayesian optimization whose proposals are made in turn by three parts that fail in
// different ways, after an initial design.
//
//  1. A random forest over the whole space, as [Bayes]: robust, with any kind of
//     parameter, but blind between the values that it has seen.
//  2. A Gaussian process over the whole space (Matérn 5/2, a length scale for each
//     feature): good if the objective is smooth or additive; otherwise
//     its proposals at least differ from the forest's.
//  3. The forest over the neighbours of the best trial, one step of one parameter
//     away, and over longer steps once these are visited: the remaining steps around
//     an optimum are seldom the proposals of a model once it has become sure.
//
// All of them propose the configuration with the largest expected improvement (stats.LogEI) of the log of the
// objective.
//
// Runs that were stopped early enter the forest with its expectation of them above their bound (Hutter, Hoos and
// Leyton-Brown 2013), and the process as censored values ([model.GP]). The forest sees at most 1,600 trials, the better
// half whole and others drawn, by [model.Thin]. The process sees the best and the latest trials, 100 together, and its
// parameters are learned anew each time the trials have become a tenth more. Nothing is proposed twice, and the search
// ends with ErrDone.
type Auto struct {
	bayes   *Bayes                       // the space, the design, the trials and the forest
	opts    AutoOptions                  // of NewAuto
	turn    int                          // proposals made by a model
	worth   float64                      // the first part's: see CountLarge
	short   bool                         // the third part's steps: see StepShort
	process process                      // over the parameters
	limits  []process                    // by limit that is learned
	memoir  memoir[bayesStep, autoState] // notes the steps, and repeats recalled ones
}

var (
	_ assay.Hinter       = (*Auto)(nil)
	_ assay.LimitLearner = (*Auto)(nil)
	_ assay.Narrower     = (*Auto)(nil)
	_ assay.Observer     = (*Auto)(nil)
	_ assay.Resumer      = (*Auto)(nil)
)

// NewAuto returns an Auto searcher.
func NewAuto(space *assay.Space, opts AutoOptions) *Auto {
	a := &Auto{opts: opts, bayes: NewBayes(space, BayesOptions{
		Learner: autoForest(opts.Seed, 0), Seed: opts.Seed, Initial: opts.Initial, Censored: true,
	})}
	a.memoir.of = fingerprint("auto", space, opts)
	return a
}

// autoForest is the first model, for n trials.
func autoForest(seed uint64, n int) assay.Learner {
	trees, rounds := autoTrees, autoRounds
	if n >= autoMany { // where more would take longer than they help
		trees, rounds = autoTrees/2, 1
	}
	return model.Impute(model.Thin(model.Forest{Trees: trees, Seed: seed}, autoMost, seed), rounds)
}

// CountLarge has an improvement count for the first part from one deviation of the outcomes on (ξ of Brochu, Cora and
// de Freitas, "A tutorial on Bayesian optimization of expensive cost functions", 2010, §2.3.2). A search that began so
// goes on so; no new one does. It comes before the first Ask.
func (a *Auto) CountLarge() { a.worth = 1 }

// StepShort has the third part make single steps alone. A search that began so goes on so; no new one does. It comes
// before the first Ask.
func (a *Auto) StepShort() { a.short = true }

// Tell implements [assay.Searcher].
func (a *Auto) Tell(trials ...assay.Trial) error { return a.bayes.Tell(trials...) }

// Observe implements [assay.Observer].
func (a *Auto) Observe(trials ...assay.Trial) error { return a.bayes.Observe(trials...) }

// Narrow implements [assay.Narrower] as [Bayes.Narrow] does.
func (a *Auto) Narrow(keep func(assay.Config) bool) { a.bayes.Narrow(keep) }

// Hint implements [assay.Hinter].
func (a *Auto) Hint(h func(assay.Config) float64) { a.bayes.Hint(h) }

// LearnLimits implements [assay.LimitLearner].
func (a *Auto) LearnLimits(bounds []assay.Bound) { a.bayes.LearnLimits(bounds) }

// Ask implements [assay.Searcher]. It returns the errors of [Bayes.Ask].
func (a *Auto) Ask(n int) ([]assay.Proposal, error) {
	return a.memoir.ask(a, a.bayes.proposals.Last(), n)
}

// compute implements [resumed]. An error leaves the process and the random numbers as they were.
func (a *Auto) compute(n int) ([]assay.Proposal, []bayesStep, error) {
	before, limits := a.process, slices.Clone(a.limits)
	ps, steps, err := a.bayes.ask(n, a.choose)
	if err != nil {
		a.process, a.limits = before, limits
	}
	return ps, steps, err
}

// choose is [Bayes.choose] by three models in turn.
func (a *Auto) choose() (assay.Config, float64, error) {
	b := a.bayes
	if n := b.finished(); b.ready() || n >= 2 && 2*n >= b.opts.Initial {
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
	return b.propound(), math.NaN(), nil
}

// maximize returns the proposal of the part whose turn it is; the forest's if that part has none.
func (a *Auto) maximize() (assay.Config, float64) {
	switch a.turn % 3 {
	case 1:
		if c, mean := a.byProcess(); c != nil {
			return c, mean
		}
	case 2:
		if c, mean := a.besideBest(); c != nil {
			return c, mean
		}
	}
	a.bayes.worth = a.worth
	c, mean := a.bayes.maximize()
	a.bayes.worth = 0
	return c, mean
}

// besideBest returns the neighbour of the best trial with the largest expected improvement by the forest. Once all
// neighbours are visited, it returns the best of the longer steps along one parameter; nil if these are visited too.
func (a *Auto) besideBest() (assay.Config, float64) {
	b := a.bayes
	s := &sweep{b: b, seen: visited{}}
	for _, e := range b.bestTrials(1) {
		cs := s.openOf(b.space.Neighbours(e.config))
		if len(cs) == 0 && !a.short {
			cs = s.openOf(lines(b.space, e.config))
		}
		if len(cs) > 0 {
			s.score(cs, math.Inf(1))
		}
	}
	return s.best.config, s.best.mean
}
