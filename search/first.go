package search

import (
	"slices"

	"github.com/assay-run/assay"
)

// First returns a searcher that proposes the given configurations before the proposals of inner: the user's defaults,
// or the best of an earlier study. The caller must pass admissible ones. Among equal ones only the first is proposed.
// Their trials go to inner as observations if it is an [assay.Observer], so that a searcher which avoids repeats does
// not propose them again after their results.
//
// Under the limit of an [assay.Narrower], given configurations outside of it wait until it is lifted.
func First(inner assay.Searcher, configs ...assay.Config) assay.Searcher {
	f := &first{inner: inner, of: map[int64]assay.Proposal{}}
	seen := visited{}
	for _, c := range configs {
		if seen.add(c) {
			f.queue = append(f.queue, c.Clone())
		}
	}
	return f
}

// first is the searcher of [First].
//
// A proposal that is in the ledger but not in of is one of the given configurations.
type first struct {
	inner assay.Searcher // makes the other proposals
	queue []assay.Config // not asked yet
	limit limit          // of Narrow
	ledger
	of map[int64]assay.Proposal // inner's proposals by our ID
}

var _ assay.Masker = (*first)(nil)

// Unwrap implements [assay.Unwrapper].
func (f *first) Unwrap() assay.Searcher { return f.inner }

// Hides implements [assay.Masker].
func (f *first) Hides(ability any) bool { return assay.HidesWith[assay.Narrower](ability, f.inner) }

// Narrow implements [assay.Narrower].
func (f *first) Narrow(keep func(assay.Config) bool) {
	f.limit = limit{keep}
	narrow(f.inner, keep)
}

// Ask implements [assay.Searcher].
func (f *first) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	var ps []assay.Proposal
	for len(ps) < n {
		// Those outside of the limit stay in the queue, in their order.
		i := slices.IndexFunc(f.queue, f.limit.holds)
		if i < 0 {
			break
		}
		ps = append(ps, f.propose(f.queue[i]))
		f.queue = slices.Delete(f.queue, i, i+1)
	}
	// inner is not asked while there is enough: an Ask of it could cost a fit.
	if len(ps) == n {
		return ps, nil
	}
	more, err := f.inner.Ask(n - len(ps))
	// With proposals at hand the error waits: it comes again at the next Ask.
	if err != nil && len(ps) == 0 {
		return nil, err
	}
	for _, p := range more {
		q := f.propose(p.Config)
		f.of[q.ID] = p
		ps = append(ps, q)
	}
	return ps, nil
}

// Tell implements [assay.Searcher].
func (f *first) Tell(trials ...assay.Trial) error {
	configs, err := f.settled(trials) // as they were proposed
	if err != nil {
		return err
	}
	observer, _ := assay.As[assay.Observer](f.inner)
	for i, t := range trials {
		// An error of inner leaves the trials after this one settled but untold: the search cannot go on.
		p, asked := f.of[t.ID]
		delete(f.of, t.ID)
		var err error
		switch {
		case asked:
			t.Proposal = p
			err = f.inner.Tell(t)
		case observer != nil:
			t.Config = configs[i]
			err = observer.Observe(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
