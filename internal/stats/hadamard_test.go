package stats

import (
	"slices"
	"testing"
)

// The rows of a Hadamard matrix are orthogonal, whatever constructs it: generators, both
// of Paley's constructions, doubling. Up to 200 these give all orders that 4 divides but
// those that need another one, or a field that is not of a prime.
func TestHadamard(t *testing.T) {
	missing := []int{52, 92, 100, 116, 156, 172, 184, 188}
	for order := 4; order <= 200; order++ {
		want := order%4 == 0 && !slices.Contains(missing, order)
		if got := constructible(order); got != want {
			t.Errorf("order %d: constructible %v, want %v", order, got, want)
		}
		if !want {
			continue
		}
		h := hadamard(order)
		if len(h) != order {
			t.Fatalf("order %d: %d rows", order, len(h))
		}
		for i, row := range h {
			for j := range i + 1 {
				product, length := 0, 0
				for k, x := range row {
					product += x * h[j][k]
				}
				if i == j {
					length = order
				}
				if product != length || len(row) != order {
					t.Fatalf("order %d: rows %d and %d: product %d, want %d", order, i, j, product, length)
				}
			}
			if slices.ContainsFunc(row, func(x int) bool { return x != 1 && x != -1 }) {
				t.Fatalf("order %d: row %d is %v", order, i, row)
			}
		}
	}
}
