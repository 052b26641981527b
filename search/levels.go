package search

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// FidelityOptions define the parameter that makes runs cheap.
type FidelityOptions struct {
	Space *assay.Space // with all levels
	Level assay.Level  // the parameter and its full level
	// Levels are coordinates of the parameter from the cheapest level to the full one, at least one; nil means the
	// result of [assay.Param.LevelsUpTo].
	Levels []float64
	// Keep is the reduction factor: 1 in Keep runs is promoted to the next level; 0 means [FidelityKeep].
	Keep int
	// ImputeStopped counts a run that a rule stopped as one that reached the best of its level, as [ImputeStopped] does
	// for a search without levels.
	ImputeStopped bool
}

const (
	// FidelityKeep is the default of [FidelityOptions].Keep: 1 in FidelityKeep runs is promoted.
	FidelityKeep = 3
	// cheapEnough is the most that a level may cost, as a share of a higher one, for new configurations to begin there.
	cheapEnough = 0.5
)

// Fidelity returns a searcher that runs most configurations of inner at cheap levels of one parameter, and the
// promising ones at higher ones: successive halving without waiting (ASHA, Li et al., "A system for massively
// parallel hyperparameter tuning", MLSys 2020). At each request it promotes the best configuration of a level that is
// among the best 1 in Keep there and was not promoted yet, at the highest level that has one; otherwise inner
// proposes a new configuration, which begins at the lowest level. No configuration begins at a level that costs more
// than half of a higher one, by the configurations that ran at both.
//
// The first configuration runs at the full level, as the baseline, and then at the cheapest. When inner has nothing
// new, the best configuration that was not promoted is promoted.
//
// Inner searches the space of the full level ([assay.Space.Fixed]), and gets each run with its estimated value at the
// full level: see [ladder]. If its models can, they see the level of each run: [Auto] and [Bayes] do. Any other
// searcher gets each configuration once, after its first run, and once more after one at the full level if it is an
// [assay.Observer]. inner does not see that a run is Infeasible if the only reason is its level.
func Fidelity(inner assay.Searcher, o FidelityOptions) assay.Searcher {
	if o.Keep == 0 {
		o.Keep = FidelityKeep
	}
	if o.Levels == nil {
		o.Levels = o.Space.Params[o.Level.Param].LevelsUpTo(o.Level.Full)
	}
	if o.Keep < 2 || len(o.Levels) == 0 {
		panic(fmt.Sprintf("search: one of %d runs of %d levels", o.Keep, len(o.Levels)))
	}
	l := &levels{inner: inner, o: o, rungs: make([]rung, len(o.Levels)), of: map[int64]ascent{}}
	l.deep, _ = assay.As[leveler](inner)
	l.ladder = newLadder(o)
	return l
}

// A leveler is a searcher whose models see at which level a trial was run.
type leveler interface {
	// tellAt is Tell of a trial that was run at a depth below the full level of a parameter, 0 for the full level, with
	// its value there. again marks a trial that inner got before, at another level.
	tellAt(t assay.Trial, param int, depth float64, again bool) error
	// raise sets all values from below the full level to the results of f.
	raise(f func(depth, value float64) float64)
}

// levels is the searcher of [Fidelity].
type levels struct {
	inner assay.Searcher  // proposes configurations at the full level
	deep  leveler         // the part of inner that sees levels, or nil
	o     FidelityOptions // with defaults
	ledger
	ladder ladder           // estimates values at the full level
	rungs  []rung           // by level, the cheapest first
	of     map[int64]ascent // by our ID
	begun  bool             // the first configuration is known
	extra  []ascent         // to be proposed next
}

// An ascent is a configuration on its way up.
type ascent struct {
	proposal assay.Proposal // inner's; without an ID if inner did not propose it
	rung     int            // the level of its present run
	told     bool           // inner was
}

// A rung holds the runs at a level, in the order in which they ended.
type rung []rungRun

