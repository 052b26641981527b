package stats

import (
	"slices"
	"testing"
)

// "lo, hi, (lo+hi)/2, (3lo+hi)/4, (lo+3hi)/4, (7lo+hi)/8, (5lo+3hi)/8, and so on": the sequence of L_max-I_1.
// Reference: Shivam, Babu and Chase 2006, section 3.4, Algorithm 5
func TestBisection(t *testing.T) {
	var got []float64
	for f := range Bisection() {
		if got = append(got, f); len(got) == 9 {
			break
		}
	}
	want := []float64{0, 1, 1. / 2, 1. / 4, 3. / 4, 1. / 8, 3. / 8, 5. / 8, 7. / 8}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for range Bisection() {
		break
	}
}

// After 2^k+1 fractions, all multiples of 2^-k have been visited.
func TestBisectionBreadthFirst(t *testing.T) {
	seen := map[float64]bool{}
	k := 0
	for f := range Bisection() {
		if seen[f] || f < 0 || f > 1 {
			t.Fatalf("%v is repeated or outside", f)
		}
		seen[f] = true
		if len(seen) == 1<<k+1 {
			for i := range 1<<k + 1 {
				if !seen[float64(i)/float64(int(1)<<k)] {
					t.Errorf("%d/%d is missing from the first %d", i, 1<<k, len(seen))
				}
			}
			if k++; k > 10 {
				break
			}
		}
	}
}
