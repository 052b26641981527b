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
// what it gives one that failed. It is an assay.Observer and an assay.Narrower if
// inner is one. Penalize panics unless factor > 1.
func Penalize(inner assay.Searcher, factor float64) assay.Searcher {
	if !(factor > 1) || math.IsInf(factor, 1) {
		panic(fmt.Sprintf("search: penalty factor %v", factor))
	}
	p := &penalize{Searcher: inner, factor: factor, lo: math.Inf(1), hi: math.Inf(-1)}
	var outer assay.Searcher = p
	if o, ok := inner.(assay.Observer); ok {
		outer = observing{p, observer(func(ts ...assay.Trial) error { return p.pass(o.Observe, ts) })}
	}
	return limiting(outer, inner, func(func(assay.Config) bool) {})
}

type penalize struct {
	assay.Searcher
	factor float64
	lo, hi float64
}

// An observer is an assay.Observer as a function.
type observer func(...assay.Trial) error

// Observe implements [assay.Observer].
func (f observer) Observe(trials ...assay.Trial) error { return f(trials...) }

// Tell implements [assay.Searcher].
func (p *penalize) Tell(trials ...assay.Trial) error { return p.pass(p.Searcher.Tell, trials) }

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
