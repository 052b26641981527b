package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// AdaptiveOptions configure [Adaptive]. The zero value is usable.
type AdaptiveOptions struct {
	// Min and Max bound the runs of a configuration; 0 means 2 and 10.
	Min, Max int
	// Reduce makes the values of the runs one, as in [Replicate]; nil means slices.Min.
	Reduce func([]float64) float64
	// Settled reports whether the order of two configurations is beyond doubt, given the values of their runs, at least
	// Min each; low is the one with the lesser reduced value. nil means Precedence(1/8), which is for minima.
	Settled func(low, high []float64) bool
}

// Adaptive returns a searcher that runs each proposal of inner until its order is settled, between Min and Max times:
// the adaptive K that Tabatabaee et al. 2005, §5.2 leave open. The rule:
//
//   - Proposals that inner makes at one Ask race each other and the best
//     configuration of the races before: as many as fill an Ask(n) with Min runs of
//     each, but two at least, also where runs are asked for one at a time. After
//     Min runs each, the one with the least reduced value, the leader, is compared
//     with every other.
//   - Those whose order to the leader is settled are not run again. The others,
//     and the leader as long as there are any, are run once more, and so on up to
//     Max runs of each in all.
//   - When a race is over, inner gets the trials of its proposals, each with the reduced
//     value of its runs, merged as by [Replicate]. The earlier value of the
//     best of earlier races stays with inner; if more runs have changed its
//     value since, the new values are shifted by the same amount, so that their
//     order to it is the measured one.
//
// A configuration that failed in each of its first Min runs, or broke a limit in half of them, takes no part in the
// race. The runs of a race are interleaved, so that a slow drift of the machine hits all alike. If Ask(n) finds fewer
// proposals than n, each is run K = ⌊n/proposals⌋ times at once, up to Max: spare processors cost nothing (§5.2).
//
// Like [Replicate] it is no [assay.Narrower]. It panics unless 1 <= Min <= Max.
func Adaptive(inner assay.Searcher, opts AdaptiveOptions) assay.Searcher {
	opts.Min = cmp.Or(opts.Min, 2)
	opts.Max = cmp.Or(opts.Max, max(10, opts.Min))
	if opts.Min < 1 || opts.Max < opts.Min {
		panic(fmt.Sprintf("search: %d to %d replicates", opts.Min, opts.Max))
	}
	if opts.Reduce == nil {
		opts.Reduce = slices.Min[[]float64]
	}
	if opts.Settled == nil {
		opts.Settled = Precedence(1.0 / 8)
	}
	return &adaptive{inner: inner, opts: opts, of: map[int64]*race{}}
}

// Precedence returns the rule that settles the order of two minima: of the runs of both, the m least all belong to
// the lower one, and if the two were alike that would happen with a probability of at most alpha (Rosenbaum 1954),
//
//	C(n_l, m)/C(n_l+n_h, m) <= α,
//
// n_l and n_h the numbers of runs. With α = 1/8 it takes the 3 least where both have as many runs, or 8 of 10 if the
// higher one has 2. It uses only the fast runs, where a heavy tail does no harm, and no scale of the noise. If all
// runs are equal, the order counts as settled. It panics unless 0 < alpha < 1.
func Precedence(alpha float64) func(low, high []float64) bool {
	if !(alpha > 0 && alpha < 1) {
		panic(fmt.Sprintf("search: precedence with error %v", alpha))
	}
	return func(low, high []float64) bool {
		first := slices.Min(high)
		if slices.Max(high) == first && slices.Min(low) == first && slices.Max(low) == first {
			return true
		}
		p, m := 1.0, 0
		for _, x := range low {
			if x < first {
				// Invariant: p = C(n_l, m)/C(n_l+n_h, m).
				p *= float64(len(low)-m) / float64(len(low)+len(high)-m)
				m++
			}
		}
		return p <= alpha
	}
}

// Shift returns the rule that settles the order of two medians or means: a difference is shown at the level by the rank
// test of [stats.CompareShift]. At level 0.9 it takes at least 4 runs of each.
func Shift(level float64) func(low, high []float64) bool {
	return func(low, high []float64) bool {
		return stats.CompareShift(low, high, stats.CompareOptions{Level: level}).Verdict == stats.More
	}
}

// adaptive is the searcher of [Adaptive].
//
// Invariant: best has the least reduced value of all races that are over, told is the value of it that inner got, and
// shift is told less its reduced value at the end of the last race.
type adaptive struct {
	inner assay.Searcher  // proposes the configurations
	opts  AdaptiveOptions // with defaults
	ledger
	races []*race         // that are not over
	of    map[int64]*race // by the ID of an outstanding run
	best  *replicates     // of the races that are over; nil without one
	told  float64         // the value of best that inner got
	shift float64         // that value, less the present one
}

// A race is the proposals of one Ask of inner. It is over when no run of it is outstanding, none is queued and no order
// to the leader is in doubt. queue may hold runs of the best of earlier races, which is no group of this one.
type race struct {
	groups []*replicates         // one for each proposal of the Ask
	group  map[int64]*replicates // of outstanding runs
	queue  []*replicates         // runs to be asked
}

var _ assay.Masker = (*adaptive)(nil)

