package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// GRASPOptions configure [GRASP]. The zero value is usable.
type GRASPOptions struct {
	// Initial is the number of trials of the initial design, from which the first
	// greedy values come. 0 means 8.
	Initial int
	// Alpha is how far from greedy a construction is: a value of a parameter is a
	// candidate if its greedy value is at most the least plus Alpha times the
	// range; 0 is greedy, 1 is random. Alpha 0 means a draw from [0, 0.5] for each
	// construction; less than 0 means 0.
	Alpha float64
	// Seed is the seed of the initial design and of all draws.
	Seed uint64
}

// GRASP is the greedy randomized adaptive search procedure (Feo and Resende 1995): again and again it constructs a
// configuration, parameter by parameter, and searches its neighbourhood for a local minimum.
//
// Construction: the parameters are set in random order. The greedy value of a value of a parameter is an estimate
// from the trials so far, as no part of a configuration can be run by itself: their mean rank, from 0 for the best to
// 1 for the worst, each weighted with a normal kernel of width 0.1 of the range (with 0 or 1 for levels without
// order), times 1 plus the number of parameters set before in which the trial is like the construction (the adaptive
// part), and one trial's weight of rank 1/2 added, so that values that were never tried are neither good nor bad. One
// of the candidates, see Alpha, is drawn. A parameter with more than 16 values, or a continuous one, has 16
// candidates. The result is moved to the nearest admissible configuration that can be proposed.
//
// Local search: the neighbours ([assay.Space.Neighbours]) are proposed in the order of their greedy values, and the
// search goes on from the first better one, until no neighbour is better. If Ask wants more than the remaining
// neighbours, another construction begins beside it: an Ask returns nothing only when no configuration is left, which
// is ErrDone.
//
// Trials that failed, broke a limit or were stopped early have the rank of the worst, and a construction with such a
// trial is given up. No configuration is proposed twice: known values are used, and observed trials are known. Under
// a limit a local search that stands outside is given up.
type GRASP struct {
	ground
	opts   GRASPOptions     // with defaults
	climbs []*climb         // that are under way
	by     map[int64]*climb // of an outstanding proposal, unless it is one of the design
	ranks  []float64        // of the trials; nil if they changed
}

// A climb is one local search: its place, and the neighbours that it has not asked, the most
// promising first. It ends when its queue is empty and no trial of it is outstanding.
type climb struct {
	at    vertex         // NaN if its value is not known yet
	queue []assay.Config // neighbours that were not asked
	out   int            // trials of it that are outstanding
}

var (
	_ assay.Searcher = (*GRASP)(nil)
	_ assay.Observer = (*GRASP)(nil)
	_ assay.Narrower = (*GRASP)(nil)
)

const (
	greedyWidth  = 0.1 // of the kernel, on the unit scale
	greedyValues = 16  // of a parameter that are looked at
	maxAlpha     = 0.5
)

// NewGRASP returns a GRASP searcher. It panics if Initial is negative or Alpha
// is above 1.
func NewGRASP(space *assay.Space, opts GRASPOptions) *GRASP {
	if opts.Initial < 0 || !(opts.Alpha <= 1) {
		panic(fmt.Sprintf("search: GRASP options out of range: %+v", opts))
	}
	opts.Initial = cmp.Or(opts.Initial, 8)
	s := &GRASP{ground: newGround(space, opts.Seed, 0x67726173), opts: opts, by: map[int64]*climb{}}
	s.start = s.design(opts.Initial)
	return s
}

// Ask implements [assay.Searcher].
func (s *GRASP) Ask(n int) ([]assay.Proposal, error) {
	return s.ask(n, func() (assay.Proposal, bool) {
		c, of := s.next()
		p := s.give(c)
		if of != nil {
			s.by[p.ID] = of
			of.out++
		}
		return p, true
	})
}

// next returns a configuration that can be proposed and the climb that it is of.
func (s *GRASP) next() (assay.Config, *climb) {
	if c, ok := s.initial(); ok {
		return c, nil
	}
	for _, c := range s.climbs {
		for len(c.queue) > 0 && s.limit.holds(c.at.at) {
			x := c.queue[0]
			if c.queue = c.queue[1:]; s.free(x) {
				return x, c
			}
		}
	}
	s.climbs = slices.DeleteFunc(s.climbs, func(c *climb) bool { return c.out == 0 })
	c := &climb{at: vertex{s.near(s.construct()), math.NaN()}}
	s.climbs = append(s.climbs, c)
	return c.at.at, c
}

