package search

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// Replicate returns a searcher that runs each proposal of inner k times and gives inner one trial with reduce of the
// k values. With [slices.Min] it is the min-of-K estimator (Tabatabaee et al. 2005, §5.2, eq. 13), which keeps a
// finite variance if single runs are heavy-tailed.
//
// reduce gets k numbers in the order of the proposals and must be monotone in each: minimum, median, mean and maximum
// are. It need not keep the order of its slice. Runs without an exact value enter as follows:
//
//   - A failed run counts as +Inf. If reduce makes that infinite or NaN, inner
//     gets a failed trial: with the minimum if all runs failed, with the
//     median if half or more, with the mean if one.
//   - A censored run has a value of at least its bound. If reduce does not
//     depend on how far above, inner gets a finished trial, otherwise a
//     censored one whose value is reduce of the values and bounds.
//   - If at least half of the runs that ended by themselves broke a limit,
//     inner gets an infeasible trial.
//
// The merged trial has the measurement, reason and decision of the run whose value is nearest to the merged one, the
// span of time of all runs and the sum of their attempts. It panics if k < 1.
//
// Replicates of several proposals are interleaved, so that a slow drift of the machine hits all alike: the first runs
// of a round of proposals come before the second ones, and so on. Inner is asked for a round when the one before is
// used up: for as many proposals as fill an Ask(n), but for two at least, even if runs are asked for one at a time.
// With more, inner would learn later, and more of them would be unfinished when the budget ends. If inner returns
// fewer, the round is smaller; inner gets each proposal's trial after its k-th run.
//
// Spare room is not used for more than k runs: [Adaptive] does that.
//
// It is no [assay.Narrower], because a configuration that was begun is run k times: narrow inner.
func Replicate(inner assay.Searcher, k int, reduce func([]float64) float64) assay.Searcher {
	if k < 1 {
		panic(fmt.Sprintf("search: %d replicates", k))
	}
	return &replicate{inner: inner, k: k, reduce: reduce, of: map[int64]*replicates{}}
}

// leastRound is the least number of proposals of a round that is asked for: runs of two can alternate.
const leastRound = 2

// roundOf returns how many proposals, of which each is run k times, make a round of at least n runs. A round of one
// would run its replicates back to back, and a slow drift of the machine would hit them alike.
func roundOf(n, k int) int { return max((n+k-1)/k, min(k, leastRound)) }

// replicate is the searcher of [Replicate]. queue has one entry for each run that has not been asked, round after
// round, and of maps an outstanding run to its proposal.
type replicate struct {
	inner  assay.Searcher          // gets one trial for each proposal
	k      int                     // runs of a proposal
	reduce func([]float64) float64 // makes one value of the values of the runs
	ledger
	queue []*replicates         // one entry for each run that has not been asked
	of    map[int64]*replicates // by our ID
}

// replicates are the runs of one proposal of inner.
type replicates struct {
	inner assay.Proposal // without our IDs
	ids   []int64        // of the asked runs
	runs  []assay.Trial  // with results so far
}

var _ assay.Masker = (*replicate)(nil)

// Unwrap implements [assay.Unwrapper].
func (r *replicate) Unwrap() assay.Searcher { return r.inner }

// Hides implements [assay.Masker].
func (r *replicate) Hides(ability any) bool {
	_, narrower := ability.(*assay.Narrower)
	return narrower
}

// Ask implements [assay.Searcher].
func (r *replicate) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	for len(r.queue) < n {
		ps, err := r.inner.Ask(roundOf(n-len(r.queue), r.k))
		if err != nil && len(r.queue) == 0 {
			return nil, err
		}
		if len(ps) == 0 { // an error comes again at the next Ask
			break
		}
		round := make([]*replicates, len(ps))
		for i, p := range ps {
			round[i] = &replicates{inner: p}
		}
		for range r.k {
			r.queue = append(r.queue, round...)
		}
	}
	var ps []assay.Proposal
	for _, g := range r.queue[:min(n, len(r.queue))] {
		p := r.propose(g.inner.Config)
		g.ids = append(g.ids, p.ID)
		r.of[p.ID] = g
		ps = append(ps, p)
	}
	r.queue = r.queue[len(ps):]
	return ps, nil
}