// Unwrap implements [assay.Unwrapper].
func (a *adaptive) Unwrap() assay.Searcher { return a.inner }

// Hides implements [assay.Masker].
func (a *adaptive) Hides(ability any) bool {
	_, narrower := ability.(*assay.Narrower)
	return narrower
}

// Ask implements [assay.Searcher].
func (a *adaptive) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	var ps []assay.Proposal
	for _, r := range a.races {
		ps = append(ps, a.take(r, n-len(ps))...)
	}
	for len(ps) < n {
		want := n - len(ps)
		inner, err := a.inner.Ask(roundOf(want, a.opts.Min))
		if err != nil && len(ps) == 0 && len(a.races) == 0 {
			return nil, err
		}
		if len(inner) == 0 { // an error comes again at the next Ask
			break
		}
		r := &race{group: map[int64]*replicates{}}
		for _, p := range inner {
			r.groups = append(r.groups, &replicates{inner: p})
		}
		for range min(max(a.opts.Min, stats.Replicates(want, len(inner))), a.opts.Max) {
			r.queue = append(r.queue, r.groups...)
		}
		a.races = append(a.races, r)
		ps = append(ps, a.take(r, want)...)
	}
	return ps, nil
}

// take asks for at most n of the runs that the race waits for, in the order of the queue,
// which interleaves the configurations.
func (a *adaptive) take(r *race, n int) []assay.Proposal {
	var ps []assay.Proposal
	for len(ps) < n && len(r.queue) > 0 {
		g := r.queue[0]
		r.queue = r.queue[1:]
		p := a.propose(g.inner.Config)
		g.ids = append(g.ids, p.ID)
		r.group[p.ID] = g
		a.of[p.ID] = r
		ps = append(ps, p)
	}
	return ps
}

// Tell implements [assay.Searcher].
func (a *adaptive) Tell(trials ...assay.Trial) error {
	if err := a.settle(trials); err != nil {
		return err
	}
	var told []assay.Trial
	for _, t := range trials {
		r := a.of[t.ID]
		delete(a.of, t.ID)
		g := r.group[t.ID]
		delete(r.group, t.ID)
		g.runs = append(g.runs, t)
		if len(r.queue) > 0 || len(r.group) > 0 {
			continue
		}
		if r.queue = a.doubtful(r); len(r.queue) > 0 {
			continue
		}
		a.races = slices.DeleteFunc(a.races, func(x *race) bool { return x == r })
		for _, g := range r.groups {
			m := g.merge(a.opts.Reduce)
			if m.State != assay.Failed && m.State != assay.Withdrawn {
				m.Value += a.shift
			}
			told = append(told, m)
		}
	}
	if len(told) == 0 {
		return nil
	}
	return a.inner.Tell(told...)
}

// doubtful returns the configurations that have to be run again for a race: those whose order to the leader is in
// doubt, and the leader itself if there are any. If there are none, the leader is the best from now on.
func (a *adaptive) doubtful(r *race) []*replicates {
	var runners []*replicates
	if a.best != nil {
		runners = append(runners, a.best)
	}
	runners = append(runners, r.groups...)
	leader, lead := a.leader(runners)
	if leader == nil {
		return nil
	}
	var again []*replicates
	doubt := false
	for _, g := range runners {
		v, ok := a.values(g)
		if !ok || g == leader || a.opts.Settled(lead, v) {
			continue
		}
		doubt = true
		if len(g.runs) < a.opts.Max {
			again = append(again, g)
		}
	}
	if doubt && len(leader.runs) < a.opts.Max {
		again = append(again, leader)
	}
	if len(again) > 0 {
		return again
	}
	if a.best != nil {
		if v, ok := a.values(a.best); ok { // or its last run broke a limit, and another leads
			a.shift = a.told - a.reduce(v)
		}
	}
	if leader != a.best {
		a.best, a.told = leader, a.reduce(lead)+a.shift
	}
	return nil
}

// leader returns the best of some configurations and its values, nil if none has values.
func (a *adaptive) leader(runners []*replicates) (leader *replicates, lead []float64) {
	for _, g := range runners {
		if v, ok := a.values(g); ok && (leader == nil || a.reduce(v) < a.reduce(lead)) {
			leader, lead = g, v
		}
	}
	return leader, lead
}

// values returns the values of the runs of a proposal in the order of the proposals, failed ones as +Inf. It reports
// whether together they are a result within the limits; only such take part in a race.
func (a *adaptive) values(g *replicates) ([]float64, bool) {
	if g.merge(a.opts.Reduce).State != assay.Done {
		return nil, false
	}
	runs := slices.SortedFunc(slices.Values(g.runs), func(a, b assay.Trial) int { return cmp.Compare(a.ID, b.ID) })
	v := make([]float64, 0, len(runs))
	for _, t := range runs {
		switch {
		case t.State == assay.Withdrawn:
		case t.State == assay.Failed || math.IsNaN(t.Value):
			v = append(v, math.Inf(1))
		default:
			v = append(v, t.Value)
		}
	}
	return v, true
}

// reduce is the option on a copy: it may reorder its argument.
func (a *adaptive) reduce(v []float64) float64 { return a.opts.Reduce(slices.Clone(v)) }
