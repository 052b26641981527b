package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// BlissOptions are the options of [NewBliss].
type BlissOptions struct {
	// Pool are the learners to choose among: at least one. Theirs is the
	// business of censored examples, which are left out of the fit here.
	Pool []assay.Learner
	// Seed decides the initial design, random candidates and ties.
	Seed uint64
	// Initial is the Initial of [BayesOptions].
	Initial int
	// Measured is the number of proposals by a model before predictions are
	// learned from. 0 means 5.
	Measured int
}

// Bliss is Bayesian optimization with a pool of diverse light models (Roy, Patel,
// Gadepally and Tiwari, PLDI 2021), as Cello describes it for its comparison
// (Ding et al. 2022, §4.3 and §5.1): it "runs a few rounds as BO in the beginning
// and then" alternates between rounds that are measured and rounds in which the
// model's prediction for its own proposal stands in for the measurement.
//
// Which model makes a round is a bandit's choice, UCB1 (Auer, Cesa-Bianchi and
// Fischer 2002): each is tried once, then the one with the greatest
// mean + √(2·ln t/n). The reward of a measured round is the share of the earlier
// finished trials that it is better than, 0 for a trial without an exact value.
//
// A prediction that stands in is never better than the best measured value, so
// that it does not hide an improvement, and is forgotten when its configuration
// is measured. Everything else is as in [Bayes].
//
// Invariant: each configuration in imagined has one example in the trials of bayes that was never measured.
type Bliss struct {
	bayes    *Bayes                        // the space, the design and the trials
	opts     BlissOptions                  // with defaults
	arms     []arm                         // one for each model
	by       map[int64]int                 // the arm of an outstanding proposal
	imagined visited                       // configurations that a prediction stands in for
	modelled int                           // proposals made by a model
	memoir   memoir[blissStep, bayesState] // notes the steps, and repeats recalled ones
}

// An arm is the bandit's knowledge of a model.
type arm struct {
	asked  int     // proposals by the model
	reward float64 // sum over the trials with a result
}

var (
	_ assay.Searcher = (*Bliss)(nil)
	_ assay.Observer = (*Bliss)(nil)
	_ assay.Resumer  = (*Bliss)(nil)
)

// NewBliss returns a Bliss searcher. It panics if the pool is empty or a number
// is negative.
func NewBliss(space *assay.Space, opts BlissOptions) *Bliss {
	if len(opts.Pool) == 0 || opts.Measured < 0 {
		panic(fmt.Sprintf("search: Bliss with %d learners, %d measured rounds", len(opts.Pool), opts.Measured))
	}
	opts.Measured = cmp.Or(opts.Measured, 5)
	s := &Bliss{
		bayes: NewBayes(space, BayesOptions{Learner: opts.Pool[0], Seed: opts.Seed, Initial: opts.Initial}),
		opts:  opts, arms: make([]arm, len(opts.Pool)), by: map[int64]int{}, imagined: visited{},
	}
	s.memoir.of = fingerprint("bliss", space, opts)
	return s
}

// Ask implements [assay.Searcher]. It returns the errors of Bayes.Ask.
func (s *Bliss) Ask(n int) ([]assay.Proposal, error) {
	return s.memoir.ask(s, s.bayes.proposals.Last(), n)
}

// compute implements [resumed]. It makes one proposal at a time, since each may be by another model.
func (s *Bliss) compute(n int) ([]assay.Proposal, []blissStep, error) {
	var ps []assay.Proposal
	var steps []blissStep
	for len(ps) < n {
		step := blissStep{Arm: noArm}
		before := *s.bayes.source
		if s.bayes.ready() {
			step.Arm = s.choose()
			s.use(step.Arm)
			if s.modelled >= s.opts.Measured {
				step.Imagined = s.imagine()
			}
		}
		p, made, err := s.bayes.compute(1)
		if err != nil {
			if step.Imagined != nil {
				// Nothing was proposed, and nothing may have changed.
				s.forget(step.Imagined.Config)
			}
			*s.bayes.source = before
			if len(ps) == 0 {
				return nil, nil, err
			}
			break // the error comes again
		}
		step.bayesStep = made[0]
		s.count(p[0], step.Arm)
		ps, steps = append(ps, p...), append(steps, step)
	}
	return ps, steps, nil
}

