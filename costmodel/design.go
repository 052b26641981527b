package costmodel

import (
	"math/rand/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/doe"
)

// maxFactorial is how many random assignments stand for a factorial design.
const maxFactorial = 4096

// A design returns its next assignment, and false after the last.
type design func() (assay.Config, bool)

// newDesign returns the design of the options; nil for L_max-I_1, which is made
// step by step.
func (p *published) newDesign(l *ActiveLearner) design {
	switch p.Design {
	case L2I2:
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

// factorial is every assignment of the space in random order; of one that cannot
// be counted, 4,096 random ones.
func factorial(l *ActiveLearner, rng *rand.Rand) design {
	i := int64(-1)
	if l.space.Indexed() {
		order := doe.NewPermutation(l.space.Size().N, rng.Uint64())
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
		for ; ; n = 2*n - 1 {
			for range 8 { // in vain, until the pairs of n levels count as covered
				if x, fresh := c.best(n); fresh > 0 {
					c.add(x)
					return x, true
				}
			}
			if n >= most || n > 16 {
				return nil, false
			}
		}
	}
}

// A levelPair is a value of one attribute and one of another; a single
// attribute is paired with itself.
type levelPair struct {
	i, j int
	x, y float64
}

type cover struct {
	l      *ActiveLearner
	rng    *rand.Rand
	levels [][]float64
	seen   map[levelPair]bool
}

// best returns the best of the built assignments of the first n levels, and how
// many pairs of it are new.
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

// build sets one attribute after the other, in random order, to the level that makes
// the most new pairs with those set before; a random one of equals.
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

func (c *cover) add(x assay.Config) {
	for i := range x {
		for j := range i + 1 {
			c.seen[pairOf(j, i, x[j], x[i])] = true
		}
	}
}
