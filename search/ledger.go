package search

import (
	"fmt"

	"github.com/assay-run/assay"
)

// A ledger numbers the proposals of a searcher and checks its trials. Its zero value is ready to use.
//
// IDs count from 1 and are never used twice.
type ledger struct{ proposals assay.Ledger[assay.Config] }

// propose returns the next proposal, which is outstanding from now on.
func (l *ledger) propose(c assay.Config) assay.Proposal { return l.proposals.Propose(c, c) }

// ask proposes up to n configurations that next returns; when it returns false there are no more. It is
// [assay.Searcher.Ask] for a searcher that waits for no trial: ErrDone without any configuration.
func (l *ledger) ask(n int, next func() (assay.Config, bool)) ([]assay.Proposal, error) {
	checkAsk(n)
	var ps []assay.Proposal
	for len(ps) < n {
		c, ok := next()
		if !ok {
			break
		}
		ps = append(ps, l.propose(c))
	}
	if len(ps) == 0 {
		return nil, assay.ErrDone
	}
	return ps, nil
}

// settle takes the trials off the outstanding ones. It returns an error and changes nothing if one of them was not
// asked, was settled before or is still running.
func (l *ledger) settle(trials []assay.Trial) error {
	_, err := l.settled(trials)
	return err
}

// settled is settle, and returns the configurations that were asked.
func (l *ledger) settled(trials []assay.Trial) ([]assay.Config, error) {
	return l.proposals.Settle(trials...)
}

// observed returns the configurations of trials that were not asked, without
// those that are no members of the space and will never be proposed. It returns
// an error if a trial has not ended or has another number of parameters.
func observed(space *assay.Space, trials []assay.Trial) ([]assay.Config, error) {
	if err := space.CheckObserved(trials...); err != nil {
		return nil, err
	}
	var cs []assay.Config
	for _, t := range trials {
		if c, ok := space.Member(t.Config); ok {
			cs = append(cs, c)
		}
	}
	return cs, nil
}

// checkAsk panics unless n is a number of proposals that can be asked for.
func checkAsk(n int) {
	if n < 1 {
		panic(fmt.Sprintf("search: ask for %d proposals", n))
	}
}

// A visited set holds configurations by their Key.
//
// The nil set is not ready to use.
type visited map[string]bool

// add reports whether c is new, and holds it from now on.
func (v visited) add(c assay.Config) bool {
	k := c.Key()
	if v[k] {
		return false
	}
	v[k] = true
	return true
}

// observe adds the configurations of trials that were not asked.
func (v visited) observe(space *assay.Space, trials []assay.Trial) error {
	// After an error cs is nil, and nothing is added.
	cs, err := observed(space, trials)
	for _, c := range cs {
		v.add(c)
	}
	return err
}

// has reports whether c is held.
func (v visited) has(c assay.Config) bool { return v[c.Key()] }
