package stats

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The values are from scipy.stats.qmc.Sobol(101, scramble=False), which
// uses the same direction numbers and the same Gray-code order.
func TestSobolReference(t *testing.T) {
	s := NewSobol(101)
	x := make([]float64, 101)
	for _, c := range []struct {
		point int64
		dims  []int
		want  []float64 // times denominator
		den   float64
	}{
		{0, []int{0, 1, 100}, []float64{0, 0, 0}, 1},
		{1, []int{0, 1, 100}, []float64{1, 1, 1}, 2},
		{5, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, []float64{7, 7, 1, 3, 7, 5, 7, 3, 3, 1, 3, 7}, 8},
		{8, []int{0, 1, 50, 99, 100}, []float64{0.1875, 0.3125, 0.5625, 0.9375, 0.0625}, 1},
		{1000, []int{0, 1, 2, 10, 40, 70, 99, 100}, []float64{225, 99, 531, 87, 935, 157, 191, 787}, 1024},
	} {
		s.At(c.point, x)
		for k, j := range c.dims {
			if got, want := x[j], c.want[k]/c.den; got != want {
				t.Errorf("point %d, dimension %d: got %v, want %v", c.point, j, got, want)
			}
		}
	}
}

// primitive reports whether the polynomial with the coefficient bits p is
// primitive over GF(2): x has the order 2^s-1 in GF(2)[x]/p.
func primitive(p uint32) bool {
	s := bits.Len32(p) - 1
	x, order := uint32(1), 0
	for {
		if x <<= 1; x>>s&1 == 1 {
			x ^= p
		}
		if order++; x == 1 || order > 1<<s {
			return order == 1<<s-1
		}
	}
}

func TestSobolTable(t *testing.T) {
	for j, row := range joeKuo {
		s := bits.Len32(row[0]) - 1
		if len(row)-1 != s {
			t.Errorf("row %d: %d initial numbers for degree %d", j, len(row)-1, s)
		}
		if !primitive(row[0]) {
			t.Errorf("row %d: %b is not primitive", j, row[0])
		}
		if j > 0 && row[0] <= joeKuo[j-1][0] {
			t.Errorf("row %d: polynomial %b is not above the one before", j, row[0])
		}
		for k, m := range row[1:] {
			if m%2 == 0 || m >= 1<<(k+1) {
				t.Errorf("row %d: m_%d = %d is not odd and below 2^%d", j, k+1, m, k+1)
			}
		}
	}
	if MaxSobol < 64 {
		t.Errorf("MaxSobol is %d", MaxSobol)
	}
}

// Every aligned block of 2^k points has one point in each of the 2^k equal
// intervals of each axis, scrambled or not.
func TestSobolStratified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 8).Draw(t, "k")
		block := rapid.Int64Range(0, 1000).Draw(t, "block")
		s := NewSobol(MaxSobol)
		if rapid.Bool().Draw(t, "scrambled") {
			s = s.Scrambled(rapid.Uint64().Draw(t, "seed"))
		}
		n := 1 << k
		seen := make([][]bool, s.Dim())
		for j := range seen {
			seen[j] = make([]bool, n)
		}
		x := make([]float64, s.Dim())
		for i := range n {
			s.At(block*int64(n)+int64(i), x)
			for j := range x {
				cell := int(x[j] * float64(n))
				if seen[j][cell] {
					t.Fatalf("dimension %d: cell %d of %d has two points", j, cell, n)
				}
				seen[j][cell] = true
			}
		}
	})
}

// The first two dimensions are a (0, 2)-sequence: each elementary box of area
// 2^-k holds one of 2^k points. Owen's scrambling keeps that.
func TestSobolBoxes(t *testing.T) {
	const k = 6
	for seed := range uint64(20) {
		s := NewSobol(2)
		if seed > 0 {
			s = s.Scrambled(seed)
		}
		for a := range k + 1 {
			seen := map[[2]int]bool{}
			x := make([]float64, 2)
			for i := range int64(1 << k) {
				s.At(i, x)
				seen[[2]int{int(x[0] * float64(int(1)<<a)), int(x[1] * float64(int(1)<<(k-a)))}] = true
			}
			if len(seen) != 1<<k {
				t.Errorf("seed %d: %d of %d boxes of 2^-%d by 2^-%d are hit", seed, len(seen), 1<<k, a, k-a)
			}
		}
	}
}

// A scrambled point is uniform: over seeds, the first point's coordinates have
// mean 1/2 and variance 1/12, also in a padded dimension. Tolerance: 5 standard
// errors of 4,000 draws.
func TestSobolScrambledUniform(t *testing.T) {
	const n = 4000
	dims := []int{0, 1, MaxSobol - 1, MaxSobol}
	sum, square := make([]float64, len(dims)), make([]float64, len(dims))
	x := make([]float64, MaxSobol+1)
	plain := NewSobol(len(x))
	for seed := range uint64(n) {
		plain.Scrambled(seed).At(3, x)
		for k, j := range dims {
			if x[j] <= 0 || x[j] >= 1 {
				t.Fatalf("coordinate %v is not inside (0, 1)", x[j])
			}
			sum[k] += x[j]
			square[k] += (x[j] - 0.5) * (x[j] - 0.5)
		}
	}
	for k, j := range dims {
		if m := sum[k] / n; !(math.Abs(m-0.5) <= 5*math.Sqrt(1.0/12/n)) {
			t.Errorf("dimension %d: mean %v", j, m)
		}
		if v := square[k] / n; !(math.Abs(v-1.0/12) <= 5*math.Sqrt(1.0/180/n)) {
			t.Errorf("dimension %d: variance %v", j, v)
		}
	}
}

// Quasi-random integration of prod (1 + (x_j - 1/2)) over 6 dimensions, whose
// integral is 1, has at 1,024 points a root mean square error well below the
// 0.0226 of plain random points.
func TestSobolIntegrates(t *testing.T) {
	var square float64
	x := make([]float64, 6)
	for seed := range uint64(20) {
		s := NewSobol(6).Scrambled(seed)
		var sum float64
		for i := range int64(1024) {
			s.At(i, x)
			f := 1.0
			for _, v := range x {
				f *= 0.5 + v
			}
			sum += f
		}
		square += (sum/1024 - 1) * (sum/1024 - 1)
	}
	if rms := math.Sqrt(square / 20); rms > 0.002 {
		t.Errorf("root mean square error %v", rms)
	}
}

func TestSobolSeeds(t *testing.T) {
	a, b := make([]float64, 3), make([]float64, 3)
	s := NewSobol(3)
	s.Scrambled(1).At(7, a)
	s.Scrambled(1).At(7, b)
	if !slices.Equal(a, b) {
		t.Errorf("one seed gave %v and %v", a, b)
	}
	s.Scrambled(2).At(7, b)
	if slices.Equal(a, b) {
		t.Errorf("two seeds gave %v", a)
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("did not panic")
		}
	}()
	f()
}

func TestSobolPanics(t *testing.T) {
	s := NewSobol(2)
	mustPanic(t, func() { NewSobol(0) })
	mustPanic(t, func() { s.At(-1, make([]float64, 2)) })
	mustPanic(t, func() { s.At(1<<32, make([]float64, 2)) })
	mustPanic(t, func() { s.At(0, make([]float64, 3)) })
	s.At(1<<32-1, make([]float64, 2))
}

func BenchmarkSobolScrambled25(b *testing.B) {
	s := NewSobol(25).Scrambled(1)
	x := make([]float64, 25)
	var i int64
	for b.Loop() {
		s.At(i, x)
		i++
	}
}
