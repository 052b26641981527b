package model

import "slices"

// A grid is a tensor product of interpolants in one axis each.
type grid struct {
	axes []axis    // in the order of the features
	y    []float64 // outcomes, the last axis fastest
}

// An axis is one dimension of a grid: a feature with its values, or several
// columns of which exactly one is 1, whose values are the columns.
type axis struct {
	columns []int // of the features; an ordered axis has one
	line    *line // nil for columns without order
}

// values returns the number of values of the axis.
func (a axis) values() int {
	if a.line == nil {
		return len(a.columns)
	}
	return len(a.line.x)
}

// index returns which value row x has.
func (a axis) index(x []float64) int {
	if a.line == nil {
		return slices.IndexFunc(a.columns, func(j int) bool { return x[j] == 1 })
	}
	i, _ := slices.BinarySearch(a.line.x, x[a.columns[0]])
	return i
}

// newGrid returns the interpolant of rows that are all different, nil if they are not a full grid.
func newGrid(x [][]float64, u []float64, by Interpolant) *grid {
	g := &grid{}
	size := 1
	for j := 0; j < len(x[0]); {
		a := axis{columns: exclusive(x, j)}
		next := j + 1
		if a.columns == nil {
			a.columns, a.line = []int{j}, &line{x: columnValues(x, j)}
		} else {
			next = a.columns[len(a.columns)-1] + 1
		}
		// Invariant: size is the product of the values of the axes, <= len(u).
		if size *= a.values(); size > len(u) {
			return nil
		}
		g.axes = append(g.axes, a)
		j = next
	}
	if size != len(u) { // the rows are different, so that equality means full
		return nil
	}
	for _, a := range g.axes {
		if a.line != nil {
			a.line.slopes(by)
		}
	}
	g.y = make([]float64, size)
	for i, r := range x {
		at := 0
		for _, a := range g.axes {
			at = at*a.values() + a.index(r)
		}
		g.y[at] = u[i]
	}
	return g
}

// exclusive returns the columns from j on, as few as possible but more than one, of which exactly one is 1 and the
// others are 0 in every row, without those that are 0 in all; nil if there are none.
func exclusive(x [][]float64, j int) (columns []int) {
	ones := make([]int, len(x)) // in the columns so far
	for k := j; k < len(x[0]); k++ {
		live, full := false, true
		for i, r := range x {
			if v := r[k]; v == 1 {
				live = true
				ones[i]++
			} else if v != 0 {
				return nil
			}
			if ones[i] > 1 {
				return nil
			}
			full = full && ones[i] == 1
		}
		if live {
			columns = append(columns, k)
		} else if k == j {
			return nil
		}
		if full && len(columns) > 1 {
			return columns
		}
	}
	return nil
}

func columnValues(x [][]float64, j int) []float64 {
	v := make([]float64, len(x))
	for i, r := range x {
		v[i] = r[j]
	}
	slices.Sort(v)
	return slices.Compact(v)
}

// A weight is the weight w of the i-th value of an axis.
type weight struct {
	i int
	w float64
}

// at implements surface: Σ Π w·y over the values that have a weight.
func (g *grid) at(x []float64) float64 {
	weights := make([][]weight, len(g.axes))
	for k, a := range g.axes {
		weights[k] = a.weights(x)
	}
	return g.sum(weights, 0, 0)
}

// sum is at for the axes from k on, where the index over those before is at.
func (g *grid) sum(weights [][]weight, k, at int) (sum float64) {
	if k == len(weights) {
		return g.y[at]
	}
	n := g.axes[k].values()
	for _, w := range weights[k] {
		sum += w.w * g.sum(weights, k+1, at*n+w.i)
	}
	return sum
}

// weights returns the weights of the values at x, without zeros. Between categories they are the shares of the columns,
// or all the same if no column is positive.
func (a axis) weights(x []float64) []weight {
	if a.line != nil {
		return a.line.weights(x[a.columns[0]])
	}
	var ws []weight
	total := 0.0
	for i, j := range a.columns {
		if v := x[j]; v > 0 {
			ws = append(ws, weight{i, v})
			total += v
		}
	}
	if total == 0 {
		for i := range a.columns {
			ws = append(ws, weight{i, 1})
		}
		total = float64(len(a.columns))
	}
	for i := range ws {
		ws[i].w /= total
	}
	return ws
}