// count notes that p is the proposal of an arm.
func (s *Bliss) count(p assay.Proposal, arm int) {
	if arm == noArm {
		return
	}
	s.modelled++
	s.arms[arm].asked++
	s.by[p.ID] = arm
}

// use selects the k-th learner for the next fit.
func (s *Bliss) use(k int) {
	s.bayes.learner = s.opts.Pool[k]
	s.bayes.surrogate = nil
}

// choose returns the arm with the greatest upper confidence bound, the first of
// equals; one that has not been asked has none above it. Outstanding rounds
// count as without reward.
func (s *Bliss) choose() int {
	total := 0
	for _, a := range s.arms {
		total += a.asked
	}
	best, most := 0, math.Inf(-1)
	for k, a := range s.arms {
		bound := math.Inf(1)
		if a.asked > 0 {
			bound = a.reward/float64(a.asked) + math.Sqrt(2*math.Log(float64(total))/float64(a.asked))
		}
		if bound > most {
			best, most = k, bound
		}
	}
	return best
}

// imagine makes a round whose measurement is predicted, and returns it. It returns nil if the model does not fit, or
// proposes a configuration that was imagined before.
func (s *Bliss) imagine() *imagined {
	b := s.bayes
	if b.fit() != nil {
		return nil
	}
	c, mean := b.maximize()
	if c == nil || math.IsNaN(mean) {
		return nil
	}
	// Never better than the best, so that an improvement is still to be found there.
	y := b.scale.inverse(max(mean, b.incumbent))
	if !b.scale.defined(y) || s.imagined.has(c) {
		return nil
	}
	i := &imagined{c, y}
	s.standIn(i)
	return i
}

// standIn makes a prediction a trial.
func (s *Bliss) standIn(i *imagined) {
	b := s.bayes
	s.imagined.add(i.Config)
	b.trials = append(b.trials, example{config: i.Config, features: b.encode(i.Config), state: assay.Done, value: i.Value})
	b.surrogate = nil
}

// forget removes the prediction that stands in for c, if there is one.
func (s *Bliss) forget(c assay.Config) {
	if k := c.Key(); s.imagined[k] {
		delete(s.imagined, k)
		i := slices.IndexFunc(s.bayes.trials, func(e example) bool { return e.config.Equal(c) })
		s.bayes.trials = slices.Delete(s.bayes.trials, i, i+1)
	}
}

// Tell implements [assay.Searcher].
func (s *Bliss) Tell(trials ...assay.Trial) error {
	configs := make([]assay.Config, len(trials)) // as they were proposed
	for i, t := range trials {
		configs[i] = s.bayes.proposals.About(t.ID)
	}
	if err := s.bayes.Tell(trials...); err != nil {
		return err
	}
	for i, t := range trials {
		s.forget(configs[i])
		if k, ok := s.by[t.ID]; ok {
			delete(s.by, t.ID)
			s.arms[k].reward += s.reward(t)
		}
	}
	return nil
}

// reward returns the share of the finished trials that are worse than t.
func (s *Bliss) reward(t assay.Trial) float64 {
	if t.State != assay.Done || math.IsNaN(t.Value) {
		return 0
	}
	worse, all := 0, 0
	for _, e := range s.bayes.trials {
		if e.state != assay.Done || s.imagined.has(e.config) {
			continue
		}
		if all++; e.value > t.Value {
			worse++
		}
	}
	return float64(worse) / float64(max(all, 1))
}

// Observe implements [assay.Observer].
func (s *Bliss) Observe(trials ...assay.Trial) error {
	if err := s.bayes.Observe(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if c, ok := s.bayes.space.Member(t.Config); ok {
			s.forget(c)
		}
	}
	return nil
}
