package search

import (
	"math/rand/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/doe"
)

// maxRepeats is after how many draws in a row that were all proposed before a
// space counts as exhausted, where it cannot be counted. If a share q of the
// space is left, the chance of missing it is (1-q)^1000: 4e-5 for 1 %.
const maxRepeats = 1000

// Random draws configurations uniformly and never the same twice: the baseline
// RS of Cello (Ding et al. 2022, §4.3), without replacement. Where the space is
// Indexed it walks a [doe.Permutation] of it, in constant memory, and ends with
// ErrDone after the last configuration. Elsewhere it remembers what it
// proposed, and ends after 1,000 draws in a row that brought nothing new.
//
// Observed configurations are not proposed either. What trials are worth is of
// no interest to it.
type Random struct {
	space *assay.Space
	rng   *rand.Rand
	order *doe.Permutation // nil unless the space is Indexed
	next  int64            // place in order
	ledger
	visited visited // what was observed; without order also what was proposed
	done    bool
}

var (
	_ assay.Searcher = (*Random)(nil)
	_ assay.Observer = (*Random)(nil)
)

// NewRandom returns a Random searcher. Its proposals are the same for the same
// space and seed.
func NewRandom(space *assay.Space, seed uint64) *Random {
	r := &Random{space: space, rng: rand.New(rand.NewPCG(seed, 0)), visited: visited{}}
	if space.Indexed() {
		r.order = doe.NewPermutation(space.Size().N, seed)
	}
	return r
}

// Ask implements [assay.Searcher].
func (r *Random) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	var ps []assay.Proposal
	for len(ps) < n {
		c, ok := r.draw()
		if !ok {
			break
		}
		ps = append(ps, r.propose(c))
	}
	if len(ps) == 0 {
		return nil, assay.ErrDone
	}
	return ps, nil
}

// draw returns a configuration that was neither drawn nor observed before.
func (r *Random) draw() (assay.Config, bool) {
	if r.order != nil {
		for r.next < r.order.Len() {
			c := r.space.At(r.order.At(r.next))
			r.next++
			if !r.visited.has(c) {
				return c, true
			}
		}
		return nil, false
	}
	for range maxRepeats {
		if r.done {
			break
		}
		c, ok := r.space.Draw(r.rng)
		if !ok {
			break
		}
		if r.visited.add(c) {
			return c, true
		}
	}
	r.done = true
	return nil, false
}

// Tell implements [assay.Searcher].
func (r *Random) Tell(trials ...assay.Trial) error { return r.settle(trials) }

// Observe implements [assay.Observer].
func (r *Random) Observe(trials ...assay.Trial) error { return r.visited.observe(r.space, trials) }