// construct returns an admissible configuration, greedy and random.
func (s *GRASP) construct() assay.Config {
	alpha := max(s.opts.Alpha, 0)
	if s.opts.Alpha == 0 {
		alpha = maxAlpha * s.rng.Float64()
	}
	c := make(assay.Config, s.space.Dim())
	matches := make([]float64, len(s.trials)) // 1 + like c in how many parameters that are set
	for k := range matches {
		matches[k] = 1
	}
	for _, i := range s.rng.Perm(len(c)) {
		values := s.values(i)
		greedy := make([]float64, len(values))
		for k, x := range values {
			greedy[k] = s.greedy(i, x, matches)
		}
		lo, hi := slices.Min(greedy), slices.Max(greedy)
		var candidates []float64
		for k, x := range values {
			if greedy[k] <= lo+alpha*(hi-lo) {
				candidates = append(candidates, x)
			}
		}
		c[i] = candidates[s.rng.IntN(len(candidates))]
		for k, t := range s.trials {
			matches[k] += s.alike(i, c[i], t.at[i])
		}
	}
	return s.space.Nearest(c)
}

// values returns the values of parameter i that a construction chooses from: all of a few, and
// otherwise one drawn from each of sixteen equal parts of the range.
func (s *GRASP) values(i int) []float64 {
	p := s.space.Params[i]
	if values := p.Values(greedyValues); values != nil {
		return values
	}
	values := make([]float64, greedyValues)
	for k := range values {
		values[k] = p.FromUnit((float64(k) + s.rng.Float64()) / greedyValues)
	}
	return values
}

// greedy returns the greedy value of x of parameter i, in [0, 1]: the mean rank of the trials,
// each weighted by how alike its value is and by matches, with one trial's weight of rank 1/2
// added. nil for matches means that all count alike.
func (s *GRASP) greedy(i int, x float64, matches []float64) float64 {
	if s.ranks == nil {
		s.rank()
	}
	sum, weight := 0.5, 1.0
	for k, t := range s.trials {
		w := s.alike(i, x, t.at[i])
		if matches != nil {
			w *= matches[k]
		}
		sum += w * s.ranks[k]
		weight += w
	}
	return sum / weight
}

// alike returns the weight of value y of parameter i for x: exp(-z²/2) with z their distance in kernel widths, or 0
// and 1 for levels without order.
func (s *GRASP) alike(i int, x, y float64) float64 {
	if x == y {
		return 1
	}
	p := s.space.Params[i]
	if !extended(p) {
		return 0
	}
	z := (p.ToUnit(x) - p.ToUnit(y)) / greedyWidth
	return math.Exp(-z * z / 2)
}

// rank gives every trial its rank in [0, 1]; equal values have the same.
func (s *GRASP) rank() {
	values := make([]float64, len(s.trials))
	for k, t := range s.trials {
		values[k] = t.value
	}
	slices.Sort(values)
	s.ranks = make([]float64, len(values))
	for k, t := range s.trials {
		i, _ := slices.BinarySearch(values, t.value)
		s.ranks[k] = float64(i) / float64(max(len(values)-1, 1))
	}
}

// poll puts the neighbours of where c is in its queue. If one of them is known
// to be better, c goes there first.
func (s *GRASP) poll(c *climb) {
	for {
		ns := s.space.Neighbours(c.at.at)
		better := vertex{nil, c.at.value}
		for _, n := range ns {
			if v, ok := s.value[n.Key()]; ok && v < better.value && s.limit.holds(n) {
				better = vertex{n, v}
			}
		}
		if better.at != nil { // the value falls: this ends
			c.at = better
			continue
		}
		type scored struct {
			c assay.Config // a neighbour
			g float64      // its greedy value less the present point's
		}
		var free []scored
		for _, n := range ns {
			if s.visited.has(n) { // the limit is looked at when it is proposed
				continue
			}
			var g float64
			for i := range n {
				if n[i] != c.at.at[i] {
					g += s.greedy(i, n[i], nil) - s.greedy(i, c.at.at[i], nil)
				}
			}
			free = append(free, scored{n, g})
		}
		slices.SortStableFunc(free, func(a, b scored) int { return cmp.Compare(a.g, b.g) })
		c.queue = nil
		for _, f := range free {
			c.queue = append(c.queue, f.c)
		}
		return
	}
}

// Tell implements [assay.Searcher].
func (s *GRASP) Tell(trials ...assay.Trial) error {
	vs, err := s.settled(trials)
	if err != nil {
		return err
	}
	if len(trials) > 0 {
		s.ranks = nil
	}
	for k, t := range trials {
		c := s.by[t.ID]
		delete(s.by, t.ID)
		if c == nil {
			continue
		}
		c.out--
		// A construction is polled around when it has a value, any other point
		// of a climb when it is better.
		if v := vs[k]; !math.IsInf(v.value, 1) && (math.IsNaN(c.at.value) || v.value < c.at.value) {
			c.at = v
			s.poll(c)
		}
	}
	return nil
}

// Observe implements [assay.Observer].
func (s *GRASP) Observe(trials ...assay.Trial) error {
	s.ranks = nil
	return s.ground.Observe(trials...)
}
