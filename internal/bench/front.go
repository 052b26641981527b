package bench

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
)

// A Truth of several objectives is the front of the feasible rows of a table, and the reference point that
// hypervolumes are measured from.
type fronted struct {
	values func(assay.Config) ([]float64, bool) // the means over the good runs; false if not feasible
	lo     []float64                            // the least value of each objective
	ref    []float64
	volume float64 // of the front
}

// newFronted returns the front of a table. The reference point is in each objective the worse of two
// values: the median of the feasible rows, and a tenth of the front's range beyond its worst end. Only
// rows that beat a middling row in every objective count, and the ends of the front count.
func newFronted(t *table.Table, space *assay.Space, goal assay.Goal) (*fronted, error) {
	f := &fronted{values: func(c assay.Config) ([]float64, bool) {
		m, ok := t.Mean(c)
		if !ok {
			return nil, false
		}
		v, err := goal.Values(m)
		if err != nil {
			return nil, false
		}
		broken, err := goal.Broken(m)
		return v, err == nil && broken == ""
	}}
	var all [][]float64
	for c := range space.All() {
		if v, ok := f.values(c); ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no row of the table is within the limits", assay.ErrEmpty)
	}
	var front [][]float64
	for _, i := range assay.Front(all) {
		front = append(front, all[i])
	}
	for j := range all[0] {
		column := func(points [][]float64) (xs []float64) {
			for _, p := range points {
				xs = append(xs, p[j])
			}
			return xs
		}
		ends := column(front)
		lo, hi := slices.Min(ends), slices.Max(ends)
		f.lo = append(f.lo, lo)
		f.ref = append(f.ref, max(stats.Median(column(all)), hi+(hi-lo)/10))
	}
	if f.volume = stats.Hypervolume(front, f.ref); !(f.volume > 0) {
		return nil, assay.Errorf(assay.ClassUsage, "every row of the table is as good as any: there is no front to find")
	}
	return f, nil
}

// lacks returns which share of the hypervolume of the table's front some trials lack.
func (f *fronted) lacks(found [][]float64) float64 {
	return min(1, max(0, 1-stats.Hypervolume(found, f.ref)/f.volume))
}

// judgeFront is judge of several objectives: the error is the share of the hypervolume that is lacking.
func (p *Problem) judgeFront(o *outcome, done []assay.Config) {
	var found [][]float64
	for _, c := range done {
		if v, ok := p.front.values(c); ok {
			found = append(found, v)
		}
	}
	o.re = p.front.lacks(found)
	o.logRatio = math.Log1p(o.re)
}
