package search

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// BayesOptions are the options of [NewBayes].
type BayesOptions struct {
	// Learner fits the surrogate: a random forest in Cello. It is required. A
	// learner whose predictions have no Std makes the search greedy.
	Learner assay.Learner
	// Seed decides the initial design, random candidates and ties.
	Seed uint64
	// Initial is the number of trials, observed ones included, before the first fit; 1, as in Cello's Algorithm 1, waits
	// for the two that a comparison needs. 0 means 10, or a third of a space of less than 30: a convention, of which 3,
	// 5 and 7 were no clear improvement on recorded tables.
	Initial int
	// Censored gives censored trials to the Learner as such. If it is false they are left out of the fit (Ding et al.
	// 2022, Algorithm 1). Wrap a learner that takes no censored examples in model.Impute.
	Censored bool
}

// Bayes is sequential model-based optimization: a surrogate of the objective is fitted to the trials, and the
// configuration with the largest expected improvement (stats.LogEI) is proposed; the BO of Cello (Ding et al. 2022,
// §3.2). It proposes no configuration twice, nor an observed one, and ends with ErrDone when none is left.
//
// The surrogate sees log y if all values are positive, -log(-y) if all are negative, as for a maximized positive
// metric, and otherwise an inverse hyperbolic sine; all keep the order. A failed or infeasible trial enters with the
// worst value of a finished one, so that its surroundings are avoided without bending the surrogate; a censored one
// is left out unless BayesOptions.Censored is set, and stays visited. A trial that is outstanding enters with the
// value that the surrogate predicted for it ("kriging believer", Ginsbourger et al. 2010), so that parallel proposals
// differ.
//
// Every configuration of an Indexed space of up to 200,000 is scored. In larger spaces the candidates are random
// configurations, variations of the best trials, and a local search along [assay.Space.Neighbours] from the most
// promising of both (Hutter, Hoos and Leyton-Brown 2011, §4.3).
//
// The surrogate is fitted at the first Ask after a result, and for every further proposal of one Ask. Other cost per
// proposal: a prediction for each candidate.
//
// Invariant: lies has an entry for each outstanding proposal; it is NaN for one without a belief.
type Bayes struct {
	space   *assay.Space  // of the proposals
	learner assay.Learner // fits the surrogate
	opts    BayesOptions  // of NewBayes
	source  *rand.PCG     // of rng
	rng     *rand.Rand    // of candidates and ties
	ledger
	visited visited                       // proposed or observed configurations
	design  *Sobol                        // the initial design, and the source of last resort
	pool    *pool                         // scores whole spaces; nil if the space is too large
	trials  []example                     // that have ended, and observed ones
	lies    map[int64]float64             // believed objective of outstanding trials
	draws   int                           // random candidates in a space without a pool
	starts  int                           // of the local search there
	keep    func(assay.Config) bool       // limit of Narrow, or nil
	hint    func(assay.Config) float64    // of Hint, or nil
	done    bool                          // no configuration is left
	memoir  memoir[bayesStep, bayesState] // notes the steps, and repeats recalled ones
	spread  bool                          // the design made the latest proposal
	asked   int                           // proposals and observed trials
	ended   int                           // trials with a result, and observed ones
	limits  *limits                       // that are learned; nil without

	surrogate assay.Predictor // nil if it must be fitted again
	scale     scale           // of the surrogate
	incumbent float64         // on that scale; +Inf while every trial is outside the limits
	spreadOf  float64         // deviation of the values on that scale
	worth     float64         // an improvement counts from that share of spreadOf on
}

// An example is a trial that has ended.
//
// It does not change once it is in trials, but for the features when a hint is replaced, and the value of a run below
// the full level. value counts only if the state is Done or Censored.
type example struct {
	config   assay.Config  // a member of the space
	features []float64     // as the surrogate gets them
	state    assay.State   // final
	value    float64       // minimized
	sides    []model.Sides // its value of each limit that is learned
	// depth is how far below the full level it was run, and raw its value there: see [leveler].
	depth, raw float64
	level      int // the feature of the level
}

var (
	_ assay.Hinter       = (*Bayes)(nil)
	_ assay.LimitLearner = (*Bayes)(nil)
	_ assay.Narrower     = (*Bayes)(nil)
	_ assay.Observer     = (*Bayes)(nil)
	_ assay.Resumer      = (*Bayes)(nil)
)

// NewBayes returns a Bayes searcher. It panics if there is no learner or the number of initial trials is negative.
func NewBayes(space *assay.Space, opts BayesOptions) *Bayes {
	if opts.Learner == nil {
		panic("search: Bayes needs a learner")
	}
	if opts.Initial < 0 {
		panic(fmt.Sprintf("search: %d initial trials", opts.Initial))
	}
	if opts.Initial == 0 {
		opts.Initial = 10
		if n := space.Size().N; n > 0 && n < 30 {
			opts.Initial = max(2, int(n/3))
		}
	}
	// The second number belongs to this kind of searcher, so that another kind with the same seed draws otherwise.
	source := rand.NewPCG(opts.Seed, 2)
	b := &Bayes{
		space: space, learner: opts.Learner, opts: opts,
		source: source, rng: rand.New(source),
		visited: visited{}, lies: map[int64]float64{},
		design: NewSobol(space, opts.Seed), draws: randomCandidates, starts: starts,
	}
	b.memoir.of = fingerprint("bayes", space, b.opts)
	if space.Indexed() && space.Size().N <= maxPool {
		b.pool = newPool(space)
	}
	return b
}

