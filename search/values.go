package search

import (
	"slices"

	"github.com/assay-run/assay"
)

// Values returns a searcher that adds to each trial for inner the values of all objectives of a goal that has several
// ([assay.Trial].Values), computed from its measurement. It must be the outermost wrapper: inner wrappers that merge
// several trials into one see the values too.
func Values(inner assay.Searcher, goal assay.Goal) assay.Searcher { return &values{inner, goal} }

type values struct {
	inner assay.Searcher // gets trials with all values
	goal  assay.Goal     // with the objectives
}

var _ assay.Masker = (*values)(nil)

// Unwrap implements [assay.Unwrapper].
func (v *values) Unwrap() assay.Searcher { return v.inner }

// Hides implements [assay.Masker].
func (v *values) Hides(ability any) bool { return assay.HidesWith[assay.Observer](ability, v.inner) }

// Ask implements [assay.Searcher].
func (v *values) Ask(n int) ([]assay.Proposal, error) { return v.inner.Ask(n) }

// Tell implements [assay.Searcher].
func (v *values) Tell(trials ...assay.Trial) error { return v.inner.Tell(v.valued(trials)...) }

// Observe implements [assay.Observer].
func (v *values) Observe(trials ...assay.Trial) error {
	o, ok := assay.As[assay.Observer](v.inner)
	if !ok {
		return nil
	}
	return o.Observe(v.valued(trials)...)
}

// valued returns trials with their values. A trial without values cannot be compared: it counts as failed, like a
// trial without the metric of one objective.
func (v *values) valued(trials []assay.Trial) []assay.Trial {
	all := slices.Clone(trials)
	for i, t := range all {
		switch t.State {
		case assay.Done, assay.Censored, assay.Infeasible:
			if x, err := v.goal.Values(t.Measurement); err == nil {
				all[i].Values = x
			} else {
				all[i].State = assay.Failed
			}
		}
	}
	return all
}
