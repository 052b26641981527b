package search

import "github.com/assay-run/assay"

// maxCached is the number of proposals of the inner searcher in a row that
// bring nothing new before a Cache gives up.
const maxCached = 1000

// Cache returns a searcher that runs no configuration of inner twice. If inner proposes one that ran to the end
// before (Done or Infeasible), it gets that trial at once and is asked again; if it proposes one that is outstanding,
// the result goes to both. Failed and censored configurations are run again: another attempt may succeed.
//
// After 1,000 proposals of inner in a row without a new one it ends with ErrDone. A Cache is an [assay.Observer] for
// any inner: it remembers observed trials that ran to the end, and passes all on if inner is one.
//
// An Ask that returns nothing may have given known results to inner early. This cannot be seen from outside if the
// order of calls within one step does not matter to inner: true of searchers that propose in batches or one at
// a time, and of those that never repeat a proposal.
func Cache(inner assay.Searcher) assay.Searcher {
	return &cache{
		inner: inner, running: map[string]int64{},
		of: map[int64][]assay.Proposal{},
	}
}

// cache is the searcher of [Cache].
//
// Invariant: running and of are of the same outstanding proposals, and each list in of has one at least.
// A configuration may be both known and running only if it was observed while it ran.
type cache struct {
	inner assay.Searcher // proposes the configurations
	ledger
	ended   assay.PackedTrials         // trials that ran to the end, by their numbers
	roll    assay.ConfigIndex          // numbers the configurations that ran to the end
	known   []int32                    // their trials in ended
	running map[string]int64           // our ID of an outstanding configuration, by Key
	of      map[int64][]assay.Proposal // inner's proposals that wait for our ID
	done    bool                       // inner has ended, or repeats itself only
}

var _ assay.Masker = (*cache)(nil)

// Unwrap implements [assay.Unwrapper].
func (c *cache) Unwrap() assay.Searcher { return c.inner }

// Hides implements [assay.Masker].
func (c *cache) Hides(ability any) bool {
	return assay.HidesWith[assay.Narrower](ability, c.inner) || assay.HidesWith[assay.Enqueuer](ability, c.inner)
}

// Enqueue implements [assay.Enqueuer]: a given configuration may be new though inner proposes nothing new.
func (c *cache) Enqueue(configs []assay.Config) {
	c.done = false
	if g, ok := assay.As[assay.Enqueuer](c.inner); ok {
		g.Enqueue(configs)
	}
}

// Narrow implements [assay.Narrower]: inner may have something new within the limit.
func (c *cache) Narrow(keep func(assay.Config) bool) {
	c.done = false
	narrow(c.inner, keep)
}

// Ask implements [assay.Searcher].
func (c *cache) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	var ps []assay.Proposal
	repeats := 0
	for len(ps) < n && !c.done {
		more, err := c.inner.Ask(n - len(ps))
		if err != nil {
			if len(ps) == 0 {
				return nil, err
			}
			break // the error comes again at the next Ask
		}
		if len(more) == 0 {
			break
		}
		for _, p := range more {
			q, fresh, err := c.admit(p)
			if err != nil {
				return ps, err
			}
			if !fresh {
				repeats++
				continue
			}
			repeats = 0
			ps = append(ps, q)
		}
		// Only this Ask counts: a searcher that brings one new proposal per call goes on.
		c.done = repeats >= maxCached
	}
	if c.done && len(ps) == 0 {
		return nil, assay.ErrDone
	}
	return ps, nil
}

// admit passes on a proposal of inner whose configuration is new. Inner gets the result of any other now, or when it
// arrives.
func (c *cache) admit(p assay.Proposal) (q assay.Proposal, fresh bool, err error) {
	if n, ok := c.roll.Find(p.Config); ok {
		t := c.ended.At(int(c.known[n]))
		t.Proposal = p
		return q, false, c.inner.Tell(t)
	}
	k := p.Config.Key()
	if id, ok := c.running[k]; ok {
		c.of[id] = append(c.of[id], p)
		return q, false, nil
	}
	q = c.propose(p.Config)
	c.running[k] = q.ID
	c.of[q.ID] = []assay.Proposal{p}
	return q, true, nil
}

// Tell implements [assay.Searcher].
func (c *cache) Tell(trials ...assay.Trial) error {
	if err := c.settle(trials); err != nil {
		return err
	}
	var told []assay.Trial
	for _, t := range trials {
		// settle has refused all that is not outstanding, so that there is one to wait.
		waiting := c.of[t.ID]
		delete(c.of, t.ID)
		delete(c.running, waiting[0].Config.Key())
		t.Proposal = waiting[0]
		c.remember(t)
		for _, p := range waiting {
			t.Proposal = p
			told = append(told, t)
		}
	}
	// Without a trial inner need not be called.
	if len(told) == 0 {
		return nil
	}
	// The trials go to inner together, as they came, so that it sees one step.
	return c.inner.Tell(told...)
}

// remember keeps a result that another run would only repeat. A later one replaces it.
func (c *cache) remember(t assay.Trial) {
	if t.State != assay.Done && t.State != assay.Infeasible {
		return
	}
	n, added := c.roll.Number(t.Config)
	if added {
		c.known = append(c.known, 0)
	}
	c.known[n] = int32(c.ended.Put(t))
}

// Observe implements [assay.Observer].
func (c *cache) Observe(trials ...assay.Trial) error {
	if err := assay.CheckFinal(trials...); err != nil {
		return err
	}
	if o, ok := assay.As[assay.Observer](c.inner); ok {
		if err := o.Observe(trials...); err != nil {
			return err
		}
	}
	for _, t := range trials {
		c.remember(t)
	}
	return nil
}