// A rungRun is a run at a level. Its value is +Inf if it does not measure how good the configuration is.
type rungRun struct {
	ascent
	value    float64 // measured at this level
	promoted bool    // it was proposed at the next level, or needs not be
}

var (
	_ assay.Masker   = (*levels)(nil)
	_ assay.Observer = (*levels)(nil)
)

// Unwrap implements [assay.Unwrapper].
func (l *levels) Unwrap() assay.Searcher { return l.inner }

// Hides implements [assay.Masker]: a configuration that was begun is promoted also outside of a limit.
func (l *levels) Hides(ability any) bool {
	if _, is := ability.(*assay.Narrower); is {
		return true
	}
	return assay.HidesWith[assay.Observer](ability, l.inner)
}

// Ask implements [assay.Searcher].
func (l *levels) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	var ps []assay.Proposal
	for len(ps) < n {
		c, ok := l.next(l.o.Keep)
		if !ok {
			break
		}
		ps = append(ps, l.send(c))
	}
	if len(ps) == n {
		return ps, nil
	}
	more, err := l.inner.Ask(n - len(ps))
	for _, p := range more {
		c := ascent{proposal: p, rung: l.ladder.lowest}
		if !l.begun {
			c.rung = l.top()
			l.begin(ascent{proposal: p, told: true})
		}
		ps = append(ps, l.send(c))
	}
	if errors.Is(err, assay.ErrDone) {
		for len(ps) < n {
			c, ok := l.next(1)
			if !ok {
				break
			}
			ps = append(ps, l.send(c))
		}
		if len(ps) == 0 && len(l.of) > 0 {
			return nil, nil // the remaining runs may be promoted later
		}
	}
	if len(ps) > 0 {
		err = nil // it comes again
	}
	return ps, err
}

func (l *levels) top() int { return len(l.o.Levels) - 1 }

// begin has the first configuration, which runs at the full level, run at the cheapest too.
func (l *levels) begin(c ascent) {
	if l.begun = true; l.top() > 0 {
		l.extra = append(l.extra, c)
	}
}

// send proposes a configuration at its level, or at the next one that is admissible.
func (l *levels) send(c ascent) assay.Proposal {
	x := c.proposal.Config
	for ; c.rung < l.top(); c.rung++ {
		if low := l.o.Level.At(x, l.o.Levels[c.rung]); l.o.Space.Contains(low) {
			x = low
			break
		}
	}
	p := l.propose(x.Clone())
	l.of[p.ID] = c
	return p
}

