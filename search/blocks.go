package search

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/block"
)

// Blocks returns a searcher that tells inner of each trial what it would have come to on the average
// worker of one class of machines, as far as m knows by then: which worker made a run is no property of
// its configuration. m learns from what is told, and must be new.
//
// What inner was told stays as it was when m learns more. Trials that name no worker are passed on as
// they are. Those that are observed are corrected too, but m learns nothing from them. What a worker that
// drifted ran does not count for m.
//
// It is to be the outermost wrapper but for those that only watch: wrappers that compare runs with each
// other, such as [Adaptive], then compare corrected values.
func Blocks(inner assay.Searcher, m *block.Model) assay.Searcher { return &blocks{inner, m} }

type blocks struct {
	inner assay.Searcher
	model *block.Model
}

var _ assay.Lacker = (*blocks)(nil)

// Unwrap implements [assay.Unwrapper].
func (b *blocks) Unwrap() assay.Searcher { return b.inner }

// Lacks implements [assay.Lacker].
func (b *blocks) Lacks(ability any) bool { return assay.LacksWith[assay.Observer](ability, b.inner) }

// Observe implements [assay.Observer].
func (b *blocks) Observe(trials ...assay.Trial) error {
	o, ok := assay.As[assay.Observer](b.inner)
	if !ok {
		return nil
	}
	return o.Observe(b.corrected(trials)...)
}

func (b *blocks) corrected(trials []assay.Trial) []assay.Trial {
	all := slices.Clone(trials)
	for i := range all {
		all[i].Value = b.model.Correct(all[i])
	}
	return all
}

// Ask implements [assay.Searcher].
func (b *blocks) Ask(n int) ([]assay.Proposal, error) { return b.inner.Ask(n) }

// Tell implements [assay.Searcher].
func (b *blocks) Tell(trials ...assay.Trial) error {
	for _, t := range trials {
		b.model.Add(t)
		if d, ok := b.model.Drift(); ok {
			b.model.SetAside(d.Where, d.Class, d.Since)
		}
	}
	return b.inner.Tell(b.corrected(trials)...)
}
