package search

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/assay-run/assay"
)

// GridOptions are the options of [NewGrid].
type GridOptions struct {
	// Levels is the number of values of a continuous parameter, equally spaced
	// on its search scale with both bounds among them; 1 means the middle.
	// 0 means 5.
	Levels int
}

// Grid proposes every configuration in order and then ends. In an Indexed space the order is the order of
// [assay.Space.At]. Otherwise it is lexical with the last parameter fastest, and relations cut off a branch as soon
// as all parameters of one are set, so that a narrow space inside a huge product is still walked; the search for the
// next configuration takes as long as the gap is wide. If no combination of levels satisfies the relations, the first
// Ask returns ErrDone.
//
// Observed configurations are skipped, and so are configurations outside of a limit: when it changes the order starts
// over, without the proposed ones. After 1,024 configurations in a row outside of the limit, the order becomes the
// lexical one and leaves out the values with which a random configuration within the limit falls outside: a limit on
// the values of each parameter is walked in no time, one that ties parameters together perhaps not to the last.
type Grid struct {
	space  *assay.Space // of the proposals
	levels int          // of a continuous parameter
	next   int64        // index in an Indexed space
	walk   *gridWalk    // else
	ledger
	// Not lifted by a limit: nothing is proposed twice.
	visited visited // observed or proposed ones
	limit   limit   // of Narrow
	passed  int     // configurations outside of the limit since the latest within
}

var (
	_ assay.Searcher = (*Grid)(nil)
	_ assay.Observer = (*Grid)(nil)
	_ assay.Narrower = (*Grid)(nil)
)

// NewGrid returns a Grid searcher. It panics if a number of levels is negative.
func NewGrid(space *assay.Space, opts GridOptions) *Grid {
	if opts.Levels < 0 {
		panic(fmt.Sprintf("search: grid of %d levels", opts.Levels))
	}
	g := &Grid{space: space, levels: cmp.Or(opts.Levels, 5), visited: visited{}}
	g.rewind()
	return g
}

// Ask implements [assay.Searcher].
func (g *Grid) Ask(n int) ([]assay.Proposal, error) { return g.ask(n, g.propound) }

// propound returns the next configuration that can be proposed; false if none is left.
func (g *Grid) propound() (assay.Config, bool) {
	for {
		c, ok := g.step()
		if !ok {
			return nil, false
		}
		// Not visited: when the limit is lifted, its turn comes.
		if !g.limit.holds(c) {
			if g.passed++; g.passed == leapAfter {
				g.leap()
			}
			continue
		}
		g.passed = 0
		if g.visited.add(c) {
			return c, true
		}
	}
}

// step returns the next configuration in order; false after the last.
func (g *Grid) step() (assay.Config, bool) {
	if g.walk != nil {
		return g.walk.next()
	}
	if g.next == g.space.Size().N {
		return nil, false
	}
	c := g.space.At(g.next)
	g.next++
	return c, true
}

// Tell implements [assay.Searcher].
func (g *Grid) Tell(trials ...assay.Trial) error { return g.settle(trials) }

// Observe implements [assay.Observer].
func (g *Grid) Observe(trials ...assay.Trial) error { return g.visited.observe(g.space, trials) }

// Narrow implements [assay.Narrower].
func (g *Grid) Narrow(keep func(assay.Config) bool) {
	if keep == nil && g.limit.keep == nil {
		return
	}
	g.limit = limit{keep}
	g.rewind()
}

// leap starts the order over without the values that the limit takes away.
func (g *Grid) leap() {
	g.walk = newGridWalk(g.space, g.levels)
	g.walk.cut = make([][]bool, g.space.Dim())
	for i := range g.walk.cut {
		g.walk.cut[i] = make([]bool, min(g.walk.count[i], maxCut))
	}
	// The seed is fixed: the order of a grid is a promise.
	rng := newSource(0, 0).Rand
	for range leapProbes { // relations hide values from some
		within, ok := g.limit.draw(g.space, rng)
		if !ok {
			return
		}
		for i, cut := range g.walk.cut {
			c := within.Clone()
			for k := range cut {
				c[i] = g.walk.level(i, int64(k))
				cut[k] = cut[k] || g.space.Contains(c) && !g.limit.holds(c)
			}
		}
	}
}