// next returns the run before inner is asked: the best configuration of a level among the best 1 in keep.
func (l *levels) next(keep int) (ascent, bool) {
	if len(l.extra) > 0 {
		c := l.extra[0]
		l.extra = l.extra[1:]
		return c, true
	}
	for k := l.top() - 1; k >= 0; k-- {
		best, better := -1, 0
		for i, r := range l.rungs[k] {
			if !r.promoted && !math.IsInf(r.value, 1) && (best < 0 || r.value < l.rungs[k][best].value) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		r := &l.rungs[k][best]
		for _, o := range l.rungs[k] {
			if o.value < r.value {
				better++
			}
		}
		if better < len(l.rungs[k])/keep {
			r.promoted = true
			return ascent{r.proposal, k + 1, r.told}, true
		}
	}
	return ascent{}, false
}

// Tell implements [assay.Searcher].
func (l *levels) Tell(trials ...assay.Trial) error {
	if err := l.settle(trials); err != nil {
		return err
	}
	for _, t := range trials {
		c := l.of[t.ID]
		delete(l.of, t.ID)
		if err := l.take(c, t); err != nil {
			return err
		}
	}
	return nil
}

// take takes in a run and passes it to inner.
func (l *levels) take(c ascent, t assay.Trial) error {
	if t.State == assay.Infeasible && c.rung < l.top() {
		t.State = assay.Done
	}
	if t.State == assay.Withdrawn {
		return l.withdrawn(c, t)
	}
	t.Value = l.presumed(c.rung, t)
	r := rungRun{ascent: c, value: math.Inf(1)}
	if t.State == assay.Done && !math.IsNaN(t.Value) {
		r.value = t.Value
	}
	r.told = true
	r.promoted = c.rung == l.top() || l.reached(c)
	l.rungs[c.rung] = append(l.rungs[c.rung], r)
	l.ladder.add(c.proposal.Config, c.rung, t)
	t.Proposal = c.proposal
	if l.deep != nil {
		if err := l.deep.tellAt(t, l.o.Level.Param, l.ladder.depth(c.rung), c.told); err != nil {
			return err
		}
		l.deep.raise(l.ladder.raise)
		return nil
	}
	if c.rung < l.top() && t.State != assay.Failed {
		t.Value = l.ladder.raise(l.ladder.depth(c.rung), t.Value)
	}
	o, observes := assay.As[assay.Observer](l.inner)
	switch {
	case !c.told:
		return l.inner.Tell(t)
	case c.rung == l.top() && observes:
		return o.Observe(t)
	}
	return nil
}

// presumed returns the value that a trial at a rung is taken to have.
func (l *levels) presumed(rung int, t assay.Trial) float64 {
	if !l.o.ImputeStopped || !t.Stopped() {
		return t.Value
	}
	best := l.rungs[rung].best()
	if !math.IsInf(best, 1) && (t.Value < best || t.Decision.Last) {
		return best
	}
	return t.Value
}

// best returns the least value.
func (r rung) best() float64 {
	least := math.Inf(1)
	for _, run := range r {
		least = min(least, run.value)
	}
	return least
}

// reached reports whether a configuration was run at the full level, or is on its way.
func (l *levels) reached(c ascent) bool {
	same := func(o ascent) bool { return o.proposal.Config.Equal(c.proposal.Config) }
	if slices.ContainsFunc(l.rungs[l.top()], func(r rungRun) bool { return same(r.ascent) }) {
		return true
	}
	for _, o := range l.of {
		if o.rung == l.top() && same(o) {
			return true
		}
	}
	return false
}

// withdrawn takes in that a run was taken back: it may go on from where it was.
func (l *levels) withdrawn(c ascent, t assay.Trial) error {
	for k := c.rung - 1; k >= 0; k-- {
		for i := range l.rungs[k] {
			if r := &l.rungs[k][i]; r.proposal.Config.Equal(c.proposal.Config) {
				r.promoted = false
				return nil
			}
		}
	}
	if c.told || c.proposal.ID == 0 {
		return nil
	}
	t.Proposal = c.proposal
	return l.inner.Tell(t)
}

// Observe implements [assay.Observer]. It learns nothing from a run at a level that is not one of its own.
func (l *levels) Observe(trials ...assay.Trial) error {
	if err := l.o.Space.CheckObserved(trials...); err != nil {
		return err
	}
	o, ok := assay.As[assay.Observer](l.inner)
	if !ok {
		return nil
	}
	for _, t := range trials {
		k := slices.Index(l.o.Levels, t.Config[l.o.Level.Param])
		if k < 0 || t.State == assay.Withdrawn || !l.o.Space.Contains(t.Config) {
			continue
		}
		c := ascent{proposal: assay.Proposal{Config: l.o.Level.At(t.Config, l.o.Level.Full)}, rung: k, told: true}
		if k < l.top() {
			if err := l.take(c, t); err != nil {
				return err
			}
			continue
		}
		if !l.begun {
			l.begin(ascent{proposal: c.proposal, told: true})
		}
		r := rungRun{ascent: c, value: math.Inf(1), promoted: true}
		if t.State == assay.Done {
			r.value = t.Value
		}
		l.rungs[k] = append(l.rungs[k], r)
		l.ladder.add(c.proposal.Config, k, t)
		if err := o.Observe(t); err != nil {
			return err
		}
	}
	return nil
}
