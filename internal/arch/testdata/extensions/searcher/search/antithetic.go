package search

import "github.com/assay-run/assay"

// Antithetic draws configurations at random, each followed by its mirror image: the
// configuration on the other side of the centre of the unit cube (antithetic variates,
// Hammersley and Morton 1956). It is for small budgets: of a pair, at most one lies in a
// corner that is far from the optimum of a monotone objective. It ends with ErrDone once
// every configuration was proposed.
//
// An image that is not admissible, was visited, or lies outside of a limit is left out. The values of
// trials do not matter.
type Antithetic struct {
	place              // numbers the proposals, and knows what was visited and what is left
	image assay.Config // of the last draw; nil before the first, or if there is none
}

var (
	_ assay.Searcher = (*Antithetic)(nil)
	_ assay.Observer = (*Antithetic)(nil)
	_ assay.Narrower = (*Antithetic)(nil)
)

// NewAntithetic returns an Antithetic searcher. Its proposals are the same for the same space
// and seed.
func NewAntithetic(space *assay.Space, seed uint64) *Antithetic {
	return &Antithetic{place: newPlace(space, seed)}
}

// Ask implements [assay.Searcher].
func (a *Antithetic) Ask(n int) ([]assay.Proposal, error) { return a.ask(n, a.next) }

// next returns the image of the last draw, or else a new draw.
func (a *Antithetic) next() (assay.Config, bool) {
	if a.image != nil && a.free(a.image) {
		return a.image, true
	}
	c, ok := a.fresh()
	if !ok {
		return nil, false
	}
	a.image = a.mirror(c)
	return c, true
}

// mirror returns the mirror image of c, or nil if it is not admissible.
func (a *Antithetic) mirror(c assay.Config) assay.Config {
	point := a.space.Unit(c)
	for i, u := range point {
		point[i] = 1 - u
	}
	if image := a.space.FromUnit(point); a.space.Contains(image) {
		return image
	}
	return nil
}

// Tell implements [assay.Searcher].
func (a *Antithetic) Tell(trials ...assay.Trial) error { return a.settle(trials) }
