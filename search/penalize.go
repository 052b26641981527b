package search

import (
	"fmt"
	"math"

	"github.com/assay-run/assay"
)

// Penalize returns a searcher that passes a trial that breaks a limit of the goal to inner as a finished one with a
// very large, finite value, so that its model learns to avoid the region (Ding et al. 2022, Algorithm 1, line 22,
// which has infinity). With [lo, hi] the range of the values of the finished trials until then, this value is
//
//	hi·factor if lo > 0, hi/factor if hi < 0, hi + factor·max(hi-lo, 1) otherwise,
//
// at most the greatest finite number, and the trial is passed on as it is while there is no finished one. Without
// this wrapper a searcher treats a violator like a failed trial. Observed trials have the same penalty. Penalize
// panics unless factor > 1.
func Penalize(inner assay.Searcher, factor float64) assay.Searcher {
	if !(factor > 1) || math.IsInf(factor, 1) {
		panic(fmt.Sprintf("search: penalty factor %v", factor))
	}
	return &penalize{inner: inner, factor: factor, lo: math.Inf(1), hi: math.Inf(-1)}
}

// Unlearned returns a searcher that does not learn limits, though inner would: it passes a run that breaks one on as
// a failed one.
func Unlearned(inner assay.Searcher) assay.Searcher { return unlearned{inner} }

type unlearned struct{ assay.Searcher }

var _ assay.Masker = unlearned{}

// Unwrap implements [assay.Unwrapper].
func (u unlearned) Unwrap() assay.Searcher { return u.Searcher }

// Hides implements [assay.Masker].
func (u unlearned) Hides(ability any) bool {
	_, learner := ability.(*assay.LimitLearner)
	return learner
}

type penalize struct {
	inner  assay.Searcher // gets the penalised trials
	factor float64        // of the penalty
	lo, hi float64        // of the finished values so far
}

var _ assay.Masker = (*penalize)(nil)

// Unwrap implements [assay.Unwrapper].
func (p *penalize) Unwrap() assay.Searcher { return p.inner }

// Hides implements [assay.Masker].
//
// Inner sees no trial that breaks a limit, so that it cannot learn them.
func (p *penalize) Hides(ability any) bool {
	_, learner := ability.(*assay.LimitLearner)
	return learner || assay.HidesWith[assay.Observer](ability, p.inner)
}

// Ask implements [assay.Searcher].
func (p *penalize) Ask(n int) ([]assay.Proposal, error) { return p.inner.Ask(n) }

// Tell implements [assay.Searcher].
func (p *penalize) Tell(trials ...assay.Trial) error { return p.pass(p.inner.Tell, trials) }

// Observe implements [assay.Observer].
func (p *penalize) Observe(trials ...assay.Trial) error {
	o, ok := assay.As[assay.Observer](p.inner)
	if !ok {
		return nil
	}
	return p.pass(o.Observe, trials)
}

// pass hands trials on with their penalties.
func (p *penalize) pass(to func(...assay.Trial) error, trials []assay.Trial) error {
	lo, hi := p.lo, p.hi
	out := make([]assay.Trial, len(trials))
	for i, t := range trials {
		finite := !math.IsNaN(t.Value) && !math.IsInf(t.Value, 0)
		switch {
		case t.State == assay.Done && finite:
			lo, hi = min(lo, t.Value), max(hi, t.Value)
		case t.State == assay.Infeasible && lo <= hi:
			t.State, t.Value = assay.Done, p.penalty(lo, hi)
		}
		out[i] = t
	}
	if err := to(out...); err != nil {
		return err
	}
	p.lo, p.hi = lo, hi
	return nil
}

func (p *penalize) penalty(lo, hi float64) float64 {
	v := hi + p.factor*max(hi-lo, 1)
	switch {
	case lo > 0:
		v = hi * p.factor
	case hi < 0:
		v = hi / p.factor
	}
	return min(v, math.MaxFloat64)
}
