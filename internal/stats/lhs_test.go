package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func checkLatin(t *rapid.T, points [][]float64) {
	n := len(points)
	for j := range points[0] {
		seen := make([]bool, n)
		for _, p := range points {
			if p[j] < 0 || p[j] >= 1 {
				t.Fatalf("coordinate %v is outside [0, 1)", p[j])
			}
			if cell := int(p[j] * float64(n)); seen[cell] {
				t.Fatalf("axis %d: interval %d of %d holds two points", j, cell, n)
			} else {
				seen[cell] = true
			}
		}
	}
}

func TestLatinHypercube(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		points := LatinHypercube(n, d, rng)
		if len(points) != n || len(points[0]) != d {
			t.Fatalf("got %d points of %d coordinates, want %d of %d", len(points), len(points[0]), n, d)
		}
		checkLatin(t, points)
		Maximin(points, 50, rng)
		checkLatin(t, points)
	})
}

func leastDistance(points [][]float64) float64 {
	least := math.Inf(1)
	for i, p := range points {
		for _, q := range points[:i] {
			least = min(least, distance2(p, q))
		}
	}
	return math.Sqrt(least)
}

func TestMaximinMovesApart(t *testing.T) {
	var ratio float64
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		points := LatinHypercube(20, 4, rng)
		before := leastDistance(points)
		Maximin(points, 2000, rng)
		ratio += math.Log(leastDistance(points)/before) / 20
	}
	// The least distance of a random design is a minimum over 190 pairs; 1.5
	// times as much on average is far outside the range of chance swaps.
	if r := math.Exp(ratio); r < 1.5 {
		t.Errorf("least distance grew by a factor of %v", r)
	}
}

func TestMaximinSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	Maximin(nil, 10, rng)
	Maximin(LatinHypercube(2, 1, rng), 10, rng)
	same := [][]float64{{0.5, 0.5}, {0.5, 0.5}, {0.1, 0.9}, {0.7, 0.2}}
	Maximin(same, 200, rng)
	if d := leastDistance(same); d == 0 {
		t.Errorf("two equal points stay together: %v", same)
	}
	mustPanic(t, func() { LatinHypercube(0, 1, rng) })
	mustPanic(t, func() { LatinHypercube(1, 0, rng) })
}
