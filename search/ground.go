package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
)

// A ground is the common part of the searchers that move by the values of trials and never propose a configuration
// twice: [PSO], [Anneal], [GRASP] and [GPS]. Each has its own moves; the ground decides when to end, and which
// configurations may be proposed.
//
// It remembers the value of every trial, by the rule of direct searches: +Inf for one that failed, broke a limit of
// the goal or was stopped early.
type ground struct {
	place
	rng    source             // of all draws
	value  map[string]float64 // of trials and observations, by Key
	trials []vertex           // the same in order
	start  [][]float64        // points of the initial design that were not asked
	held   []assay.Config     // drawn from spare and not proposed yet
}

func newGround(space *assay.Space, seed, stream uint64) ground {
	return ground{place: newPlace(space, seed), rng: newSource(seed, stream), value: map[string]float64{}}
}

// ask is [assay.Searcher.Ask] by next, which proposes one configuration, or none if
// it has to wait for a trial. There is one left when it is called.
func (g *ground) ask(n int, next func() (assay.Proposal, bool)) ([]assay.Proposal, error) {
	checkAsk(n)
	var ps []assay.Proposal
	for len(ps) < n && g.left() {
		p, ok := next()
		if !ok {
			return ps, nil
		}
		ps = append(ps, p)
	}
	if len(ps) == 0 {
		return nil, assay.ErrDone
	}
	return ps, nil
}

// left reports whether there is a configuration that can be proposed. It changes nothing if not.
func (g *ground) left() bool {
	_, ok := g.random()
	return ok
}

// random returns a random configuration that can be proposed, the same until it
// is, or the limit takes it away.
func (g *ground) random() (assay.Config, bool) {
	if i := slices.IndexFunc(g.held, g.free); i >= 0 {
		return g.held[i], true
	}
	c, ok := g.fresh()
	if !ok {
		return nil, false
	}
	// A visited configuration is of no use; one outside of the limit may come back.
	g.held = append(slices.DeleteFunc(g.held, g.visited.has), c)
	return c, true
}

// give proposes c, which is free.
func (g *ground) give(c assay.Config) assay.Proposal {
	g.visited.add(c)
	return g.propose(c)
}

// initial returns a configuration that can be proposed at the next point of the
// initial design, or near it; false if all of them were asked. There must be one
// left.
func (g *ground) initial() (assay.Config, bool) {
	if len(g.start) == 0 {
		return nil, false
	}
	c := g.near(g.admissible(g.start[0]))
	g.start = g.start[1:]
	return c, true
}

// settled takes trials off the pending ones, remembers them, and returns them as
// they were proposed.
func (g *ground) settled(trials []assay.Trial) ([]vertex, error) {
	vs := make([]vertex, len(trials))
	configs, err := g.ledger.settled(trials)
	if err != nil {
		return nil, err
	}
	for i, t := range trials {
		vs[i] = vertex{configs[i], directValue(t)}
	}
	for _, v := range vs {
		g.learn(v)
	}
	return vs, nil
}

// learn remembers a value. For a configuration with several it is the least.
func (g *ground) learn(v vertex) {
	g.trials = append(g.trials, v)
	k := v.at.Key()
	if old, ok := g.value[k]; !ok || v.value < old {
		g.value[k] = v.value
	}
}

// Observe implements [assay.Observer]: an observed trial is known like one that
// was asked.
func (g *ground) Observe(trials ...assay.Trial) error {
	if err := g.place.Observe(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if c, ok := g.space.Member(t.Config); ok {
			g.learn(vertex{c.Clone(), directValue(t)})
		}
	}
	return nil
}

// best returns the least known value within the limit, the earliest of equals;
// a vertex without a configuration if there is no finite one.
func (g *ground) best() vertex { return leastWithin(g.trials, g.limit) }

// leastWithin returns the vertex within the limit with the least finite value, the
// first of equals, or else one of +Inf without a configuration.
func leastWithin(vs []vertex, l limit) vertex {
	best := vertex{nil, math.Inf(1)}
	for _, v := range vs {
		if v.value < best.value && l.holds(v.at) {
			best = v
		}
	}
	return best
}

