package search

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/block"
)

// Blocks returns a searcher that tells inner of each trial what it would have come to on the average
// worker of one class of machines, as far as m knows by then: which worker made a run is no property of
// its configuration. m learns from what is told, and must be new.
//
// What inner was told stays as it was when m learns more. Trials that name no worker are passed on as
// they are, and so are those that are observed: other machines made them, of which m knows nothing.
//
// It is to be the outermost wrapper but for those that only watch: wrappers that compare runs with each
// other, such as [Adaptive], then compare corrected values.
func Blocks(inner assay.Searcher, m *block.Model) assay.Searcher { return &blocks{inner, m} }

type blocks struct {
	inner assay.Searcher
	model *block.Model
}

var _ assay.Unwrapper = (*blocks)(nil)

// Unwrap implements [assay.Unwrapper].
func (b *blocks) Unwrap() assay.Searcher { return b.inner }

// Ask implements [assay.Searcher].
func (b *blocks) Ask(n int) ([]assay.Proposal, error) { return b.inner.Ask(n) }

// Tell implements [assay.Searcher].
func (b *blocks) Tell(trials ...assay.Trial) error {
	told := make([]assay.Trial, len(trials))
	for i, t := range trials {
		b.model.Add(t)
		t.Value = b.model.Correct(t)
		told[i] = t
	}
	return b.inner.Tell(told...)
}
