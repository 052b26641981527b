package search

import (
	"slices"

	"github.com/assay-run/assay"
)

// Fidelity below the full one are seen by the models of [Bayes] as values of a parameter that has but one in the
// space: its feature, which is 1/2 there, is more below.

var (
	_ leveler = (*Bayes)(nil)
	_ leveler = (*Auto)(nil)
)

// tellAt implements [leveler].
func (b *Bayes) tellAt(t assay.Trial, param int, depth float64, again bool) error {
	n := len(b.trials)
	if again {
		b.learn(t.Config, t)
	} else if err := b.Tell(t); err != nil {
		return err
	}
	if depth == 0 || len(b.trials) == n {
		return nil
	}
	e := &b.trials[n]
	e.depth, e.raw = depth, e.value
	e.level = slices.IndexFunc(b.space.Features(), func(f assay.Feature) bool { return f.Param == param })
	e.sink()
	return nil
}

// sink sets the depth of the trial in the features.
func (e *example) sink() {
	if e.depth > 0 {
		e.features[e.level] = 0.5 + e.depth/2
	}
}

// raise implements [leveler].
func (b *Bayes) raise(f func(depth, value float64) float64) {
	for i := range b.trials {
		if e := &b.trials[i]; e.depth > 0 {
			e.value = f(e.depth, e.raw)
		}
	}
	b.surrogate = nil
}

// tellAt implements [leveler].
func (a *Auto) tellAt(t assay.Trial, param int, depth float64, again bool) error {
	return a.bayes.tellAt(t, param, depth, again)
}

// raise implements [leveler].
func (a *Auto) raise(f func(depth, value float64) float64) { a.bayes.raise(f) }
