package assaytest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// TestNarrower checks every rule of the contract of [assay.Narrower], which
// newSearcher must return, on the spaces of [TestSearcher], whose rules it leaves
// to that. The limits keep half of the values of one parameter or of several, or
// a single configuration of a small space.
func TestNarrower(t *testing.T, newSearcher func(*assay.Space) assay.Searcher, opts SearcherOptions) {
	t.Helper()
	testSearcherCases(t, narrowerCases, newSearcher, opts)
}

var narrowerCases = []searcherCase{
	{
		"Limited", "no proposal is outside of the limit; earlier proposals still take results",
		narrowerLimited,
	},
	{"FromTheStart", "a limit may come before the first Ask", narrowerFromTheStart},
	{"Replaced", "a limit takes the place of the earlier one", narrowerReplaced},
	{"Lifted", "when the limit is lifted the search goes on", narrowerLifted},
	{
		"Exhausted", "every configuration within the limit and then ErrDone, and the others once it is lifted, if " +
			"exhaustion is promised", narrowerExhausted,
	},
	{"Repeats", "no configuration twice, under a limit or after it, if that is promised", narrowerRepeats},
	{"NoLimit", "lifting a limit that is not there changes nothing", narrowerNoLimit},
	{"Replay", "the same calls give the same proposals", narrowerReplay},
	{
		"EmptyAsk", "an Ask that returns no proposals leaves the searcher unchanged, ErrDone under a limit too",
		narrowerEmptyAsk,
	},
	{"Observe", "an Observer takes trials on both sides of the limit", narrowerObserve},
}

// A narrowLimit is a limit that holds for at least one configuration.
type narrowLimit struct {
	name string
	keep func(assay.Config) bool
}

// limits returns limits for a space: one after the other, each disjoint from
// the next where the space allows.
func (b searcherBench) limits() []narrowLimit {
	upper := func(i int, c assay.Config) bool { return b.space.Params[i].ToUnit(c[i]) > 0.5 }
	all := []narrowLimit{}
	for i, p := range b.space.Params {
		if p.Count() != 1 && i < 3 {
			all = append(all,
				narrowLimit{"upper half of " + p.Name, func(c assay.Config) bool { return upper(i, c) }},
				narrowLimit{"lower half of " + p.Name, func(c assay.Config) bool { return !upper(i, c) }})
		}
	}
	half := min(3, b.space.Dim())
	all = append(all, narrowLimit{"lower halves", func(c assay.Config) bool {
		return !slices.ContainsFunc([]int{0, 1, 2}[:half], func(i int) bool { return upper(i, c) })
	}})
	if n := b.space.Size().N; n > 0 && n <= 1000 {
		one := anyConfig(b.space)
		all = append(all, narrowLimit{"one configuration", one.Equal})
	}
	all = append(all, narrowLimit{"everything", func(assay.Config) bool { return true }})
	return slices.DeleteFunc(all, func(l narrowLimit) bool { return !b.inhabited(l) })
}

// inhabited reports whether the limit holds for a configuration of the space:
// exactly where it is small, else for one of some draws.
func (b searcherBench) inhabited(l narrowLimit) bool {
	if n := b.space.Size().N; n > 0 && n <= 1000 {
		for c := range b.space.All() {
			if l.keep(c) {
				return true
			}
		}
		return false
	}
	rng := rand.New(rand.NewPCG(3, 0))
	for range 200 {
		if c, ok := b.space.Draw(rng); ok && l.keep(c) {
			return true
		}
	}
	return false
}

// size returns the number of configurations within the limit of a small space.
func (b searcherBench) size(l narrowLimit) (n int) {
	for c := range b.space.All() {
		if l.keep(c) {
			n++
		}
	}
	return n
}

// A narrowerRun is a searcherRun that limits its searcher and checks that the
// limit holds.
type narrowerRun struct {
	*searcherRun
	keep  func(assay.Config) bool // nil for no limit
	stray assay.Config            // a configuration that keep was asked about and is no member
}

func (b searcherBench) startNarrower() (*narrowerRun, error) {
	r := &narrowerRun{searcherRun: b.start()}
	if _, ok := assay.As[assay.Narrower](r.s); !ok {
		return nil, fmt.Errorf("%T is no assay.Narrower", r.s)
	}
	return r, nil
}

// narrow limits the searcher from now on.
func (r *narrowerRun) narrow(l narrowLimit) {
	r.done, r.keep = false, l.keep
	narrower(r.s).Narrow(func(c assay.Config) bool {
		if !r.space.Contains(c) {
			r.stray = c
		}
		return l.keep(c)
	})
}

// lift lifts the limit.
func (r *narrowerRun) lift() {
	r.done, r.keep = false, nil
	narrower(r.s).Narrow(nil)
}

