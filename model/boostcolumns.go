package model

import "slices"

// columns is a training matrix by feature, sorted for split search.
type columns struct {
	n     int       // rows
	value []float64 // value[f*n+row]
	order [][]int32 // for each feature the rows in ascending order; nil if it is constant
}

// newColumns copies x, n rows of d features. Cost: d·n·log n.
func newColumns(x [][]float64) *columns {
	n := len(x)
	c := &columns{n: n, order: make([][]int32, len(x[0]))}
	c.value = make([]float64, n*len(c.order))
	for i, row := range x {
		for f, v := range row {
			c.value[f*n+i] = v
		}
	}
	type entry struct {
		v   float64
		row int32
	}
	sorted := make([]entry, n)
	for f := range c.order {
		for i, v := range c.column(f) {
			sorted[i] = entry{v, int32(i)}
		}
		slices.SortFunc(sorted, func(a, b entry) int {
			switch {
			case a.v < b.v:
				return -1
			case a.v > b.v:
				return 1
			}
			return int(a.row - b.row)
		})
		if sorted[0].v == sorted[n-1].v {
			continue
		}
		o := make([]int32, n)
		for i, e := range sorted {
			o[i] = e.row
		}
		c.order[f] = o
	}
	return c
}

func (c *columns) column(f int) []float64 { return c.value[f*c.n : (f+1)*c.n] }

// subset returns the columns of the given rows, which ascend, without sorting again.
func (c *columns) subset(rows []int) *columns {
	s := &columns{n: len(rows), order: make([][]int32, len(c.order))}
	s.value = make([]float64, s.n*len(c.order))
	to := make([]int32, c.n) // the new index of a row, plus 1
	for i, r := range rows {
		to[r] = int32(i) + 1
	}
	for f, order := range c.order {
		from, v := c.column(f), s.column(f)
		for i, r := range rows {
			v[i] = from[r]
		}
		if order == nil || s.n == 0 {
			continue
		}
		o := make([]int32, 0, s.n)
		for _, r := range order {
			if to[r] > 0 {
				o = append(o, to[r]-1)
			}
		}
		if v[o[0]] != v[o[s.n-1]] {
			s.order[f] = o
		}
	}
	return s
}
