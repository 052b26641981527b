package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPermutationIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(shuffled-2, shuffled+3),
			rapid.Int64Range(1, 20000)).Draw(t, "n")
		p := NewPermutation(n, rapid.Uint64().Draw(t, "seed"))
		seen := make([]bool, n)
		for i := range n {
			x := p.At(i)
			if x < 0 || x >= n || seen[x] {
				t.Fatalf("At(%d) = %d is outside 0..%d or was there before", i, x, n-1)
			}
			seen[x] = true
		}
	})
}

// On lengths that cannot be enumerated: no repetition in a stretch of 1,000,
// and the same seed gives the same order.
func TestPermutationLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1<<40, math.MaxInt64).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		start := rapid.Int64Range(0, n-1000).Draw(t, "start")
		p, q := NewPermutation(n, seed), NewPermutation(n, seed)
		seen := map[int64]bool{}
		for i := start; i < start+1000; i++ {
			x := p.At(i)
			if x < 0 || x >= n || seen[x] || x != q.At(i) {
				t.Fatalf("At(%d) = %d: outside, repeated or not reproducible", i, x)
			}
			seen[x] = true
		}
	})
}

// Every element is equally likely at the first places: chi-squared over 16
// equal classes for the first 4 places of a network of 5,000, of which the
// width 13 makes the range just over half. 15 degrees of freedom: a value above
// 44.3 has probability 1e-4.
func TestPermutationUniform(t *testing.T) {
	for _, n := range []int64{16, 5000, 1 << 50} {
		const seeds = 8000
		for place := range int64(4) {
			var count [16]int
			for seed := range uint64(seeds) {
				count[NewPermutation(n, seed).At(place)/((n+15)/16)]++
			}
			var chi2 float64
			for k, c := range count {
				width := (n + 15) / 16
				expected := seeds * float64(min(n-int64(k)*width, width)) / float64(n)
				chi2 += (float64(c) - expected) * (float64(c) - expected) / expected
			}
			if chi2 > 44.3 {
				t.Errorf("n = %d, place %d: chi-squared %v, counts %v", n, place, chi2, count)
			}
		}
	}
}

// Neighbouring places are not neighbouring numbers: the rank correlation of
// At(i) and At(i+1) over 20,000 places is within 5/sqrt(20000) of 0.
func TestPermutationScatters(t *testing.T) {
	const n, m = 1 << 20, 20000
	for seed := range uint64(20) {
		p := NewPermutation(n, seed)
		var sum float64
		for i := range int64(m) {
			a, b := float64(p.At(i))/n-0.5, float64(p.At(i+1))/n-0.5
			sum += a * b
		}
		if r := sum / m * 12; !(math.Abs(r) <= 5/math.Sqrt(m)) {
			t.Errorf("seed %d: correlation %v", seed, r)
		}
	}
}

func TestPermutationBounds(t *testing.T) {
	mustPanic(t, func() { NewPermutation(0, 1) })
	mustPanic(t, func() { NewPermutation(5, 1).At(5) })
	mustPanic(t, func() { NewPermutation(5, 1).At(-1) })
	if p := NewPermutation(1, 9); p.At(0) != 0 || p.Len() != 1 {
		t.Errorf("permutation of one number: %d of %d", p.At(0), p.Len())
	}
	var x, y []int64
	for i := range int64(10) {
		x, y = append(x, NewPermutation(1e6, 1).At(i)), append(y, NewPermutation(1e6, 2).At(i))
	}
	if slices.Equal(x, y) {
		t.Error("two seeds give one order")
	}
}

func BenchmarkPermutation(b *testing.B) {
	p := NewPermutation(1<<60, 1)
	var i int64
	for b.Loop() {
		p.At(i)
		i++
	}
}
