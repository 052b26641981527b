package search

import (
	"math/rand/v2"

	"github.com/assay-run/assay"
)

// maxOutside is how many configurations outside of the limit of an
// [assay.Narrower] are drawn in a row before the limit counts as one that leaves
// nothing, where the space cannot be counted.
const maxOutside = 1 << 16

// A limit is the rest of a space; its zero value is all of it.
type limit struct{ keep func(assay.Config) bool }

// holds reports whether c, which is admissible, is within the limit.
func (l limit) holds(c assay.Config) bool { return l.keep == nil || l.keep(c) }

// draw returns a configuration drawn uniformly from those within the limit,
// false if it found none in maxOutside draws.
func (l limit) draw(space *assay.Space, rng *rand.Rand) (assay.Config, bool) {
	for range maxOutside {
		c, ok := space.Draw(rng)
		if !ok {
			return nil, false
		}
		if l.holds(c) {
			return c, true
		}
	}
	return nil, false
}

// narrow limits a searcher that is an [assay.Narrower].
func narrow(s assay.Searcher, keep func(assay.Config) bool) {
	if n, ok := assay.As[assay.Narrower](s); ok {
		n.Narrow(keep)
	}
}

// A source is a random source that can be set back.
type source struct {
	*rand.Rand
	pcg *rand.PCG // the state of Rand
}

func newSource(seed, stream uint64) source {
	pcg := rand.NewPCG(seed, stream)
	return source{rand.New(pcg), pcg}
}

// mark returns the state of the source, for reset.
func (s source) mark() rand.PCG { return *s.pcg }

// reset sets the source back to a mark.
func (s source) reset(m rand.PCG) { *s.pcg = m }
