package search

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// maxRepeats is after how many draws in a row that were all proposed before a
// space counts as exhausted, where it cannot be counted. If a share q of the
// space is left, the chance of missing it is (1-q)^1000: 4e-5 for 1 %.
const maxRepeats = 1000

// maxPassedOver is how many configurations outside of a limit a Random searcher
// passes over in a row.
const maxPassedOver = 1 << 20

// Random draws configurations uniformly and never the same twice: the baseline RS of Cello (Ding et al. 2022, §4.3),
// without replacement. If the space is Indexed it walks a [stats.Permutation] of it, in constant memory, and ends with
// ErrDone after the last configuration. Otherwise it remembers its proposals, and ends after 1,000 draws in a row
// without a new one.
//
// Observed configurations are not proposed either. It ignores the values of trials. Under a limit it skips
// configurations outside, and returns to them when the limit is lifted; from the first limit on it remembers all its
// proposals. It ends after 65,536 draws in a row outside of the limit, a million if the space is Indexed.
type Random struct {
	space *assay.Space       // of the proposals
	rng   source             // of the draws
	order *stats.Permutation // nil unless the space is Indexed
	next  int64              // place in order
	ledger
	visited  visited // observed ones; without order, or once narrowed, also proposed ones
	limit    limit   // of Narrow
	narrowed bool    // there was a limit
	done     bool    // no configuration was left
}

var (
	_ assay.Searcher = (*Random)(nil)
	_ assay.Observer = (*Random)(nil)
	_ assay.Narrower = (*Random)(nil)
)

// NewRandom returns a Random searcher. Its proposals are the same for the same
// space and seed.
func NewRandom(space *assay.Space, seed uint64) *Random {
	r := &Random{space: space, rng: newSource(seed, 0), visited: visited{}}
	if space.Indexed() {
		r.order = stats.NewPermutation(space.Size().N, seed)
	}
	return r
}

// Ask implements [assay.Searcher].
func (r *Random) Ask(n int) ([]assay.Proposal, error) { return r.ask(n, r.draw) }

// draw returns a configuration within the limit that was neither drawn nor observed before. Without one, only done
// and next change.
func (r *Random) draw() (assay.Config, bool) {
	if r.order != nil {
		for passed := 0; r.next < r.order.Len() && !r.done; {
			c := r.space.At(r.order.At(r.next))
			r.next++
			if !r.limit.holds(c) {
				passed++
				r.done = passed >= maxPassedOver
				continue
			}
			if r.visited.has(c) {
				continue
			}
			if r.narrowed {
				r.visited.add(c)
			}
			return c, true
		}
		return nil, false
	}
	before := r.rng.mark()
	for range maxRepeats {
		if r.done {
			break
		}
		c, ok := r.limit.draw(r.space, r.rng.Rand)
		if !ok {
			break
		}
		if r.visited.add(c) {
			return c, true
		}
	}
	r.rng.reset(before)
	r.done = true
	return nil, false
}

// Narrow implements [assay.Narrower].
func (r *Random) Narrow(keep func(assay.Config) bool) {
	if keep == nil && !r.narrowed {
		return
	}
	if !r.narrowed && r.order != nil {
		for i := range r.next {
			r.visited.add(r.space.At(r.order.At(i)))
		}
	}
	// Invariant: every place of the order before next is visited or outside of
	// the limit.
	r.limit, r.narrowed, r.next, r.done = limit{keep}, true, 0, false
}

// Tell implements [assay.Searcher].
func (r *Random) Tell(trials ...assay.Trial) error { return r.settle(trials) }

// Observe implements [assay.Observer].
func (r *Random) Observe(trials ...assay.Trial) error { return r.visited.observe(r.space, trials) }
