package search

import "github.com/assay-run/assay"

// Given returns a searcher that proposes enqueued configurations ([assay.Enqueuer]) before the proposals of inner, in
// the order in which they were given. Each is proposed as often as it is given, and under any limit of inner: a
// person's request overrides earlier studies. It continues after inner has ended, when more are given.
//
// Their trials go to inner as observations if it is an [assay.Observer], so that a searcher which avoids repeats does
// not propose them again after their results. A withdrawn one is not passed on: it has no result.
func Given(inner assay.Searcher) assay.Searcher {
	return &given{inner: inner, of: map[int64]assay.Proposal{}}
}

// given is the searcher of [Given].
//
// A proposal that is in the ledger but not in of is one of the given configurations.
type given struct {
	inner assay.Searcher // makes the other proposals
	queue []assay.Config // not asked yet
	ledger
	of map[int64]assay.Proposal // inner's proposals by our ID
}

var (
	_ assay.Enqueuer  = (*given)(nil)
	_ assay.Unwrapper = (*given)(nil)
)

// Unwrap implements [assay.Unwrapper].
func (g *given) Unwrap() assay.Searcher { return g.inner }

// Enqueue implements [assay.Enqueuer].
func (g *given) Enqueue(configs []assay.Config) {
	for _, c := range configs {
		g.queue = append(g.queue, c.Clone())
	}
}

// Ask implements [assay.Searcher].
func (g *given) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	var ps []assay.Proposal
	for ; len(ps) < n && len(g.queue) > 0; g.queue = g.queue[1:] {
		ps = append(ps, g.propose(g.queue[0]))
	}
	// inner is not asked while there is enough: an Ask of it could cost a fit.
	if len(ps) == n {
		return ps, nil
	}
	more, err := g.inner.Ask(n - len(ps))
	// With proposals at hand the error waits: it comes again at the next Ask.
	if err != nil && len(ps) == 0 {
		return nil, err
	}
	for _, p := range more {
		q := g.propose(p.Config)
		g.of[q.ID] = p
		ps = append(ps, q)
	}
	return ps, nil
}

// Tell implements [assay.Searcher].
//
// Consecutive trials of inner's own proposals go to it in one call, as they came: it sees the same steps as without
// this wrapper.
func (g *given) Tell(trials ...assay.Trial) error {
	configs, err := g.settled(trials) // as they were proposed
	if err != nil {
		return err
	}
	observer, _ := assay.As[assay.Observer](g.inner)
	var own []assay.Trial
	pass := func() error {
		if len(own) == 0 {
			return nil
		}
		told := own
		own = nil
		return g.inner.Tell(told...)
	}
	for i, t := range trials {
		if p, asked := g.of[t.ID]; asked {
			delete(g.of, t.ID)
			t.Proposal = p
			own = append(own, t)
			continue
		}
		if observer == nil || t.State == assay.Withdrawn {
			continue
		}
		if err := pass(); err != nil {
			return err
		}
		t.Config = configs[i]
		if err := observer.Observe(t); err != nil {
			return err
		}
	}
	return pass()
}
