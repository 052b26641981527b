package stats

import (
	"fmt"
	"math/rand/v2"
)

// LatinHypercube returns n points of the unit cube of d dimensions such that
// each of the n equal intervals of every axis holds one of them, at a uniform
// place (McKay, Beckman and Conover 1979). It panics if n or d is below 1.
func LatinHypercube(n, d int, rng *rand.Rand) [][]float64 {
	if n < 1 || d < 1 {
		panic(fmt.Sprintf("doe: Latin hypercube of %d points in %d dimensions", n, d))
	}
	all := make([]float64, n*d)
	points := make([][]float64, n)
	for i := range points {
		points[i] = all[i*d : (i+1)*d : (i+1)*d]
	}
	for j := range d {
		for i, cell := range rng.Perm(n) {
			points[i][j] = (float64(cell) + rng.Float64()) / float64(n)
		}
	}
	return points
}

// Maximin moves the points of a Latin hypercube apart and keeps it one: it
// tries swaps of one coordinate between two points, and takes those that lower
//
//	phi_p = sum over pairs of distance^-p, p = 16
//
// (Morris and Mitchell 1995, eq. 2.1, by descent in place of annealing; they
// find p of 15 to 50 near enough to the least distance alone). points
// is n rows of d coordinates and is changed in place. Cost: swaps * n * d.
func Maximin(points [][]float64, swaps int, rng *rand.Rand) {
	n := len(points)
	if n < 3 { // swaps do not change the distance of two points
		return
	}
	d := len(points[0])
	for range swaps {
		a, b, j := rng.IntN(n), rng.IntN(n-1), rng.IntN(d)
		if b >= a {
			b++
		}
		before := crowding(points, a, b)
		points[a][j], points[b][j] = points[b][j], points[a][j]
		if crowding(points, a, b) >= before {
			points[a][j], points[b][j] = points[b][j], points[a][j]
		}
	}
}

// crowding is the part of phi_p that depends on points a and b; their mutual
// distance is the same before and after a swap.
func crowding(points [][]float64, a, b int) float64 {
	var sum float64
	for i, p := range points {
		if i != a && i != b {
			sum += inverse16(distance2(p, points[a])) + inverse16(distance2(p, points[b]))
		}
	}
	return sum
}

// inverse16 returns d^-16 of the square of d.
func inverse16(d2 float64) float64 {
	x := 1 / d2
	x *= x
	x *= x
	return x * x
}

func distance2(a, b []float64) float64 {
	var sum float64
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return sum
}
