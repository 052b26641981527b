package stats

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The first numbers of SplitMix64 from the seed 0, as its authors' program prints them.
// Reference: Steele, Lea and Flood 2014; https://prng.di.unimi.it/splitmix64.c
func TestMix(t *testing.T) {
	const golden = 0x9e3779b97f4a7c15
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := mix(state); got != want {
			t.Errorf("number %d is %#x, want %#x", i, got, want)
		}
		state += golden
	}
}

// phi is sum of distance^-16 over all pairs, by its definition.
func phi(points [][]float64) (sum float64) {
	for i, p := range points {
		for _, q := range points[:i] {
			d := 0.0
			for k := range p {
				d += math.Pow(p[k]-q[k], 2)
			}
			sum += math.Pow(d, -8)
		}
	}
	return sum
}

// Maximin is a descent: when it has tried every swap many times there is none left that
// lowers phi, whichever two points it takes. It never raises it.
func TestMaximinDescends(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n, d := 3+int(seed%4), 2+int(seed%3)
		points := LatinHypercube(n, d, rng)
		before := phi(points)
		Maximin(points, 4000, rng)
		after := phi(points)
		if after > before*(1+1e-9) {
			t.Errorf("%d points of %d: phi rose from %v to %v", n, d, before, after)
		}
		for i := range points {
			for k := range i {
				for j := range d {
					points[i][j], points[k][j] = points[k][j], points[i][j]
					if better := phi(points); better < after*(1-1e-9) {
						t.Errorf("%d points of %d: swapping %d and %d on axis %d takes phi from %v to %v",
							n, d, i, k, j, after, better)
					}
					points[i][j], points[k][j] = points[k][j], points[i][j]
				}
			}
		}
	}
}

// Positions outside are refused in a long permutation as in a short one.
func TestPermutationBoundsOfLong(t *testing.T) {
	for _, n := range []int64{shuffled + 1, 1 << 40} {
		p := NewPermutation(n, 3)
		mustPanic(t, func() { p.At(n) })
		mustPanic(t, func() { p.At(-1) })
		if x := p.At(n - 1); x < 0 || x >= n {
			t.Errorf("the last of %d is %d", n, x)
		}
	}
}

// A study is resumed by making its designs again, by a later version too: the order that
// belongs to a seed, and the rows of a design, never change.
func TestDesignsNeverChange(t *testing.T) {
	h := fnv.New64a()
	for _, n := range []int64{1, 7, shuffled - 1, shuffled, shuffled + 1, 1 << 20, 1<<20 + 1, 1 << 50, math.MaxInt64} {
		for seed := range uint64(3) {
			p := NewPermutation(n, seed)
			for i := range min(n, 20) {
				fmt.Fprint(h, p.At(i), " ")
			}
		}
	}
	if got, want := h.Sum64(), uint64(permutationsHash); got != want {
		t.Errorf("permutations have the hash %#x, had %#x", got, want)
	}
	h.Reset()
	for _, n := range []int{1, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47, 55, 75, 79, 83} {
		fmt.Fprint(h, PlackettBurman(n))
	}
	if got, want := h.Sum64(), uint64(plackettBurmanHash); got != want {
		t.Errorf("Plackett-Burman designs have the hash %#x, had %#x", got, want)
	}
}

const (
	permutationsHash   = 0xe572af0225f9979f
	plackettBurmanHash = 0xa2ca14d587e121b1
)

// Designs of 1 to 1023 factors there are, and of no other number.
func TestPlackettBurmanLimits(t *testing.T) {
	for _, n := range []int{0, -1, 1024} {
		mustPanic(t, func() { PlackettBurmanOrder(n) })
	}
	for n, want := range map[int]int{1: 4, 3: 4, 4: 8, 11: 12, 51: 56, 1023: 1024} {
		if got := PlackettBurmanOrder(n); got != want {
			t.Errorf("%d factors: order %d, want %d", n, got, want)
		}
	}
}

// Folding a design over negates it below itself, and changes nothing of it.
func TestFoldoverNegates(t *testing.T) {
	rows := [][]int{{1, -1, 1}, {-1, -1, 1}}
	got := Foldover(rows)
	want := [][]int{{1, -1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, 1, -1}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
	got[0][0] = 9
	if rows[0][0] != 1 {
		t.Error("the design shares its rows with the folded one")
	}
}

// One point, and one dimension, is the least that there is.
func TestLeastDesigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, size := range [][2]int{{1, 1}, {1, 3}, {3, 1}} {
		if points := LatinHypercube(size[0], size[1], rng); len(points) != size[0] || len(points[0]) != size[1] {
			t.Errorf("%v: got %v", size, points)
		}
	}
	for _, size := range [][2]int{{0, 1}, {1, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a hypercube of %v is made", size)
				}
			}()
			LatinHypercube(size[0], size[1], rng)
		}()
	}
	// van der Corput's sequence in Gray code order
	s := NewSobol(1)
	for i, want := range []float64{0, 0.5, 0.75, 0.25, 0.375} {
		x := make([]float64, 1)
		if s.At(int64(i), x); x[0] != want {
			t.Errorf("point %d of one dimension is %v, want %v", i, x, want)
		}
	}
	if p := NewPermutation(1, 7); p.Len() != 1 || p.At(0) != 0 {
		t.Errorf("the permutation of one number has %d, begins with %d", p.Len(), p.At(0))
	}
}

// Three points on two axes: of the four ways to put them together the descent finds the one with the least phi.
func TestMaximinOfThree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	points := [][]float64{{0.1, 0.1}, {0.4, 0.4}, {0.9, 0.9}} // on a line: the two first are close
	least := math.Inf(1)
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		y := []float64{0.1, 0.4, 0.9}
		least = min(least, phi([][]float64{{0.1, y[order[0]]}, {0.4, y[order[1]]}, {0.9, y[order[2]]}}))
	}
	Maximin(points, 200, rng)
	if got := phi(points); !(math.Abs(got-least) <= 1e-9*least) {
		t.Errorf("phi is %v, the least %v: %v", got, least, points)
	}
}
