package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// points returns n points of d coordinates on a grid of few levels, so that many coordinates are equal.
func points(rng *rand.Rand, n, d, levels int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, d)
		for j := range all[i] {
			all[i][j] = float64(rng.IntN(levels))
		}
	}
	return all
}

// cells counts the unit cells below ref that some point dominates: with whole coordinates the volume itself.
func cells(ps [][]float64, ref []float64) (n float64) {
	var count func(corner []float64)
	count = func(corner []float64) {
		if k := len(corner); k < len(ref) {
			for x := 0.0; x < ref[k]; x++ {
				count(append(corner, x))
			}
			return
		}
		if slices.ContainsFunc(ps, func(p []float64) bool {
			for i, x := range p {
				if x > corner[i] {
					return false
				}
			}
			return true
		}) {
			n++
		}
	}
	count(nil)
	return n
}

func TestHypervolumeCountsCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		d := 2 + rng.IntN(2)
		ps := points(rng, rng.IntN(12), d, 8)
		ref := make([]float64, d)
		for j := range ref {
			ref[j] = float64(1 + rng.IntN(8))
		}
		before := make([][]float64, len(ps))
		for i, p := range ps {
			before[i] = slices.Clone(p)
		}
		if got, want := stats.Hypervolume(ps, ref), cells(ps, ref); got != want {
			t.Fatalf("%v within %v: %v, by counting %v", ps, ref, got, want)
		}
		for i, p := range ps {
			if !slices.Equal(p, before[i]) {
				t.Fatal("the points were changed")
			}
		}
	}
}

func TestHypervolumeOfNothing(t *testing.T) {
	ref := []float64{1, 1, 1}
	for _, ps := range [][][]float64{nil, {nil}, {{1, 0, 0}}, {{math.NaN(), 0, 0}}} {
		if v := stats.Hypervolume(ps, ref); v != 0 {
			t.Errorf("%v: %v", ps, v)
		}
	}
}

// byRemoval gives each point the round in which it is dominated by none that is left.
func byRemoval(ps [][]float64) []int {
	ranks := make([]int, len(ps))
	for i := range ranks {
		ranks[i] = -1
	}
	for rank := 0; slices.Contains(ranks, -1); rank++ {
		var layer []int
		for i := range ps {
			if ranks[i] >= 0 {
				continue
			}
			beaten := false
			for j := range ps {
				beaten = beaten || ranks[j] < 0 && assay.Dominates(ps[j], ps[i])
			}
			if !beaten {
				layer = append(layer, i)
			}
		}
		for _, i := range layer {
			ranks[i] = rank
		}
	}
	return ranks
}

func TestFrontRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		ps := points(rng, rng.IntN(30), 1+rng.IntN(3), 6)
		if got, want := stats.FrontRanks(ps), byRemoval(ps); !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", ps, got, want)
		}
	}
}

func TestCrowding(t *testing.T) {
	got := stats.Crowding([][]float64{{0, 4}, {1, 3}, {4, 0}, {2, 2}})
	inf := math.Inf(1)
	if want := []float64{inf, 1, inf, 1.5}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := stats.Crowding(nil); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
	if got := stats.Crowding([][]float64{{1, 1}, {1, 1}, {1, 1}}); math.IsNaN(got[1]) {
		t.Error("equal points: NaN")
	}
}
