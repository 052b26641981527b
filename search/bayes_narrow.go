package search

import "github.com/assay-run/assay"

const (
	// The first is small, as a candidate more or less does not matter. The second is large, since it ends the
	// search.
	limitedDraws = 8       // draws for one random candidate inside a limit
	lastDraws    = 1 << 20 // before a limit is taken to hold nothing more
)

// Narrow implements [assay.Narrower]. The trials outside the limit stay in the model, and the local search passes
// through them. If the space is too large to be scored as a whole, it ends after 2^20 random draws in a row without a
// new configuration inside the limit.
func (b *Bayes) Narrow(keep func(assay.Config) bool) {
	b.keep = keep
	b.done = false
	if b.pool != nil {
		b.pool.narrow(keep)
	}
}

// open reports whether c can be proposed.
func (b *Bayes) open(c assay.Config) bool {
	return !b.visited.has(c) && (b.keep == nil || b.keep(c))
}

// draw returns a random configuration inside the limit, visited or not; false if that many draws find none.
func (b *Bayes) draw(draws int) (assay.Config, bool) {
	if b.keep == nil {
		return b.space.Draw(b.rng)
	}
	for range draws {
		if c, ok := b.space.Draw(b.rng); ok && b.keep(c) {
			return c, true
		}
	}
	return nil, false
}

// propound returns the next configuration of the initial design, or a random one inside a limit, which the design
// does not know; nil without one.
func (b *Bayes) propound() assay.Config {
	if b.keep == nil {
		c, ok := b.design.propound()
		b.spread = ok
		return c
	}
	if b.pool != nil {
		return b.pool.random(b.rng)
	}
	for range lastDraws {
		if c, ok := b.draw(1); ok && b.open(c) {
			return c
		}
	}
	return nil
}
