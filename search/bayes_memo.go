package search

import (
	"fmt"

	"github.com/assay-run/assay"
)

// A bayesStep is a proposal of [Bayes].
//
// With the state it is all that a search needs to go on as if it had computed the proposal: fits and
// predictions are not repeated.
type bayesStep struct {
	Config assay.Config `json:"c"`           // proposed
	Lie    *float64     `json:"y,omitempty"` // its believed objective; nil without a belief
	Spread bool         `json:"d,omitempty"` // the design made it, which makes it again
	Limits []*float64   `json:"l,omitempty"` // its believed margins, nil for one without a belief
}

// A bayesState is the state that proposals leave besides the steps.
//
// The random numbers are those after the last step of the memo.
type bayesState struct {
	Random randomState `json:"r"`              // of source
	Done   bool        `json:"done,omitempty"` // the search has ended
}

// Memo implements [assay.Resumer].
func (b *Bayes) Memo() []byte { return b.memoir.memo(b) }

// Recall implements [assay.Resumer].
func (b *Bayes) Recall(memos [][]byte) error { return b.memoir.recall(b, b.proposals.Last(), memos) }

// compute implements [resumed].
func (b *Bayes) compute(n int) ([]assay.Proposal, []bayesStep, error) { return b.ask(n, b.choose) }

// again implements [resumed]. The design is cheap, and it moves on by its own
// proposals: it makes them again.
func (b *Bayes) again(s bayesStep) (assay.Proposal, error) {
	if !b.open(s.Config) {
		// Nothing has changed so far, as [resumed] asks.
		return assay.Proposal{}, assay.ErrDone
	}
	if s.Spread {
		if c, _ := b.design.propound(); !c.Equal(s.Config) {
			return assay.Proposal{}, fmt.Errorf("proposal %d of the design differs from the proposal of the memo",
				b.proposals.Last()+1)
		}
	}
	return b.give(s.Config, orNaN(s.Lie), orNaNs(s.Limits)), nil
}

// state implements [resumed].
func (b *Bayes) state() bayesState { return bayesState{stateOf(b.source), b.done} }

// restore implements [resumed]. The source is the source of rng, which has no other state.
func (b *Bayes) restore(s bayesState) {
	if err := s.Random.set(b.source); err != nil {
		panic(err) // valid has tried it
	}
	b.done = s.Done
}

// valid implements [resumed]. A lie needs no check: see [Bayes.examples].
func (b *Bayes) valid(step *bayesStep, state *bayesState) error {
	if step != nil {
		return b.space.Check(step.Config)
	}
	return state.Random.valid()
}
