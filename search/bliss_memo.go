package search

import (
	"fmt"

	"github.com/assay-run/assay"
)

// A blissStep is a proposal of [Bliss]: the model that made it, and the prediction before it in place of a
// measurement.
//
// The reward of an arm follows from the trials and is in no memo.
type blissStep struct {
	bayesStep
	Arm      int       `json:"arm"`         // noArm if it was none
	Imagined *imagined `json:"i,omitempty"` // nil without one
}

// noArm stands for the initial design.
const noArm = -1

// An imagined trial is a prediction that stands in for a measurement.
type imagined struct {
	Config assay.Config `json:"c"` // not measured
	Value  float64      `json:"y"` // predicted
}

// Memo implements [assay.Resumer].
func (s *Bliss) Memo() []byte { return s.memoir.memo(s) }

// Recall implements [assay.Resumer].
func (s *Bliss) Recall(memos [][]byte) error {
	return s.memoir.recall(s, s.bayes.proposals.Last(), memos)
}

// again implements [resumed]. The prediction comes after the proposal here: the order does not matter without
// computing.
func (s *Bliss) again(step blissStep) (assay.Proposal, error) {
	p, err := s.bayes.again(step.bayesStep)
	if err != nil {
		return p, err
	}
	if step.Imagined != nil && !s.imagined.has(step.Imagined.Config) {
		s.standIn(step.Imagined)
	}
	s.count(p, step.Arm)
	return p, nil
}

// state implements [resumed]: the arms are counted again step by step.
func (s *Bliss) state() bayesState { return s.bayes.state() }

// restore implements [resumed].
func (s *Bliss) restore(state bayesState) { s.bayes.restore(state) }

// valid implements [resumed]. The arm is checked because it is an index.
func (s *Bliss) valid(step *blissStep, state *bayesState) error {
	if step == nil {
		return s.bayes.valid(nil, state)
	}
	if step.Arm < noArm || step.Arm >= len(s.arms) {
		return fmt.Errorf("model %d of %d", step.Arm, len(s.arms))
	}
	if step.Imagined != nil {
		if err := s.bayes.space.Check(step.Imagined.Config); err != nil {
			return err
		}
	}
	return s.bayes.valid(&step.bayesStep, nil)
}
