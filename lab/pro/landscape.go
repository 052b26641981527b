package pro

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
)

// A landscape is a recorded table as a function on the whole grid of its parameters, the stand-in for
// the paper's data base of GS2 runs (§6). It remembers its estimates, so it belongs to one goroutine;
// see clone.
type landscape struct {
	space    *assay.Space
	recorded []vertexValue           // in the order of the table
	value    map[string]float64      // by Key; grows as missing points are estimated
	near     map[string]assay.Config // results of nearest, by Key
	best     float64                 // least recorded value
}

type vertexValue struct {
	at    assay.Config
	value float64
}

// newLandscape returns the landscape of a table. Rows that failed or break a limit of
// the goal are missing. If runs is not nil, the value of a configuration is the least
// of its runs, by Key, in place of their mean. The error is a flaw of the table: a
// time of 0 or less, or assay.ErrEmpty.
func newLandscape(t *table.Table, goal assay.Goal, runs map[string][]float64) (*landscape, error) {
	space, err := assay.NewSpace(t.Params)
	if err != nil {
		return nil, err
	}
	l := &landscape{space: space, value: map[string]float64{}, near: map[string]assay.Config{}, best: math.Inf(1)}
	truth := bench.Truth(t, goal)
	for _, c := range t.Configs {
		v, ok := truth(c)
		if !ok {
			continue
		}
		if runs != nil {
			v = stats.Min(runs[c.Key()])
		}
		if v <= 0 {
			return nil, fmt.Errorf("%s of %s is %v: a time is more than 0", goal.Metric, space.Text(c), v)
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
	slices.SortFunc(near, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.value, b.value))
	})
	var sum, weight float64
	for _, n := range near[:min(len(near), 2*l.space.Dim())] {
		sum += n.value / n.dist
		weight += 1 / n.dist
	}
	v := sum / weight
	l.value[k] = v
	return v
}
