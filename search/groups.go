package search

import (
	"errors"
	"fmt"
	"slices"

	"github.com/assay-run/assay"
)

// GroupOptions are the options of [NewGroups].
type GroupOptions struct {
	// Groups are the indices of the parameters of each group. Parameters in none of
	// them are a last group.
	Groups [][]int
	// Turn is the number of proposals of one turn; 0 means ten for each parameter of
	// the group.
	Turn int
	// Make returns the searcher of one turn in the space of the group's parameters.
	// The turn, from 0, is for its seed.
	Make func(space *assay.Space, turn int) assay.Searcher
}

// Groups tunes groups of parameters in turn, as Active Harmony does: while one group is searched, the other
// parameters stay as in the best trial until then, or in the middle of their ranges before the first. Each turn has a
// new searcher; it ends after Turn proposals, or with the searcher. The search ends after a round of turns in which
// nothing new was proposed. Make one with [NewGroups].
//
// Invariant: of has one entry for each outstanding proposal, and base, group and inner belong to one another.
// Proposals of an earlier turn may still be outstanding: their trials go to the searcher that made them.
type Groups struct {
	space *assay.Space   // with all parameters
	opts  GroupOptions   // with a group of the remaining parameters
	turn  int            // that comes next
	inner assay.Searcher // searches the group of the present turn
	base  assay.Config   // where the other parameters are
	group []int          // of the present turn
	left  int            // proposals of this turn
	best  assay.Trial    // the least trial within the limits
	found bool           // best is set
	seen  visited        // configurations that were proposed
	// stale counts turns that are over; fresh reports whether the present one has proposed something new.
	stale int            // turns in succession that proposed nothing new
	fresh bool           // see stale
	asked ledger         // numbers the proposals
	of    map[int64]part // by our ID
}

// A part is a proposal of the searcher of a turn.
//
// The searcher is kept with the proposal, since the turn may be over when its trial arrives.
type part struct {
	inner    assay.Searcher // made the proposal
	proposal assay.Proposal // with the ID of inner
}

var (
	_ assay.Searcher = (*Groups)(nil)
	_ assay.Observer = (*Groups)(nil)
)

// refusals is how many proposals in succession may break a relation before a turn ends.
//
// A relation between a group and the others may leave the group nothing, which its searcher cannot know.
const refusals = 1000

// NewGroups returns such a searcher. It returns an error for a parameter that is not
// there or in two groups, and for an empty group.
func NewGroups(space *assay.Space, opts GroupOptions) (*Groups, error) {
	in := map[int]bool{}
	for _, g := range opts.Groups {
		if len(g) == 0 {
			return nil, errors.New("a group without parameters")
		}
		for _, i := range g {
			if i < 0 || i >= space.Dim() {
				return nil, fmt.Errorf("no parameter %d to group", i)
			}
			if in[i] {
				return nil, fmt.Errorf("parameter %s is in two groups", space.Params[i].Name)
			}
			in[i] = true
		}
	}
	var rest []int
	for i := range space.Dim() {
		if !in[i] {
			rest = append(rest, i)
		}
	}
	// The slice is the caller's, and a group may be appended.
	opts.Groups = slices.Clone(opts.Groups)
	if rest != nil {
		opts.Groups = append(opts.Groups, rest)
	}
	middle := make([]float64, space.Dim())
	for i, p := range space.Params {
		if n := p.Count(); n > 0 {
			middle[i] = p.At((n - 1) / 2)
		} else {
			middle[i] = p.Unscale(0.5)
		}
	}
	return &Groups{
		// The middle may break a relation.
		space: space, opts: opts, base: space.Nearest(middle), seen: visited{}, of: map[int64]part{},
	}, nil
}

// Ask implements [assay.Searcher].
func (g *Groups) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	// More than a whole round without anything new is needed: another group may have something again once the base
	// has moved.
	for g.stale <= len(g.opts.Groups) {
		if g.inner == nil {
			if err := g.begin(); err != nil {
				return nil, err
			}
		}
		ps, err := g.propose(min(n, g.left))
		if len(ps) > 0 {
			return ps, nil
		}
		if err != nil && !errors.Is(err, assay.ErrDone) {
			return nil, err
		}
		// The searcher waits for its trials. The turn is not over.
		if err == nil && g.waiting() {
			return nil, nil
		}
		g.end()
	}
	// ErrDone does not come while a trial is outstanding.
	if len(g.of) > 0 {
		return nil, nil
	}
	return nil, assay.ErrDone
}

