package search

import (
	"fmt"
	"math"

	"github.com/assay-run/assay"
)

// Penalize returns a searcher to whose inner one a trial that breaks a limit of
// the goal is a finished one with a very large, finite value, so that its model
// learns where not to look (Ding et al. 2022, Algorithm 1, line 22, which says
// infinity). With [lo, hi] the range of the values of the finished trials until
// then, this value is
//
//	hi·factor if lo > 0, hi/factor if hi < 0, hi + factor·max(hi-lo, 1) otherwise,
//
// at most the greatest finite number, and the trial is passed on as it is while
// there is no finished one. Without this wrapper a searcher gives a violator
// what it gives one that failed. Observed trials have the same penalty. Penalize
// panics unless factor > 1.
func Penalize(inner assay.Searcher, factor float64) assay.Searcher {
	if !(factor > 1) || math.IsInf(factor, 1) {
		panic(fmt.Sprintf("search: penalty factor %v", factor))
	}
	return &penalize{inner: inner, factor: factor, lo: math.Inf(1), hi: math.Inf(-1)}
}

// Unlearned returns a searcher that does not learn limits, though inner would: a run that breaks one is to it what
// one that failed is.
func Unlearned(inner assay.Searcher) assay.Searcher { return unlearned{inner} }

type unlearned struct{ assay.Searcher }

var _ assay.Lacker = unlearned{}

// Unwrap implements [assay.Unwrapper].
func (u unlearned) Unwrap() assay.Searcher { return u.Searcher }

// Lacks implements [assay.Lacker].
func (u unlearned) Lacks(ability any) bool {
	_, learner := ability.(*assay.LimitLearner)
	return learner
}

type penalize struct {
	inner  assay.Searcher
	factor float64
	lo, hi float64
}

var _ assay.Lacker = (*penalize)(nil)

// Unwrap implements [assay.Unwrapper].
func (p *penalize) Unwrap() assay.Searcher { return p.inner }

// Lacks implements [assay.Lacker].
//
// Inner sees no trial that breaks a limit, so that it cannot learn them.
func (p *penalize) Lacks(ability any) bool {
	_, learner := ability.(*assay.LimitLearner)
	return learner || assay.LacksWith[assay.Observer](ability, p.inner)
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