// leapAfter is how many configurations in a row are passed over one by one.
const leapAfter = 1 << 10

// leapProbes is the number of configurations within a limit whose values are
// looked at.
const leapProbes = 32

// maxCut is the number of values of a parameter up to which they can be left out.
const maxCut = 1 << 10

// rewind goes back to the first configuration.
func (g *Grid) rewind() {
	g.next, g.passed, g.walk = 0, 0, nil
	if !g.space.Indexed() {
		g.walk = newGridWalk(g.space, g.levels)
	}
}

// A gridWalk visits the admissible combinations of levels depth first.
//
// It has its place in at and depth, and no stack: next goes on from there.
type gridWalk struct {
	space *assay.Space                 // with its relations
	count []int64                      // levels of each parameter
	level func(i int, k int64) float64 // the k-th level of parameter i
	ready [][]assay.Relation           // those to check once parameter i is set
	cut   [][]bool                     // levels to leave out; nil for none
	at    []int64                      // the level to try next at each depth
	c     assay.Config                 // the combination so far
	depth int                          // c[:depth] is set and no relation within it is broken
}

// newGridWalk returns the walk before its first combination. Each relation is checked at the depth of its last
// parameter, the first at which all of its parameters are set, or when all are set if parameters have conditions.
func newGridWalk(space *assay.Space, levels int) *gridWalk {
	d := space.Dim()
	w := &gridWalk{
		space: space, count: make([]int64, d), ready: make([][]assay.Relation, d),
		at: make([]int64, d), c: make(assay.Config, d),
	}
	for i, p := range space.Params {
		if w.count[i] = p.Count(); w.count[i] == 0 {
			w.count[i] = int64(levels)
		}
	}
	for _, r := range space.Relations {
		if len(r.Params) > 0 && !space.Conditional() { // a relation between none is true of every configuration
			last := slices.Max(r.Params)
			w.ready[last] = append(w.ready[last], r)
		}
	}
	w.level = func(i int, k int64) float64 {
		switch p := space.Params[i]; {
		case p.Count() > 0:
			return p.At(k)
		case levels == 1:
			return p.Unscale(0.5)
		default:
			return p.Unscale(float64(k) / float64(levels-1))
		}
	}
	return w
}

// next returns the next combination; ok is false after the last.
func (w *gridWalk) next() (c assay.Config, ok bool) {
	// Invariant: every combination whose prefix of length depth+1 comes before
	// c[:depth] followed by level at[depth] has been visited.
	for w.depth >= 0 {
		i := w.depth
		if w.at[i] == w.count[i] {
			w.at[i] = 0
			w.depth--
			continue
		}
		k := w.at[i]
		w.at[i]++
		if w.cut != nil && k < int64(len(w.cut[i])) && w.cut[i][k] {
			continue
		}
		w.c[i] = w.level(i, k)
		if slices.ContainsFunc(w.ready[i], func(r assay.Relation) bool { return !r.Holds(w.c) }) {
			continue
		}
		// The depth stays, so that the next call tries the next level of the last parameter.
		if i == len(w.c)-1 {
			if c, ok := w.whole(); ok {
				return c, true
			}
			continue
		}
		w.depth++
	}
	return nil, false
}

// whole returns the combination with inactive parameters at rest; false if it is not admissible, or a twin: for an
// inactive parameter only the first level counts.
func (w *gridWalk) whole() (assay.Config, bool) {
	if !w.space.Conditional() {
		return w.c.Clone(), true
	}
	for i := range w.c {
		if w.at[i] != 1 && !w.space.Active(w.c, i) {
			return nil, false
		}
	}
	c := w.space.Rested(w.c.Clone())
	return c, w.space.Contains(c)
}
