package costmodel

import (
	"errors"
	"fmt"

	"github.com/assay-run/assay"
)

// evidence has the outcomes of single runs, by configuration.
type evidence map[string]*assignment

// An assignment has the known outcomes and roles of one configuration.
//
// Once filed, a further outcome is filed for the same roles at once, and further roles get all outcomes: each outcome
// serves each role exactly once, in any order.
type assignment struct {
	outcomes []outcome // in the order in which they arrived
	filed    bool      // outcomes are in the learner's lists
	roles    roles     // roles already filed
}

// Around returns outer, which wraps l, as a searcher from which l learns every single run of outer, once and as it was
// measured. The wrappers between may merge runs into one trial, report a trial in place of another run, or report a run
// that l did not propose. Their trials only confirm to l that its proposals have been run. Around is called once,
// before the first Ask.
func (l *ActiveLearner) Around(outer assay.Searcher) assay.Searcher {
	l.known = evidence{}
	return &around{outer: outer, learner: l}
}

// around is the searcher of [ActiveLearner.Around]. It sees every single run before the wrappers. Its own ledger checks
// the trials: an error must occur before the learner or a wrapper has learned anything.
type around struct {
	outer     assay.Searcher             // the outermost wrapper
	learner   *ActiveLearner             // the innermost searcher
	proposals assay.Ledger[assay.Config] // outstanding ones of outer
}

var _ assay.Masker = (*around)(nil)

// Unwrap implements [assay.Unwrapper].
func (a *around) Unwrap() assay.Searcher { return a.outer }

// Hides implements [assay.Masker].
func (a *around) Hides(ability any) bool { return assay.HidesWith[assay.Observer](ability, a.outer) }

// Ask implements [assay.Searcher].
func (a *around) Ask(n int) ([]assay.Proposal, error) {
	ps, err := a.outer.Ask(n)
	for _, p := range ps {
		a.proposals.Enter(p, p.Config)
	}
	return ps, err
}

// Tell implements [assay.Searcher].
func (a *around) Tell(trials ...assay.Trial) error {
	if err := a.proposals.Check(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if asked := a.proposals.About(t.ID); !t.Config.Equal(asked) {
			return a.learner.otherConfig(t, asked)
		}
	}
	for _, t := range trials {
		a.proposals.Take(t.ID)
		a.learner.measure(t.Config, t)
	}
	return a.outer.Tell(trials...)
}

// Observe implements [assay.Observer].
func (a *around) Observe(trials ...assay.Trial) error {
	o, ok := assay.As[assay.Observer](a.outer)
	if !ok {
		return nil
	}
	if err := a.learner.measureAll(trials); err != nil {
		return err
	}
	return o.Observe(trials...)
}

// Recall returns a learner of the space that knows the recorded runs of a study which such a learner chose, with any
// wrappers and in any order of the trials. Its model equals the model of the study's own learner inside
// [ActiveLearner.Around].
//
// The model is fitted to recorded pairs of a configuration and a measurement. With [Options.Published] the steps of
// Algorithm 1 are repeated with the recorded runs as answers, as far as they go. The steps determine the attributes of
// each function and the test samples. Runs that the algorithm does not propose are used for training. All recorded runs
// of an assignment answer at once: the attributes may differ from its own learner's if some were made later in the
// study.
//
// first has the initial configurations of the study, which the learner did not choose. Trials outside the space are
// ignored. It returns an error for a trial that has not ended or is of another space.
func Recall(space *assay.Space, opts Options, first []assay.Config, trials []assay.Trial) (*ActiveLearner, error) {
	l := NewActiveLearner(space, opts)
	l.known = evidence{}
	if err := l.measureAll(trials); err != nil {
		return nil, err
	}
	l.spent = 0 // from here on, in steps
	for _, c := range first {
		l.recall(c)
	}
	if opts.Published != nil {
		if err := l.follow(); err != nil {
			return nil, err
		}
	}
	for _, t := range trials {
		l.recall(t.Config)
	}
	return l, nil
}

// follow repeats the steps of Algorithm 1 with the recorded runs as answers. A proposal without a record stays
// outstanding, and the algorithm continues with choices that do not need its outcome.
func (l *ActiveLearner) follow() error {
	for {
		ps, err := l.Ask(1)
		if errors.Is(err, assay.ErrDone) || err == nil && len(ps) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		p := l.proposals.About(ps[0].ID)
		a := l.known[p.config.Key()]
		if a == nil {
			continue
		}
		l.proposals.Take(ps[0].ID)
		l.count(a)
		l.assign(p)
		l.plan.told(l, p)
		l.record(p.config)
	}
}

// recall files the recorded runs of c as not chosen by the plan, unless they have been filed.
func (l *ActiveLearner) recall(c assay.Config) {
	c, ok := l.space.Member(c)
	if a := l.known[c.Key()]; ok && a != nil && !a.filed {
		l.count(a)
		l.assign(pick{config: c, roles: l.plan.observed(c)})
		l.record(c)
	}
}

// count adds the time of an assignment's runs, once.
func (l *ActiveLearner) count(a *assignment) {
	for _, o := range a.outcomes {
		if !a.filed {
			l.spent += o.seconds
		}
	}
}

// measureAll adds the runs of trials that may be of any configuration.
func (l *ActiveLearner) measureAll(trials []assay.Trial) error {
	if err := l.space.CheckObserved(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if c, ok := l.space.Member(t.Config); ok {
			l.measure(c, t)
		}
	}
	return nil
}

// measure adds a run of c. It is filed at once if the roles of c are known.
func (l *ActiveLearner) measure(c assay.Config, t assay.Trial) {
	l.spent += t.Measurement.Elapsed.Seconds()
	a := l.known[c.Key()]
	if a == nil {
		a = &assignment{}
		l.known[c.Key()] = a
	}
	o := l.outcomeOf(c, t)
	a.outcomes = append(a.outcomes, o)
	if a.filed {
		l.file(o, a.roles)
		return
	}
	for _, p := range l.proposals.Outstanding() {
		if p.config.Equal(c) {
			l.assign(p)
			return
		}
	}
}

// assign files the known outcomes of a configuration for the new roles of p.
func (l *ActiveLearner) assign(p pick) {
	a := l.known[p.config.Key()]
	added := p.roles
	for r, has := range a.roles {
		added[r] = added[r] && !has
		a.roles[r] = a.roles[r] || p.roles[r]
	}
	for _, o := range a.outcomes {
		if !a.filed {
			l.file(o, added)
		} else if o.ok {
			l.serve(o.run, added)
		}
	}
	a.filed = true
}

// otherConfig is the error of a trial of another configuration than the one that was asked.
func (l *ActiveLearner) otherConfig(t assay.Trial, asked assay.Config) error {
	return fmt.Errorf("costmodel: trial %d is a run of %s, but %s was asked", t.ID, l.text(t.Config), l.text(asked))
}
