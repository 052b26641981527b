package model

import (
	"cmp"
	"math"
	"slices"
)

// A rankColumn is one feature of a training set, with its values replaced by their ranks among the distinct ones.
type rankColumn struct {
	feature int         // in the caller's rows
	cuts    []float64   // ascending; rank k is of the values in (cuts[k-1], cuts[k]]
	search  []float64   // cuts and +Inf
	bucket  rankBuckets // where to begin a search
	rank    []uint16    // of each example; len(cuts)+1 distinct ones
	order   []uint32    // the examples by rank: rank<<16 | example
}

// rankColumnsOf returns the columns of X that are not constant. Cost: n log n for each of them.
func rankColumnsOf(X [][]float64) []rankColumn {
	type entry struct {
		x float64
		i uint32
	}
	var cols []rankColumn
	es := make([]entry, len(X))
	for f := range X[0] {
		constant := true
		for i, x := range X {
			es[i] = entry{x[f], uint32(i)}
			constant = constant && x[f] == X[0][f]
		}
		if constant {
			continue
		}
		slices.SortFunc(es, func(a, b entry) int {
			switch {
			case a.x < b.x:
				return -1
			case a.x > b.x:
				return 1
			}
			return cmp.Compare(a.i, b.i)
		})
		c := rankColumn{feature: f, rank: make([]uint16, len(X)), order: make([]uint32, len(X))}
		for k, e := range es {
			if k > 0 && e.x != es[k-1].x {
				c.cuts = append(c.cuts, between(es[k-1].x, e.x))
			}
			r := uint32(len(c.cuts))
			c.rank[e.i] = uint16(r)
			c.order[k] = r<<16 | e.i
		}
		c.search = append(c.cuts, math.Inf(1))
		c.bucket = newRankBuckets(c.cuts)
		cols = append(cols, c)
	}
	return cols
}

// between returns the middle of a and b > a, or a if there is no number between.
func between(a, b float64) float64 {
	if m := a/2 + b/2; a < m && m < b {
		return m
	}
	return a
}

// quantise returns the rank of x: the number of cuts below x, so that x goes left at cut k if its rank is at most k.
// The rank of NaN is the last.
func (c *rankColumn) quantise(x float64) uint16 {
	if x != x {
		return uint16(len(c.cuts))
	}
	b := c.bucket.of(x)
	k, cuts := c.bucket.start[b], c.search
	if end := c.bucket.start[b+1]; end-k > 8 { // values are clustered
		for end-k > 8 {
			if m := (k + end) / 2; cuts[m] < x {
				k = m + 1
			} else {
				end = m
			}
		}
	}
	// Most often there is no cut below x in its bucket, or one.
	if cuts[k] < x {
		k++
	}
	for cuts[k] < x {
		k++
	}
	return uint16(k)
}

// rankBuckets divides the range of sorted numbers evenly, to find one of them in
// constant time if they are spread evenly.
type rankBuckets struct {
	lo, scale, last float64  // x is in bucket (x-lo)·scale, limited to [0, last]
	start           []uint32 // start[b] numbers are in buckets below b
}

func newRankBuckets(cuts []float64) rankBuckets {
	n := 4 * len(cuts)
	b := rankBuckets{lo: cuts[0], last: float64(n - 1), start: make([]uint32, n+1)}
	b.scale = b.last / (cuts[len(cuts)-1] - cuts[0]) // +Inf if there is one cut: two buckets
	for _, c := range cuts {
		b.start[b.of(c)+1]++
	}
	for i := range n {
		b.start[i+1] += b.start[i]
	}
	return b
}

// of returns the bucket of x. It does not fall as x grows.
func (b *rankBuckets) of(x float64) int {
	t := (x - b.lo) * b.scale
	switch {
	case t >= b.last:
		return int(b.last)
	case t > 0:
		return int(t)
	}
	return 0
}
