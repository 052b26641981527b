package costmodel

import (
	"errors"
	"fmt"

	"github.com/assay-run/assay"
)

// evidence is what single runs have shown, by configuration.
type evidence map[string]*assignment

// An assignment is what is known of one configuration.
//
// Once filed, a further outcome is filed for the same roles at once, and further roles get all
// outcomes: each outcome serves each role exactly once, in whichever order they come.
type assignment struct {
	outcomes []outcome
	filed    bool  // outcomes are in the learner's lists
	roles    roles // what they were filed for
}

// Around returns outer, which wraps l, as a searcher that has l learn from every single
// run of outer, once and as it was measured, whatever the wrappers between make of the
// runs: several that are merged into one trial, one that is told again in place of
// another run, or one that l did not ask for. What l is told by the wrappers only says
// that its proposals have been run. It is called once, before anything is asked.
func (l *ActiveLearner) Around(outer assay.Searcher) assay.Searcher {
	l.known = evidence{}
	return &around{outer: outer, learner: l}
}

// around is what [ActiveLearner.Around] returns. It sees every single run on its way to the
// wrappers. Its own ledger checks what it is told: an error must come before the learner or a
// wrapper has learned anything.
type around struct {
	outer     assay.Searcher
	learner   *ActiveLearner
	proposals assay.Ledger[assay.Config]
}

var _ assay.Lacker = (*around)(nil)

// Unwrap implements [assay.Unwrapper].
func (a *around) Unwrap() assay.Searcher { return a.outer }

// Lacks implements [assay.Lacker].
func (a *around) Lacks(ability any) bool { return assay.LacksWith[assay.Observer](ability, a.outer) }

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

// Recall returns a learner of the space that knows the runs on record of a study which
// such a learner chose, in any wrappers and in any order of the trials. Its model is that
// of the study's own learner inside [ActiveLearner.Around].
//
// The model is fitted to pairs of a configuration and a measurement on record. With
// [Options.Published] the steps of Algorithm 1 are taken again, with the runs on record
// for the answers, as far as these go; they say which attributes each function has,
// and which runs are test samples. Runs that the algorithm does not ask for train.
// All runs of an assignment on record answer at once: where some of them were made after
// the study had gone on, the attributes may be others than those of its own learner.
//
// first are configurations that the study began with, which the learner did not choose.
// Trials of no member of the space are ignored. It returns an error for a trial that has
// not ended or is of another space.
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

// follow takes the steps of Algorithm 1 with the runs on record for the answers. A proposal
// that is not on record stays outstanding, and the algorithm goes on with what it can choose
// without the outcome.
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

// recall files what is on record of c as a run that the plan did not choose, unless it has
// been filed.
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

// measure adds a run of c. It is filed at once if it is known what c is run for.
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

// assign files what is known of a configuration for the roles of p that it does not have yet.
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