// within asks for n proposals and checks that the returned ones are within the limit.
func (r *narrowerRun) within(n int) error {
	from := len(r.proposals)
	if err := r.ask(n); err != nil {
		return err
	}
	for _, p := range r.proposals[from:] {
		if r.keep != nil && !r.keep(p.Config) {
			return fmt.Errorf("proposal %d, %s, is outside of the limit", p.ID, r.space.Text(p.Config))
		}
	}
	if r.stray != nil {
		return fmt.Errorf("the limit was asked about %v, which is no member of the space", r.stray)
	}
	return nil
}

// tellAll passes all outstanding trials to Tell, last first.
func (r *narrowerRun) tellAll() error {
	for len(r.outstanding) > 0 {
		if err := r.tell(len(r.outstanding)-1, r.finished); err != nil {
			return err
		}
	}
	return nil
}

// rounds asks for batch proposals and reports all but the last of them, n times or until the searcher is done.
func (r *narrowerRun) rounds(n, batch int) error {
	for range n {
		if err := r.within(batch); err != nil || r.done {
			return err
		}
		for len(r.outstanding) > 1 || r.empty && len(r.outstanding) > 0 {
			if err := r.tell(0, r.finished); err != nil {
				return err
			}
		}
	}
	return nil
}

// batches are the numbers of proposals asked for at a time.
var narrowerBatches = []int{1, 5}

// each runs f with every limit and batch.
func (b searcherBench) each(f func(r *narrowerRun, l narrowLimit, batch int) error) error {
	for _, l := range b.limits() {
		for _, batch := range narrowerBatches {
			r, err := b.startNarrower()
			if err != nil {
				return err
			}
			if err := f(r, l, batch); err != nil {
				return fmt.Errorf("limit %s, %d at a time: %w", l.name, batch, err)
			}
		}
	}
	return nil
}

func narrowerLimited(b searcherBench) error {
	return b.each(func(r *narrowerRun, l narrowLimit, batch int) error {
		if err := r.rounds(b.opts.Trials/(4*batch), batch); err != nil {
			return err
		}
		if !r.done {
			if err := r.within(batch); err != nil {
				return err
			}
		}
		r.narrow(l) // with trials outstanding
		if err := r.within(batch); err != nil {
			return err
		}
		if err := r.tellAll(); err != nil {
			return err
		}
		return r.rounds(b.opts.Trials/(2*batch), batch)
	})
}

func narrowerFromTheStart(b searcherBench) error {
	return b.each(func(r *narrowerRun, l narrowLimit, batch int) error {
		r.narrow(l)
		if err := r.rounds(b.opts.Trials/(2*batch), batch); err != nil {
			return err
		}
		if len(r.proposals) == 0 {
			return errors.New("there are no proposals at all")
		}
		return nil
	})
}

func narrowerReplaced(b searcherBench) error {
	limits := b.limits()
	for _, batch := range narrowerBatches {
		r, err := b.startNarrower()
		if err != nil {
			return err
		}
		for _, l := range limits {
			r.narrow(l)
			if err := r.rounds(max(1, b.opts.Trials/(len(limits)*batch)), batch); err != nil {
				return fmt.Errorf("limit %s after others: %w", l.name, err)
			}
		}
	}
	if n := b.space.Size().N; !b.opts.Exhausts || n == 0 || n > maxExhausted {
		return nil
	}
	// A limit that replaces a disjoint one leaves some configurations.
	for i, l := range limits[1:] {
		r, err := b.startNarrower()
		if err != nil {
			return err
		}
		r.narrow(limits[i])
		if err := r.within(1); err != nil {
			return err
		}
		r.narrow(l)
		if err := r.exhaust(3); err != nil {
			return err
		}
		want := b.size(l)
		if !l.keep(r.proposals[0].Config) {
			want++
		}
		if len(r.proposals) != want {
			return fmt.Errorf("limit %s after %s: %d proposals, want %d", l.name, limits[i].name, len(r.proposals),
				want)
		}
	}
	return nil
}

func narrowerLifted(b searcherBench) error {
	return b.each(func(r *narrowerRun, l narrowLimit, batch int) error {
		if err := r.rounds(b.opts.Trials/(4*batch), batch); err != nil {
			return err
		}
		r.narrow(l)
		if err := r.rounds(b.opts.Trials/(4*batch), batch); err != nil {
			return err
		}
		r.lift()
		return r.rounds(b.opts.Trials/(4*batch), batch)
	})
}

// exhaust runs the searcher until it is done, and asks it once more, because ErrDone must stay.
func (r *narrowerRun) exhaust(batch int) error {
	n := int(r.space.Size().N)
	for calls := 0; !r.done; calls++ {
		if calls > 4*n+4 {
			return fmt.Errorf("no ErrDone after %d Asks in a space of %d", calls, n)
		}
		if err := r.within(batch); err != nil {
			return err
		}
		for len(r.outstanding) > batch/2 || r.empty && len(r.outstanding) > 0 {
			if err := r.tell(0, r.finished); err != nil {
				return err
			}
		}
	}
	return r.ask(1)
}