// propose asks the searcher of the turn until one of its proposals is admissible. The others are reported to it as
// failed.
func (g *Groups) propose(n int) (ps []assay.Proposal, err error) {
	for range refusals {
		if g.left == 0 {
			return nil, assay.ErrDone
		}
		qs, err := g.inner.Ask(n)
		if err != nil || len(qs) == 0 {
			return nil, err
		}
		for _, q := range qs {
			// A proposal that changes an inactive parameter is a twin of another, and no member.
			c, ok := g.space.Member(g.whole(q.Config))
			if !ok {
				// It failed as far as the searcher of the turn can see. It never reaches the caller.
				if err := g.inner.Tell(assay.Trial{Proposal: q, State: assay.Failed}); err != nil {
					return nil, err
				}
				continue
			}
			// Refused proposals do not count: the turn is of runs.
			g.left--
			g.fresh = g.seen.add(c) || g.fresh
			p := g.asked.propose(c)
			g.of[p.ID] = part{g.inner, q}
			ps = append(ps, p)
		}
		if len(ps) > 0 {
			return ps, nil
		}
	}
	return nil, assay.ErrDone
}

// whole returns the configuration that a proposal of the group stands for. Parameters of other groups that it makes
// inactive are at rest.
func (g *Groups) whole(c assay.Config) assay.Config {
	w := g.base.Clone()
	for k, i := range g.group {
		w[i] = c[k]
	}
	if rested := g.space.Rested(w); !rested.Equal(w) {
		for i := range rested {
			if !slices.Contains(g.group, i) {
				w[i] = rested[i]
			}
		}
	}
	return w
}

// begin starts the next turn.
func (g *Groups) begin() error {
	if g.found {
		g.base = g.best.Config.Clone()
	}
	g.group = g.opts.Groups[g.turn%len(g.opts.Groups)]
	var params []assay.Param
	for _, i := range g.group {
		p := g.space.Params[i]
		p.When = nil // it may read other groups
		params = append(params, p)
	}
	// Relations and conditions are left out: those within the group are checked with all others in propose.
	sub, err := assay.NewSpace(params)
	if g.space.Listed() {
		sub, err = assay.NewList(params, g.listed())
	}
	if err != nil {
		return err
	}
	g.inner, g.fresh = g.opts.Make(sub, g.turn), false
	g.turn++
	if g.left = g.opts.Turn; g.left == 0 {
		g.left = 10 * len(g.group)
	}
	return nil
}

// listed returns the values of the group in the list with all other parameters as in the base.
func (g *Groups) listed() (cs []assay.Config) {
	for c := range g.space.All() {
		w, sub := c.Clone(), assay.Config{}
		for _, i := range g.group {
			sub = append(sub, c[i])
			w[i] = g.base[i]
		}
		if w.Equal(g.base) {
			cs = append(cs, sub)
		}
	}
	return cs
}

// end ends the turn.
//
// The proposals of the turn that are outstanding stay in of.
func (g *Groups) end() {
	if g.stale++; g.fresh {
		g.stale = 0
	}
	g.inner = nil
}

// waiting reports whether a proposal of this turn is outstanding.
func (g *Groups) waiting() bool {
	for _, p := range g.of {
		if p.inner == g.inner {
			return true
		}
	}
	return false
}

// Tell implements [assay.Searcher].
func (g *Groups) Tell(trials ...assay.Trial) error {
	configs, err := g.asked.settled(trials)
	if err != nil {
		return err
	}
	for i, t := range trials {
		p := g.of[t.ID]
		delete(g.of, t.ID)
		// The proposed configuration counts, not the trial's.
		t.Config = configs[i]
		g.learn(t)
		t.Proposal = p.proposal
		if err := p.inner.Tell(t); err != nil {
			return err
		}
	}
	return nil
}

// Observe implements [assay.Observer]: the best of the trials is where a turn begins.
func (g *Groups) Observe(trials ...assay.Trial) error {
	if err := g.space.CheckObserved(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if c, ok := g.space.Member(t.Config); ok {
			t.Config = c
			g.learn(t)
		}
	}
	return nil
}

// learn keeps the trial if it is the best so far, the first of equals. Its configuration is copied, since
// an observed trial is the caller's.
func (g *Groups) learn(t assay.Trial) {
	if t.State == assay.Done && (!g.found || t.Value < g.best.Value) {
		g.best, g.found = t, true
		g.best.Config = t.Config.Clone()
	}
}
