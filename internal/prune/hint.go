package prune

import (
	"cmp"
	"slices"

	"github.com/assay-run/assay"
)

const hintSources = 16 // that a hint is made of, those with the most trials

// Hint gives s, if it is an [assay.Hinter], the joint expectation of the studies for each configuration: the mean of
// their standardized surrogates, shifted to about 0 for the best and 1 for the worst. The model of s then starts from
// the knowledge on which all studies agree, and may ignore it if the running study differs.
//
// It does nothing if no study serves, or in an [assay.Space.Indexed] space of more than 20,000 configurations, where it
// could cost more than a run. With more than 16 studies it takes those with the most trials.
func (k *Knowledge) Hint(s assay.Searcher) {
	h := k.hinter(s)
	if h == nil {
		return
	}
	sources := loudest(k.sources)
	h.Hint(func(c assay.Config) float64 {
		var z float64
		for _, s := range sources {
			z += s.standard(c) / float64(len(sources))
		}
		return hintOf(z)
	})
}

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