const (
	nearScan   = 4096 // configurations up to which all are looked at for the nearest
	nearExpand = 16   // configurations whose neighbours are looked at elsewhere
)

// near returns a configuration that can be proposed close to c, which is
// admissible: c itself; in a listed or a small space the nearest, a random one of
// equals; elsewhere the first that a walk over neighbours of neighbours finds; or
// else a random one. There must be one left.
func (g *ground) near(c assay.Config) assay.Config {
	if g.free(c) {
		return c
	}
	if n := g.space.Size().N; g.space.Listed() || g.space.Indexed() && n <= nearScan {
		return g.nearest(c)
	}
	seen := visited{}
	seen.add(c)
	queue := []assay.Config{c}
	for k := 0; k < len(queue) && k < nearExpand; k++ {
		ns := g.space.Neighbours(queue[k])
		g.rng.Shuffle(len(ns), func(i, j int) { ns[i], ns[j] = ns[j], ns[i] })
		for _, n := range ns {
			if g.free(n) {
				return n
			}
			if seen.add(n) {
				queue = append(queue, n)
			}
		}
	}
	r, _ := g.random()
	return r
}

// nearest is near by looking at all configurations: of equals a random one, each with the same
// chance.
func (g *ground) nearest(c assay.Config) assay.Config {
	var best assay.Config
	dist, ties := math.Inf(1), 0
	for l := range g.space.All() {
		switch d := g.space.Distance(l, c); {
		case d > dist || !g.free(l):
		case d < dist:
			best, dist, ties = l, d, 1
		default:
			if ties++; g.rng.IntN(ties) == 0 {
				best = l
			}
		}
	}
	return best
}

// design returns n points of the unit cube that are spread evenly.
func (g *ground) design(n int) [][]float64 { return hypercube(n, g.space.Dim(), g.rng.Rand) }

// movable reports whether p moves along a scale: categories and switches have no direction, and a parameter with one
// value does not move.
func movable(p assay.Param) bool { return extended(p) && p.Count() != 1 }

// otherLevel returns a level of p, uniformly but x, or an order in which two have changed places.
func (g *ground) otherLevel(p assay.Param, x float64) float64 {
	if p.Kind == assay.Permutation {
		return swapped(p, x, g.rng.Rand)
	}
	n := len(p.Levels)
	if n == 1 {
		return x
	}
	l := float64(g.rng.IntN(n - 1))
	if l >= x {
		l++
	}
	return l
}

// swapped returns order x of a permutation with two levels in each other's place; x if there are
// no two.
func swapped(p assay.Param, x float64, rng *rand.Rand) float64 {
	order := p.Order(x)
	if len(order) < 2 {
		return x
	}
	i, j := rng.IntN(len(order)), rng.IntN(len(order)-1)
	if j >= i {
		j++
	}
	order[i], order[j] = order[j], order[i]
	return p.OrderOf(order)
}

// Turns are taken by walkers, the particles of a swarm or the chains of an annealing, each with at most one
// outstanding proposal.
type turns struct {
	out  []bool        // who has one outstanding
	next int           // who is next
	by   map[int64]int // whose an outstanding proposal is
}

// newTurns returns the turns of that many walkers, all of which are free.
func newTurns(walkers int) turns { return turns{out: make([]bool, walkers), by: map[int64]int{}} }

// idle returns the next walker in turn that is not out; false if all are.
func (t *turns) idle() (int, bool) {
	for k := range t.out {
		if i := (t.next + k) % len(t.out); !t.out[i] {
			return i, true
		}
	}
	return 0, false
}

// leave notes that walker i is out with proposal p, which it returns.
func (t *turns) leave(i int, p assay.Proposal) assay.Proposal {
	t.by[p.ID], t.out[i], t.next = i, true, i+1
	return p
}

// back notes the result of a proposal and returns its walker; false without one.
func (t *turns) back(id int64) (int, bool) {
	i, ok := t.by[id]
	if ok {
		delete(t.by, id)
		t.out[i] = false
	}
	return i, ok
}
