package search

import (
	"fmt"

	"github.com/assay-run/assay"
)

// A frontStep is a proposal of [Front].
type frontStep struct {
	Config assay.Config `json:"c"`           // proposed
	Lies   []float64    `json:"y,omitempty"` // its believed values; nil without any
	Spread bool         `json:"d,omitempty"` // the design made it
}

// A frontState is the state that proposals leave besides the steps.
type frontState struct {
	bayesState
	Turn int `json:"turn"` // see Front
}

// Memo implements [assay.Resumer].
func (f *Front) Memo() []byte { return f.memoir.memo(f) }

// Recall implements [assay.Resumer].
func (f *Front) Recall(memos [][]byte) error {
	return f.memoir.recall(f, f.bayes.proposals.Last(), memos)
}

// again implements [resumed].
func (f *Front) again(s frontStep) (assay.Proposal, error) {
	p, err := f.bayes.again(bayesStep{Config: s.Config, Spread: s.Spread})
	if err == nil {
		f.lies[p.ID] = s.Lies
	}
	return p, err
}

// state implements [resumed].
func (f *Front) state() frontState { return frontState{f.bayes.state(), f.turn} }

// restore implements [resumed].
func (f *Front) restore(s frontState) {
	f.bayes.restore(s.bayesState)
	f.turn = s.Turn
}

// valid implements [resumed].
func (f *Front) valid(step *frontStep, state *frontState) error {
	if step != nil {
		return f.bayes.valid(&bayesStep{Config: step.Config}, nil)
	}
	if state.Turn < 0 {
		return fmt.Errorf("turn %d", state.Turn)
	}
	return f.bayes.valid(nil, &state.bayesState)
}
