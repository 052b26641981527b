package search

import (
	"fmt"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// An autoState is the state that the proposals of [Auto] leave besides the steps.
type autoState struct {
	bayesState
	Turn int `json:"turn"` // see Auto
	// Kernel are the parameters of the process, which were learned from Trials trials; nil, and 0, before the first fit,
	// and nil also if they are the same as in the memo before.
	Kernel []float64 `json:"kernel,omitempty"`
	Trials int       `json:"trials,omitempty"`
	// Limits are the kernels of the processes of limits, by limit.
	Limits []kernelState `json:"limits,omitempty"`
}

// A kernelState are the parameters of a process and the trials that it was learned from, as in [autoState].
type kernelState struct {
	Kernel []float64 `json:"kernel,omitempty"` // nil before the first fit
	Trials int       `json:"trials,omitempty"` // that the kernel was fitted to
}

// maxKernel is beyond any parameter of a kernel: its exponential is finite.
//
// exp overflows at 709, so that the square of that exponential is finite too.
const maxKernel = 300

// Memo implements [assay.Resumer].
func (a *Auto) Memo() []byte { return a.memoir.memo(a) }

// Recall implements [assay.Resumer].
func (a *Auto) Recall(memos [][]byte) error {
	return a.memoir.recall(a, a.bayes.proposals.Last(), memos)
}

// again implements [resumed]. The turn is not repeated: it is in the state.
func (a *Auto) again(s bayesStep) (assay.Proposal, error) { return a.bayes.again(s) }

// state implements [resumed]. The parameters of a kernel are in the first memo after they were learned and
// in no later one: noted is the fit that was written last.
func (a *Auto) state() autoState {
	own := a.process.note()
	s := autoState{bayesState: a.bayes.state(), Turn: a.turn, Trials: own.Trials, Kernel: own.Kernel}
	for i := range a.limits {
		s.Limits = append(s.Limits, a.limits[i].note())
	}
	return s
}

// note returns the state of the process for a memo.
func (p *process) note() kernelState {
	s := kernelState{Trials: p.trials}
	if p.fitted != nil && p.noted != p.trials {
		s.Kernel = p.fitted.Parameters()
		p.noted = p.trials
	}
	return s
}

// restore sets the state that note returned.
func (p *process) restore(s kernelState) {
	if s.Kernel != nil {
		*p = process{fitted: model.GPOf(s.Kernel), trials: s.Trials, noted: s.Trials}
	}
}

// restore implements [resumed]. Without a kernel the one of the memo before stays.
func (a *Auto) restore(s autoState) {
	a.bayes.restore(s.bayesState)
	a.turn = s.Turn
	a.process.restore(kernelState{s.Kernel, s.Trials})
	for i, l := range s.Limits {
		if i == len(a.limits) {
			a.limits = append(a.limits, process{})
		}
		a.limits[i].restore(l)
	}
}

// valid implements [resumed]. It is called before [assay.Hinter.Hint] or after it, so that both numbers of
// features are let through; [process.fit] drops a kernel of the wrong one.
func (a *Auto) valid(step *bayesStep, state *autoState) error {
	if step != nil {
		return a.bayes.valid(step, nil)
	}
	if state.Turn < 0 {
		return fmt.Errorf("turn %d", state.Turn)
	}
	for _, k := range append([]kernelState{{state.Kernel, state.Trials}}, state.Limits...) {
		if err := a.validKernel(k); err != nil {
			return err
		}
	}
	return a.bayes.valid(nil, &state.bayesState)
}

// validKernel returns an error unless s can be the state of a process.
func (a *Auto) validKernel(s kernelState) error {
	if s.Trials < 0 {
		return fmt.Errorf("%d trials", s.Trials)
	}
	// A hint is one feature more.
	if n := len(s.Kernel) - len(a.bayes.space.Features()); s.Kernel != nil && n != 2 && n != 3 {
		return fmt.Errorf("%d parameters of a kernel over %d features", len(s.Kernel), len(a.bayes.space.Features()))
	}
	if err := validNumbers(s.Kernel, maxKernel); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return nil
}
