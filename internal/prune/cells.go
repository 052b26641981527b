package prune

import (
	"math"
	"slices"
	"sort"

	"github.com/assay-run/assay"
)

const (
	// With the three witnesses that a removal takes, a study of some hundred trials can judge
	// values of that number and no more.
	maxValues = 32 // of a parameter that is cut value by value
	bins      = 16 // of any other, equally wide on its search scale
)

// cells divide the values of a parameter into units of removal: single values, or bins for more than 32 values or a
// continuous parameter. A single value of a fine parameter has too few trials to be judged.
//
// Invariant: every value is in exactly one of the cells 0 .. n-1.
type cells struct {
	param  assay.Param     // of the space
	n      int             // number of cells
	binned bool            // a cell is a bin, not a value
	number map[float64]int // of single values
}

// newCells returns the cells of a parameter. Levels of a category are never binned: they have no order.
//
// Without bins, number has each value, and n is their count.
func newCells(p assay.Param) cells {
	c := cells{param: p}
	n := p.Count()
	if n == 0 || n > maxValues && p.Numeric() {
		c.n, c.binned = bins, true
		return c
	}
	c.n, c.number = int(n), make(map[float64]int, n)
	for i := range n {
		c.number[p.At(i)] = int(i)
	}
	return c
}

// of returns the cell of a coordinate. One that is no value of the parameter is in the cell of the nearest value.
func (c *cells) of(x float64) int {
	if !c.binned {
		if i, ok := c.number[x]; ok {
			return i
		}
		return c.number[c.param.Snap(x)]
	}
	// The greatest value has the unit coordinate 1 and belongs to the last bin.
	return min(max(int(c.param.ToUnit(x)*bins), 0), bins-1)
}

// texts names a set of cells, given in ascending order: values as they are written, or ranges of successive bins.
func (c *cells) texts(set []int) []string {
	var out []string
	if !c.binned {
		for _, i := range set {
			out = append(out, c.param.Text(c.param.At(int64(i))))
		}
		return out
	}
	for len(set) > 0 {
		// Invariant: set[:n] are successive bins.
		n := 1
		for n < len(set) && set[n] == set[n-1]+1 {
			n++
		}
		lo, hi := c.bounds(set[0], set[n-1])
		out = append(out, c.param.Text(lo)+".."+c.param.Text(hi))
		set = set[n:]
	}
	return out
}

// bounds returns the least and the greatest value of the bins from first to last; of a continuum, the edges of the
// bins. Values are in ascending order, so that the ends are found by bisection.
func (c *cells) bounds(first, last int) (lo, hi float64) {
	p := c.param
	n := p.Count()
	if n == 0 {
		return p.Unscale(float64(first) / bins), p.Unscale(float64(last+1) / bins)
	}
	at := func(bin int) int64 { // the first value in that bin or beyond
		i := sort.Search(int(min(n, math.MaxInt)), func(i int) bool { return c.of(p.At(int64(i))) >= bin })
		return int64(i)
	}
	// A bin without a value has to < from. It is then named by the first value beyond it, or by the greatest value.
	from, to := at(first), at(last+1)-1
	return p.At(min(from, n-1)), p.At(max(to, min(from, n-1)))
}

// still is the mark of a cell that is not cut.
const still = -1

// A limit is the part of a space that is cut: by parameter and cell, the index of the source that cut it, or still. A
// configuration is cut if one of its values is.
//
// A cell keeps the mark of the source that cut it first until it is restored.
type limit struct {
	cells []cells
	by    [][]int
}

// newLimit returns the limit that cuts nothing.
func newLimit(space *assay.Space) *limit {
	l := &limit{}
	for _, p := range space.Params {
		c := newCells(p)
		l.cells = append(l.cells, c)
		l.by = append(l.by, slices.Repeat([]int{still}, c.n))
	}
	return l
}

// keep returns the predicate of the configurations that remain, or nil if nothing is cut. Later changes of l do not
// affect it.
//
// A searcher may keep the predicate indefinitely. It costs a look-up for each cut parameter, and nothing for the
// others. It shares the cells, which never change.
func (l *limit) keep() func(assay.Config) bool {
	// A part is the removed part of one parameter.
	type part struct {
		at   int    // index of the parameter
		cell *cells // of the parameter
		gone []bool // by cell
	}
	var parts []part
	for i := range l.cells {
		if slices.ContainsFunc(l.by[i], func(s int) bool { return s != still }) {
			gone := make([]bool, len(l.by[i]))
			for k, s := range l.by[i] {
				gone[k] = s != still
			}
			parts = append(parts, part{i, &l.cells[i], gone})
		}
	}
	if parts == nil {
		return nil
	}
	return func(c assay.Config) bool {
		for i := range parts {
			if p := &parts[i]; p.gone[p.cell.of(c[p.at])] {
				return false
			}
		}
		return true
	}
}

// cutBy reports whether a cell is cut by a source.
func (l *limit) cutBy(source int) bool {
	return slices.ContainsFunc(l.by, func(by []int) bool { return slices.Contains(by, source) })
}
