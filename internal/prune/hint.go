package prune

import (
	"cmp"
	"slices"

	"github.com/assay-run/assay"
)

const hintSources = 16 // that a hint is made of, those with the most trials

// hinter returns s as an assay.Hinter, or nil if s is no Hinter or k has no hint.
func (k *Knowledge) hinter(s assay.Searcher) assay.Hinter {
	h, ok := assay.As[assay.Hinter](s)
	if !ok || len(k.sources) == 0 || k.space.Indexed() && k.space.Size().N > maxTable {
		return nil
	}
	return h
}

// loudest returns the sources that a hint is made of: more make each call dearer and the mean no better.
func loudest(sources []*source) []*source {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b *source) int { return cmp.Compare(len(b.trials), len(a.trials)) })
	return sources[:min(hintSources, len(sources))]
}

const meanHint = 0.5 // of a configuration of which nothing is expected

// hintOf returns the hint for a mean of standardized surrogates.
//
// Most of a standard normal is within two deviations.
func hintOf(z float64) float64 { return z/4 + meanHint }
