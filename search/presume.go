package search

import (
	"math"

	"github.com/assay-run/assay"
)

// Presume returns a searcher to whose inner one a trial that a rule stopped before it
// had come to the best value is one that was stopped there. The rule said that it would
// have come so far: a model that is told only how far it came, next to nothing, goes on
// to propose its neighbours as if nothing had been tried, and the rule goes on to stop
// them. The best value is that of the finished trials told and observed until then;
// while there is none, and for a trial that its time limit ended, nothing is changed. A value that
// is no bound ([assay.Decision.Last]) becomes the best one too, where it is greater.
//
// Use it with a rule that is seldom wrong, such as stop.Posterior.
func Presume(inner assay.Searcher) assay.Searcher {
	return &presume{inner: inner, best: math.Inf(1)}
}

type presume struct {
	inner assay.Searcher
	best  float64
}

var _ assay.Lacker = (*presume)(nil)

// Unwrap implements [assay.Unwrapper].
func (p *presume) Unwrap() assay.Searcher { return p.inner }

// Lacks implements [assay.Lacker].
func (p *presume) Lacks(ability any) bool { return assay.LacksWith[assay.Observer](ability, p.inner) }

// Ask implements [assay.Searcher].
func (p *presume) Ask(n int) ([]assay.Proposal, error) { return p.inner.Ask(n) }

// Tell implements [assay.Searcher].
func (p *presume) Tell(trials ...assay.Trial) error { return p.pass(p.inner.Tell, trials) }

// Observe implements [assay.Observer].
func (p *presume) Observe(trials ...assay.Trial) error {
	o, ok := assay.As[assay.Observer](p.inner)
	if !ok {
		return nil
	}
	return p.pass(o.Observe, trials)
}

// pass hands trials on.
func (p *presume) pass(to func(...assay.Trial) error, trials []assay.Trial) error {
	best := p.best
	out := make([]assay.Trial, len(trials))
	for i, t := range trials {
		switch {
		case t.State == assay.Done && t.Value < best:
			best = t.Value
		case t.Stopped() && (t.Value < best || t.Decision.Last) && !math.IsInf(best, 1):
			t.Value = best
		}
		out[i] = t
	}
	if err := to(out...); err != nil {
		return err
	}
	p.best = best
	return nil
}
