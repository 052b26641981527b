package main

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stats"
)

// A landscape is a recorded table as a function on the whole grid of its
// parameters, the stand-in for the paper's data base of GS2 runs.
type landscape struct {
	space    *assay.Space
	recorded []vertexValue
	value    map[string]float64      // by Key; grows as missing points are estimated
	near     map[string]assay.Config // what nearest has found, by Key
	best     float64
}

type vertexValue struct {
	at    assay.Config
	value float64
}

// newLandscape returns the landscape of the table of p. Rows that failed or
// break a limit are missing. If runs is not nil, the value of a configuration is
// the least of its runs, by Key, in place of their mean.
func newLandscape(p *problem, runs map[string][]float64) (*landscape, error) {
	space, err := assay.NewSpace(p.table.Params)
	if err != nil {
		return nil, err
	}
	l := &landscape{space: space, value: map[string]float64{}, near: map[string]assay.Config{}, best: math.Inf(1)}
	for _, c := range p.table.Configs {
		v, ok := p.recorded(c)
		if !ok {
			continue
		}
		if runs != nil {
			v = stats.Min(runs[c.Key()])
		}
		if v <= 0 {
			return nil, usagef("%s of %s is %v: a time is more than 0", p.goal.Metric, p.space.Text(c), v)
		}
		l.recorded = append(l.recorded, vertexValue{c, v})
		l.value[c.Key()] = v
		l.best = min(l.best, v)
	}
	if len(l.recorded) == 0 {
		return nil, assay.ErrEmpty
	}
	return l, nil
}

// clone returns a landscape that another goroutine may use.
func (l *landscape) clone() *landscape {
	m := *l
	m.value, m.near = maps.Clone(l.value), map[string]assay.Config{}
	return &m
}

// nearest returns the recorded configuration that is nearest to c, itself if it
// is one; of equally near ones the first of the table.
func (l *landscape) nearest(c assay.Config) assay.Config {
	k := c.Key()
	if best, ok := l.near[k]; ok {
		return best
	}
	least := math.Inf(1)
	for _, r := range l.recorded {
		if d := l.space.Distance(c, r.at); d < least {
			least, l.near[k] = d, r.at
		}
	}
	return l.near[k]
}

// at returns the value of a configuration: the recorded one, or the mean of its
// 2N nearest recorded neighbours, weighted by the inverse of the distance
// (Tabatabaee et al. 2005, §6, which states no weights).
func (l *landscape) at(c assay.Config) float64 {
	k := c.Key()
	if v, ok := l.value[k]; ok {
		return v
	}
	type neighbour struct{ dist, value float64 }
	near := make([]neighbour, len(l.recorded))
	for i, r := range l.recorded {
		near[i] = neighbour{l.space.Distance(c, r.at), r.value}
	}
	slices.SortFunc(near, func(a, b neighbour) int { return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.value, b.value)) })
	var sum, weight float64
	for _, n := range near[:min(len(near), 2*l.space.Dim())] {
		sum += n.value / n.dist
		weight += 1 / n.dist
	}
	v := sum / weight
	l.value[k] = v
	return v
}

// A simulation is one program of so many time steps on so many processors that
// tunes itself.
type simulation struct {
	land       *landscape
	options    search.SimplexOptions
	runs       int // K; 0 means adaptive
	processors int
	steps      int
	noise      noiseSource
}

// times returns T_k of every time step (Eq. 1). A step of the search is one
// time step for each of its K runs, its points on a processor each, the spare
// processors at the best point so far, and everybody waits for the slowest.
// After the end of the search all run the best point.
func (s simulation) times() []float64 {
	pro := assay.Searcher(search.NewPRO(s.land.space, s.options))
	ask, runs := math.MaxInt32, s.runs
	if runs == 0 {
		pro = search.Adaptive(pro, search.AdaptiveOptions{Min: 1})
		ask, runs = s.processors, 1
	}
	var (
		times []float64
		best  assay.Config
		least = math.Inf(1)
		over  bool
	)
	for len(times) < s.steps {
		var ps []assay.Proposal
		if !over {
			var err error
			ps, err = pro.Ask(ask)
			over = errors.Is(err, assay.ErrDone)
		}
		if len(ps) == 0 {
			times = append(times, s.step(nil, nil, best))
			continue
		}
		for batch := range slices.Chunk(ps, s.processors) {
			y := make([]float64, len(batch))
			for i := range y {
				y[i] = math.Inf(1)
			}
			for range runs {
				if len(times) == s.steps {
					return times
				}
				times = append(times, s.step(batch, y, best))
			}
			for i, p := range batch {
				if y[i] < least {
					least, best = y[i], p.Config
				}
				if err := pro.Tell(assay.Trial{Proposal: p, State: assay.Done, Value: y[i]}); err != nil {
					panic(err) // a searcher that was asked is told
				}
			}
		}
	}
	return times
}

// step runs one time step and lowers y to the times of the points.
func (s simulation) step(points []assay.Proposal, y []float64, best assay.Config) float64 {
	var slowest float64
	s.noise.step()
	for p := range s.processors {
		c := best
		if p < len(points) {
			c = points[p].Config
		} else if c == nil {
			break // nothing is known to be good yet
		}
		t := s.noise.draw(p, c, s.land.at(c))
		if p < len(points) {
			y[p] = min(y[p], t)
		}
		slowest = max(slowest, t)
	}
	return slowest
}
