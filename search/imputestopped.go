package search

import (
	"math"

	"github.com/assay-run/assay"
)

// ImputeStopped returns a searcher that raises the bound of trials: a trial that a rule stopped before it had reached
// the best value goes to inner as one that was stopped there. The rule predicted that it would reach it. With the bound
// alone, next to nothing, a model continues to propose its neighbours as if nothing had been tried, and the rule
// continues to stop them. The best value is the best of the finished and observed trials until then; before the first
// of them, and for a trial that its time limit ended, nothing is changed. A value that is no bound
// ([assay.Decision.Last]) becomes the best one too, if it is greater.
//
// Use it with a rule that is seldom wrong, such as stop.Posterior.
func ImputeStopped(inner assay.Searcher) assay.Searcher {
	return &presume{inner: inner, best: math.Inf(1)}
}

type presume struct {
	inner assay.Searcher // gets the changed values
	best  float64        // the least finished value so far
}

var _ assay.Masker = (*presume)(nil)

// Unwrap implements [assay.Unwrapper].
func (p *presume) Unwrap() assay.Searcher { return p.inner }

// Hides implements [assay.Masker].
func (p *presume) Hides(ability any) bool { return assay.HidesWith[assay.Observer](ability, p.inner) }

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
