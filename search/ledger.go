package search

import (
	"fmt"

	"github.com/assay-run/assay"
)

// A ledger numbers the proposals of a searcher and checks what it is told. Its
// zero value is ready to use.
type ledger struct {
	last    int64                  // ID of the latest proposal
	pending map[int64]assay.Config // asked and not told
}

// propose returns the next proposal, which is pending from now on.
func (l *ledger) propose(c assay.Config) assay.Proposal {
	if l.pending == nil {
		l.pending = map[int64]assay.Config{}
	}
	l.last++
	l.pending[l.last] = c
	return assay.Proposal{ID: l.last, Config: c}
}

// ask proposes up to n configurations that next returns; when it returns false
// there are no more. It is [assay.Searcher.Ask] where nothing waits for a trial:
// ErrDone if there is none at all.
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

// settle takes the trials off the pending ones. It returns an error and changes
// nothing if one of them was not asked, was told before or is still running.
func (l *ledger) settle(trials []assay.Trial) error {
	if err := assay.CheckTold(trials, l.last, l.pending); err != nil {
		return err
	}
	for _, t := range trials {
		delete(l.pending, t.ID)
	}
	return nil
}

// final returns an error unless t has ended.
func final(t assay.Trial) error {
	if !t.State.Final() {
		return fmt.Errorf("trial %d is %v", t.ID, t.State)
	}
	return nil
}

// observed returns the configurations of trials that were not asked, without
// those that are no members of the space and will never be proposed. It returns
// an error if a trial has not ended or has another number of parameters.
func observed(space *assay.Space, trials []assay.Trial) ([]assay.Config, error) {
	var cs []assay.Config
	for _, t := range trials {
		if err := final(t); err != nil {
			return nil, err
		}
		if len(t.Config) != space.Dim() {
			return nil, fmt.Errorf("an observed trial has %d coordinates for %d parameters", len(t.Config), space.Dim())
		}
		if c, ok := member(space, t.Config); ok {
			cs = append(cs, c)
		}
	}
	return cs, nil
}

// member returns c with the digits that the space itself gives it, so that its
// Key is that of a proposal, and whether it is admissible.
func member(space *assay.Space, c assay.Config) (assay.Config, bool) {
	if !space.Contains(c) || space.Listed() {
		return c, space.Contains(c)
	}
	snapped := c.Clone()
	for i, p := range space.Params {
		if p.Count() > 0 {
			snapped[i] = p.Snap(c[i])
		}
	}
	return snapped, true
}

// checkAsk panics unless n is a number of proposals that can be asked for.
func checkAsk(n int) {
	if n < 1 {
		panic(fmt.Sprintf("search: ask for %d proposals", n))
	}
}

// A visited set holds configurations by their Key.
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
	cs, err := observed(space, trials)
	for _, c := range cs {
		v.add(c)
	}
	return err
}

func (v visited) has(c assay.Config) bool { return v[c.Key()] }