func narrowerExhausted(b searcherBench) error {
	n := b.space.Size().N
	if !b.opts.Exhausts || n == 0 || n > maxExhausted {
		return nil
	}
	return b.each(func(r *narrowerRun, l narrowLimit, batch int) error {
		if err := r.within(batch); err != nil {
			return err
		}
		outside := 0
		for _, p := range r.proposals {
			if !l.keep(p.Config) {
				outside++
			}
		}
		r.narrow(l)
		if err := r.exhaust(batch); err != nil {
			return err
		}
		if got, want := len(r.proposals)-outside, b.size(l); got != want {
			return fmt.Errorf("%d proposals within a limit of %d before ErrDone", got, want)
		}
		r.lift()
		if err := r.exhaust(batch); err != nil {
			return err
		}
		if len(r.proposals) != int(n) {
			return fmt.Errorf("%d proposals in a space of %d once the limit was lifted", len(r.proposals), n)
		}
		return distinct(r.searcherRun)
	})
}

func narrowerRepeats(b searcherBench) error {
	if !b.opts.NoRepeats {
		return nil
	}
	return b.each(func(r *narrowerRun, l narrowLimit, batch int) error {
		for range 2 {
			r.narrow(l)
			if err := r.rounds(b.opts.Trials/(4*batch), batch); err != nil {
				return err
			}
			r.lift()
			if err := r.rounds(b.opts.Trials/(4*batch), batch); err != nil {
				return err
			}
		}
		return distinct(r.searcherRun)
	})
}

func narrowerNoLimit(b searcherBench) error {
	return b.untouched(func(r *searcherRun) error {
		n, ok := assay.As[assay.Narrower](r.s)
		if !ok {
			return fmt.Errorf("%T is no assay.Narrower", r.s)
		}
		n.Narrow(nil)
		return nil
	})
}

// twice runs f on two searchers and checks that they had the same proposals.
func (b searcherBench) twice(f func(r *narrowerRun, second bool) error) error {
	var runs [2]*narrowerRun
	for i := range runs {
		r, err := b.startNarrower()
		if err != nil {
			return err
		}
		if err := f(r, i == 1); err != nil {
			return err
		}
		runs[i] = r
	}
	return same(runs[0].searcherRun, runs[1].searcherRun)
}

func narrowerReplay(b searcherBench) error {
	for _, l := range b.limits() {
		err := b.twice(func(r *narrowerRun, _ bool) error {
			if err := r.rounds(b.opts.Trials/12, 3); err != nil {
				return err
			}
			r.narrow(l)
			if err := r.rounds(b.opts.Trials/12, 3); err != nil {
				return err
			}
			r.lift()
			return r.rounds(b.opts.Trials/12, 3)
		})
		if err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

func narrowerEmptyAsk(b searcherBench) error {
	n := b.space.Size().N
	if !b.opts.Exhausts || n == 0 || n > maxExhausted {
		return nil
	}
	for _, l := range b.limits() {
		err := b.twice(func(r *narrowerRun, second bool) error {
			r.narrow(l)
			inside := b.size(l)
			for calls := 0; len(r.proposals) < inside; calls++ {
				if calls > 4*inside+4 {
					return fmt.Errorf("%d proposals within a limit of %d after %d Asks", len(r.proposals), inside,
						calls)
				}
				if err := r.within(1); err != nil {
					return err
				}
				if err := r.tellAll(); err != nil {
					return err
				}
			}
			if second {
				for range 3 {
					if err := r.within(2); err != nil {
						return err
					}
				}
			}
			r.lift()
			return r.rounds(b.opts.Trials/4, 1)
		})
		if err != nil {
			return fmt.Errorf("limit %s, with and without Asks that return nothing: %w", l.name, err)
		}
	}
	return nil
}

func narrowerObserve(b searcherBench) error {
	if _, ok := assay.As[assay.Observer](b.build(b.space)); !ok {
		return nil
	}
	return b.each(func(r *narrowerRun, l narrowLimit, batch int) error {
		rng := rand.New(rand.NewPCG(17, 0))
		var seen []assay.Proposal
		r.narrow(l)
		for range 3 {
			c, ok := b.space.Draw(rng)
			if !ok {
				return errors.New("nothing can be drawn from the space")
			}
			p := assay.Proposal{ID: 1, Config: c}
			repeated := slices.ContainsFunc(append(slices.Clone(seen), r.proposals...),
				func(q assay.Proposal) bool { return q.Config.Equal(c) })
			if err := observer(r.s).Observe(b.finished(p)); err != nil {
				return fmt.Errorf("observing under a limit: %w", err)
			}
			if !repeated {
				seen = append(seen, p)
			}
			if err := r.rounds(max(1, b.opts.Trials/(8*batch)), batch); err != nil {
				return err
			}
		}
		if !b.opts.NoRepeats {
			return nil
		}
		r.proposals = append(r.proposals, seen...)
		if err := distinct(r.searcherRun); err != nil {
			return fmt.Errorf("after it was observed: %w", err)
		}
		return nil
	})
}
