package doe

import (
	"slices"
	"testing"
)

func TestFactorial(t *testing.T) {
	var got [][]int
	for x := range Factorial(2, 1, 3) {
		got = append(got, x)
	}
	want := [][]int{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2}}
	if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("got %v, want %v", got, want)
	}
	count := func(levels ...int) (n int) {
		for range Factorial(levels...) {
			n++
		}
		return n
	}
	for _, c := range []struct {
		levels []int
		want   int
	}{{nil, 1}, {[]int{0, 3}, 0}, {[]int{1}, 1}, {[]int{3, 4, 5, 6}, 360}} {
		if n := count(c.levels...); n != c.want {
			t.Errorf("Factorial(%v) has %d rows, want %d", c.levels, n, c.want)
		}
	}
	for x := range Factorial(1000, 1000, 1000, 1000) { // stops early, needs no memory
		if x[3] == 5 {
			break
		}
	}
	mustPanic(t, func() { Factorial(2, -1) })
}

func TestTwoLevel(t *testing.T) {
	want := [][]int{{-1, -1}, {1, -1}, {-1, 1}, {1, 1}}
	if got := TwoLevel(2); !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("got %v, want %v", got, want)
	}
	// Orthogonal columns, each balanced.
	rows := TwoLevel(6)
	for a := range 6 {
		for b := range a + 1 {
			sum, dot := 0, 0
			for _, r := range rows {
				sum += r[a]
				dot += r[a] * r[b]
			}
			if sum != 0 || a != b && dot != 0 {
				t.Errorf("columns %d and %d: sum %d, product %d", a, b, sum, dot)
			}
		}
	}
	if got := TwoLevel(0); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("no factors: got %v", got)
	}
	mustPanic(t, func() { TwoLevel(21) })
	mustPanic(t, func() { TwoLevel(-1) })
}
