package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// Hypervolume returns the measure of the region that some points dominate and that a reference
// point bounds: of all that is at least as bad as some point in every coordinate, and no worse than ref in
// any. Less is better. It is exact for two and three coordinates, and panics for other numbers. Points
// that are not below ref in every coordinate add nothing, and neither do those without coordinates.
//
// Cost: for n points n log n in two dimensions, n² log n in three.
func Hypervolume(points [][]float64, ref []float64) float64 {
	if len(ref) != 2 && len(ref) != 3 {
		panic("stats: a hypervolume has two or three dimensions")
	}
	var inside [][]float64
	for _, p := range points {
		if len(p) == len(ref) && below(p, ref) {
			inside = append(inside, p)
		}
	}
	if len(ref) == 2 {
		return area(inside, ref)
	}
	// Slices at right angles to the last coordinate: between two levels of it, those points count that are
	// below.
	slices.SortStableFunc(inside, func(a, b []float64) int { return cmp.Compare(a[2], b[2]) })
	volume := 0.0
	for i, p := range inside {
		top := ref[2]
		if i+1 < len(inside) {
			top = inside[i+1][2]
		}
		if top > p[2] {
			volume += area(inside[:i+1], ref) * (top - p[2])
		}
	}
	return volume
}

func below(p, ref []float64) bool {
	for i, x := range p {
		if !(x < ref[i]) {
			return false
		}
	}
	return true
}

// area is Hypervolume in the first two coordinates, of points below ref.
func area(points [][]float64, ref []float64) float64 {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b []float64) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	sum, level := 0.0, ref[1]
	for _, p := range sorted {
		if p[1] < level {
			sum += (ref[0] - p[0]) * (level - p[1])
			level = p[1]
		}
	}
	return sum
}

// FrontRanks sorts points by domination: those that none dominates have rank 0, those that are
// dominated by such alone rank 1, and so on (Deb et al. 2002). Equal points have one rank.
//
// Cost: n² comparisons.
func FrontRanks(points [][]float64) []int {
	ranks := make([]int, len(points))
	beats := make([][]int, len(points)) // by index, those that it dominates
	beaten := make([]int, len(points))  // by how many, of those without a rank
	var front []int
	for i, p := range points {
		for j, q := range points {
			switch {
			case assay.Dominates(p, q):
				beats[i] = append(beats[i], j)
			case assay.Dominates(q, p):
				beaten[i]++
			}
		}
		if beaten[i] == 0 {
			front = append(front, i)
		}
	}
	for rank := 0; len(front) > 0; rank++ {
		var next []int
		for _, i := range front {
			ranks[i] = rank
			for _, j := range beats[i] {
				if beaten[j]--; beaten[j] == 0 {
					next = append(next, j)
				}
			}
		}
		front = next
	}
	return ranks
}

// Crowding returns how far the neighbours of each point are from it, summed over the coordinates,
// each in units of its range: +Inf at the ends of a coordinate (Deb et al. 2002, §III.B).
func Crowding(points [][]float64) []float64 {
	out := make([]float64, len(points))
	if len(points) == 0 {
		return out
	}
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	for d := range points[0] {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[a][d], points[b][d]) })
		n := len(order)
		span := points[order[n-1]][d] - points[order[0]][d]
		out[order[0]], out[order[n-1]] = math.Inf(1), math.Inf(1)
		for k := 1; k < n-1 && span > 0; k++ {
			out[order[k]] += (points[order[k+1]][d] - points[order[k-1]][d]) / span
		}
	}
	return out
}
