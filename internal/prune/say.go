package prune

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// This file decides which earlier studies are used. A study that ranks the configurations differently from the running
// one does harm, however good its own trials are.

// judgedAfter is how many trials of the running study make a judge: of two any order is half chance.
const judgedAfter = 3

// judged reports whether there are enough trials, of different outcomes, to decide which studies to use.
func (b *base) judged() bool { return b.found && len(b.trials) >= judgedAfter }

// voices returns the indices of the sources in use, in ascending order. Before a judgement all sources are in use;
// after it only those whose rank correlation with the running study's trials is positive. Each trial renews the
// judgement, so that a study may drop out and return. Cost: a sort of the trials for each source after a new trial,
// else nothing.
//
// It uses a rank correlation, because one outlier can reverse the linear one. An undefined correlation is not positive.
// A base that compares surrogates with surrogates judges nothing.
func (b *base) voices() []int {
	if b.voicesOf == len(b.trials)+1 {
		return b.said
	}
	b.said, b.voicesOf = b.said[:0:0], len(b.trials)+1
	y := b.outcomes()
	for i := range b.sources {
		if !b.judges || !b.judged() || b.pair != nil || stats.Spearman(y, b.at[i]) > 0 {
			b.said = append(b.said, i)
		}
	}
	return b.said
}

// rehint gives inner the hint of the studies in use, if these have changed.
//
// Without any the hint is the same everywhere: a searcher that has a hint keeps one.
func (t *Transfer) rehint() {
	if t.hinter == nil {
		return
	}
	voices := t.base.voices()
	if t.hinted != nil && slices.Equal(t.hinted, voices) {
		return
	}
	t.hinted = append(make([]int, 0, len(voices)), voices...)
	t.hinter.Hint(t.expected(t.hinted))
}

// expected returns the joint expectation of these sources for a configuration: the mean of their standardized
// surrogates, shifted to about 0 for the best and 1 for the worst. The model of a searcher with this hint starts from
// the knowledge on which all studies agree, and may ignore it if the running study differs.
func (t *Transfer) expected(voices []int) func(assay.Config) float64 {
	sources := make([]*source, 0, len(voices))
	for _, i := range voices {
		sources = append(sources, t.base.sources[i])
	}
	sources = loudest(sources)
	return func(c assay.Config) float64 {
		if len(sources) == 0 {
			return meanHint
		}
		key := ""
		if t.table != nil {
			key = c.Key()
		}
		var z float64
		for _, s := range sources {
			z += t.standardAt(s, c, key) / float64(len(sources))
		}
		return hintOf(z)
	}
}

// standardAt is s.standard(c), cached if there is a table: a hint reads the whole table each time that the set of
// studies in use changes.
func (t *Transfer) standardAt(s *source, c assay.Config, key string) float64 {
	if t.table == nil {
		return s.standard(c)
	}
	known := t.standards[s]
	if known == nil {
		known = make(map[string]float64, len(t.table))
		t.standards[s] = known
	}
	z, ok := known[key]
	if !ok {
		z = s.standard(c)
		known[key] = z
	}
	return z
}
