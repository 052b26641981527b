package costmodel

import (
	"math/rand/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// maxFactorial is how many random assignments stand for a factorial design.
const maxFactorial = 4096

// A design returns its next assignment, and false after the last.
//
// It keeps its own place and cannot be rewound. It is called from the goroutine of the learner.
type design func() (assay.Config, bool)

// newDesign returns the design of the options (§3.4). It is nil for L_max-I_1, whose next
// assignment depends on the predictor that is refined; see level.
func (p *published) newDesign(l *ActiveLearner) design {
	switch p.Design {
	case L2I2:
		// The rows of the screening are shared with p, which does not change them: only the slice header moves.
		rows := p.screen
		return func() (assay.Config, bool) {
			if len(rows) == 0 {
				return nil, false
			}
			c := rows[0]
			rows = rows[1:]
			return c, true
		}
	case LMaxIMax:
		return factorial(l, p.rng)
	case LMaxI2:
		return covering(l, p.rng)
	}
	return nil
}

// factorial is every assignment of the space in random order. For a space that cannot be counted, it is 4,096 random
// assignments.
//
// The permutation is computed, not stored: a space of millions costs no memory. A random assignment of a space that
// cannot be counted may occur twice; the caller skips assignments that were run.
func factorial(l *ActiveLearner, rng *rand.Rand) design {
	i := int64(-1)
	if l.space.Indexed() {
		order := stats.NewPermutation(l.space.Size().N, rng.Uint64())
		return func() (assay.Config, bool) {
			if i++; i >= order.Len() {
				return nil, false
			}
			return l.space.At(order.At(i)), true
		}
	}
	return func() (assay.Config, bool) {
		if i++; i >= maxFactorial {
			return nil, false
		}
		return l.space.Draw(rng)
	}
}

// covering is assignments such that every pair of levels of every two attributes
// occurs in one of them, where the space admits it: first of the two end levels,
// then of three, five, nine, ... in the order of bisection. Each assignment is the
// one of several greedily built ones that has the most pairs that are new (after
// Cohen, Dalal, Fredman and Patton 1997).
func covering(l *ActiveLearner, rng *rand.Rand) design {
	c := cover{l: l, rng: rng, levels: make([][]float64, len(l.attrs)), seen: map[levelPair]bool{}}
	most := 0
	for i, a := range l.attrs {
		c.levels[i] = a.sequence()
		most = max(most, len(c.levels[i]))
	}
	n := 2
	return func() (assay.Config, bool) {
		// 2, 3, 5, 9, ...: each bisection puts one level between every two.
		for ; ; n = 2*n - 1 {
			// The construction is random, so that one try without a new pair proves nothing.
			for range 8 { // in vain, until the pairs of n levels count as covered
				if x, fresh := c.best(n); fresh > 0 {
					c.add(x)
					return x, true
				}
			}
			// n levels of d attributes have n²·d·(d-1)/2 pairs. Beyond 16 levels there are
			// more of them than anybody runs.
			if n >= most || n > 16 {
				return nil, false
			}
		}
	}
}

// A levelPair is a value of one attribute and one of another; a single
// attribute is paired with itself.
//
// Invariant as a key: i <= j, see pairOf.
type levelPair struct {
	i, j int     // indices of the attributes
	x, y float64 // their values
}

// A cover is the state of [covering]: which pairs some assignment has. levels are in the order
// of bisection, so that the first n of them are the n that a design of n levels takes.
type cover struct {
	l      *ActiveLearner     // whose space and runs count
	rng    *rand.Rand         // of the assignments to compare
	levels [][]float64        // by attribute
	seen   map[levelPair]bool // the covered pairs
}

// best builds some assignments of the first n levels of each attribute and returns the one
// with the most new pairs, the first of equals, and how many they are. The more attributes
// there are, the fewer tries: a build costs levels times the square of the attributes.
func (c *cover) best(n int) (assay.Config, int) {
	var best assay.Config
	most := -1
	tries := max(4, 64/len(c.levels))
	for range tries {
		x := c.build(n)
		if !c.l.space.Contains(x) {
			x = c.l.space.Nearest(x)
		}
		if f := c.fresh(x); f > most {
			best, most = x, f
		}
	}
	return best, most
}

// build sets the attributes in random order, each to the level that makes the most new pairs with the attributes set
// before. It breaks ties at random: ties·(1/ties) gives each level the same chance. An unused level counts as one pair
// more, so that the first attribute, which has no pairs yet, varies its level.
func (c *cover) build(n int) assay.Config {
	x := make(assay.Config, len(c.levels))
	order := c.rng.Perm(len(x))
	for k, i := range order {
		levels := c.levels[i][:min(n, len(c.levels[i]))]
		most, ties := -1, 0
		for _, v := range levels {
			fresh := 0
			if !c.seen[levelPair{i, i, v, v}] {
				fresh++
			}
			for _, j := range order[:k] {
				if !c.seen[pairOf(i, j, v, x[j])] {
					fresh++
				}
			}
			if fresh > most {
				most, ties, x[i] = fresh, 1, v
			} else if fresh == most {
				if ties++; c.rng.IntN(ties) == 0 {
					x[i] = v
				}
			}
		}
	}
	return x
}

// pairOf orders a pair by attribute, so that it has one key.
func pairOf(i, j int, x, y float64) levelPair {
	if i > j {
		return levelPair{j, i, y, x}
	}
	return levelPair{i, j, x, y}
}

// fresh counts the new pairs of x.
func (c *cover) fresh(x assay.Config) int {
	n := 0
	for i := range x {
		for j := range i + 1 {
			if !c.seen[pairOf(j, i, x[j], x[i])] {
				n++
			}
		}
	}
	return n
}

// add notes the pairs of x, and each single value, as covered.
func (c *cover) add(x assay.Config) {
	for i := range x {
		for j := range i + 1 {
			c.seen[pairOf(j, i, x[j], x[i])] = true
		}
	}
}