// Tell implements [assay.Searcher].
func (r *replicate) Tell(trials ...assay.Trial) error {
	if err := r.settle(trials); err != nil {
		return err
	}
	var told []assay.Trial
	for _, t := range trials {
		g := r.of[t.ID]
		delete(r.of, t.ID)
		if g.runs = append(g.runs, t); len(g.runs) == r.k {
			told = append(told, g.merge(r.reduce))
		}
	}
	if len(told) == 0 {
		return nil
	}
	return r.inner.Tell(told...)
}

// merge returns the trial that stands for all runs with results so far that were not withdrawn; if all were, it is
// withdrawn too. reduce is applied twice: to the values with bounds in place of the stopped runs, and with +Inf in
// place of them. If both agree, the stopped runs did not matter.
func (g *replicates) merge(reduce func([]float64) float64) assay.Trial {
	// In the order of the proposals, not of the results.
	runs := slices.DeleteFunc(slices.Clone(g.runs), func(t assay.Trial) bool { return t.State == assay.Withdrawn })
	if len(runs) == 0 {
		m := g.runs[0]
		m.Proposal = g.inner
		return m
	}
	slices.SortFunc(runs, func(a, b assay.Trial) int { return slices.Index(g.ids, a.ID) - slices.Index(g.ids, b.ID) })
	low, high, ended, broken := bounds(runs)
	nearest := slices.Clone(low) // reduce may reorder its argument
	value, bound := reduce(low), reduce(high)

	m := assay.Trial{State: assay.Done, Value: value}
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		m.State, m.Value = assay.Failed, math.Inf(1)
	case broken > 0 && 2*broken >= ended:
		m.State = assay.Infeasible
	case bound != value:
		m.State = assay.Censored
	}
	if m.State == assay.Done || m.State == assay.Censored || m.State == assay.Infeasible {
		m.Values = mergedValues(runs, reduce)
	}
	like := runs[representative(runs, nearest, m)]
	m.Proposal, m.Measurement, m.Reason, m.Decision = g.inner, like.Measurement, like.Reason, like.Decision
	m.Started, m.Ended = runs[0].Started, runs[0].Ended
	for _, t := range runs {
		m.Attempts += t.Attempts
		if t.Started.Before(m.Started) {
			m.Started = t.Started
		}
		if t.Ended.After(m.Ended) {
			m.Ended = t.Ended
		}
	}
	return m
}

// bounds returns the least and the greatest value that each run may have, how many runs ended, and how many of these
// broke a limit.
func bounds(runs []assay.Trial) (low, high []float64, ended, broken int) {
	low, high = make([]float64, len(runs)), make([]float64, len(runs))
	for i, t := range runs {
		low[i] = t.Value
		if t.State == assay.Failed || math.IsNaN(t.Value) {
			low[i] = math.Inf(1)
		}
		if high[i] = low[i]; t.State == assay.Censored {
			high[i] = math.Inf(1)
		}
		if t.State == assay.Done || t.State == assay.Infeasible {
			ended++
		}
		if t.State == assay.Infeasible {
			broken++
		}
	}
	return low, high, ended, broken
}

// mergedValues returns reduce of each of several objectives over runs, nil if there are none. A run without values
// counts as +Inf in each.
func mergedValues(runs []assay.Trial, reduce func([]float64) float64) (values []float64) {
	d := 0
	for _, t := range runs {
		d = max(d, len(t.Values))
	}
	for j := range d {
		column := make([]float64, len(runs))
		for i, t := range runs {
			column[i] = math.Inf(1)
			if j < len(t.Values) {
				column[i] = t.Values[j]
			}
		}
		values = append(values, reduce(column))
	}
	return values
}

// representative returns the run whose value is nearest to the value of m, among runs in the state of m if there are
// any.
func representative(runs []assay.Trial, values []float64, m assay.Trial) int {
	best := -1
	better := func(i, j int) bool { // reports whether run i represents m better than run j
		if a, b := runs[i].State == m.State, runs[j].State == m.State; a != b {
			return a
		}
		return math.Abs(values[i]-m.Value) < math.Abs(values[j]-m.Value)
	}
	for i := range runs {
		if best < 0 || better(i, best) {
			best = i
		}
	}
	return best
}