// Ask implements [assay.Searcher]. Besides ErrDone it returns the errors of the learner, except that the initial
// design replaces a fit with too few examples.
func (b *Bayes) Ask(n int) ([]assay.Proposal, error) { return b.memoir.ask(b, b.proposals.Last(), n) }

// ask proposes the choices of choose, which is like [Bayes.choose].
func (b *Bayes) ask(n int, choose func() (assay.Config, float64, error)) ([]assay.Proposal, []bayesStep, error) {
	var ps []assay.Proposal
	var steps []bayesStep
	for len(ps) < n && !b.done {
		if b.pool != nil && !b.pool.any() {
			b.done = true
			break
		}
		before := *b.source
		b.spread = false
		c, lie, err := choose()
		if c == nil {
			*b.source = before // nothing is proposed, nothing has changed
			// An error of the learner may pass with the next trial. That nothing is left lasts until the limit changes.
			b.done = err == nil
			if err != nil && len(ps) == 0 {
				return nil, nil, err
			}
			break
		}
		// The models are those by which c was chosen: a proposal of the design has no beliefs.
		var margins []float64
		if !math.IsNaN(lie) {
			margins = b.believe(c)
		}
		ps = append(ps, b.give(c, lie, margins))
		steps = append(steps, bayesStep{c, assay.Finite(lie), b.spread, finites(margins)})
	}
	if len(ps) == 0 {
		return nil, nil, assay.ErrDone
	}
	return ps, steps, nil
}

// give proposes c with the believed value lie and the believed margins of the limits.
func (b *Bayes) give(c assay.Config, lie float64, margins []float64) assay.Proposal {
	b.visit(c)
	p := b.propose(c)
	b.lies[p.ID] = lie
	if b.limits != nil && margins != nil {
		b.limits.lies[p.ID] = margins
	}
	b.asked++
	b.surrogate = nil
	return p
}

// choose returns the next configuration and its believed objective, NaN if
// there is no belief; nil if every configuration is visited.
func (b *Bayes) choose() (assay.Config, float64, error) {
	if b.ready() {
		switch err := b.fit(); {
		case err == nil:
			if c, mean := b.maximize(); c != nil {
				return c, b.scale.inverse(mean), nil
			}
		case !errors.Is(err, assay.ErrTooFew):
			return nil, 0, err
		}
	}
	return b.propound(), math.NaN(), nil
}

// ready reports whether the initial design has been asked for and enough results of it are known: half, and two
// finished trials to compare.
func (b *Bayes) ready() bool {
	if b.asked < b.opts.Initial || 2*b.ended < b.opts.Initial {
		return false
	}
	return b.finished() >= 2
}

// finished returns the number of trials that ran to their end.
func (b *Bayes) finished() int {
	n := 0
	for _, e := range b.trials {
		if b.measured(e) {
			n++
		}
	}
	return n
}

// visit keeps c from being proposed again.
func (b *Bayes) visit(c assay.Config) {
	b.visited.add(c)
	b.design.place.visited.add(c)
	if b.pool != nil {
		b.pool.visit(c)
	}
}

// Tell implements [assay.Searcher].
func (b *Bayes) Tell(trials ...assay.Trial) error {
	configs, err := b.settled(trials) // as they were proposed
	if err != nil {
		return err
	}
	for i, t := range trials {
		delete(b.lies, t.ID)
		if b.limits != nil {
			delete(b.limits.lies, t.ID)
		}
		b.learn(configs[i], t)
	}
	return nil
}

// Observe implements [assay.Observer]. A trial whose configuration is not in the space teaches nothing and is ignored.
func (b *Bayes) Observe(trials ...assay.Trial) error {
	if err := b.space.CheckObserved(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if c, ok := b.space.Member(t.Config); ok {
			b.visit(c)
			b.asked++
			b.learn(c, t)
		}
	}
	return nil
}

// Hint implements [assay.Hinter]: every model sees the hint as a feature. Cost: a call of h for each configuration if
// the whole space is scored. Models that are fitted after it see the new hint at all trials.
func (b *Bayes) Hint(h func(assay.Config) float64) {
	b.hint = h
	b.surrogate = nil
	for i := range b.trials {
		b.trials[i].features = b.encode(b.trials[i].config)
		b.trials[i].sink()
	}
	if b.pool != nil {
		b.pool.hint(h)
	}
}

// encode returns the features of c, the hint included.
func (b *Bayes) encode(c assay.Config) []float64 {
	return b.appendEncode(make([]float64, 0, len(b.space.Features())+1), c)
}

// appendEncode is encode into the end of row.
func (b *Bayes) appendEncode(row []float64, c assay.Config) []float64 {
	row = b.space.AppendEncode(row, c)
	if b.hint != nil {
		row = append(row, b.hint(c))
	}
	return row
}

// learn adds a trial that has ended, of a configuration of the space. The features are computed once, here.
func (b *Bayes) learn(c assay.Config, t assay.Trial) {
	if t.State == assay.Withdrawn { // it has no information about c
		return
	}
	e := example{config: c, features: b.encode(c), state: t.State, value: t.Value}
	if math.IsNaN(t.Value) || math.IsInf(t.Value, 0) {
		e.state = assay.Failed // in any state there is no value
	}
	if b.limits != nil {
		e.sides = b.limits.read(t)
	}
	b.trials = append(b.trials, e)
	b.ended++
	b.surrogate = nil
}
