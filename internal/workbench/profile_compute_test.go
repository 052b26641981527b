package workbench

import (
	"math"
	"testing"
)

// TestWhetstonePaper compares every module with the output that the published
// benchmark prints for LOOP = 10, to its five digits.
func TestWhetstonePaper(t *testing.T) {
	near := func(what string, got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 5e-5*math.Abs(want[i])) {
				t.Errorf("%s: got %v, want %v", what, got, want)
				return
			}
		}
	}
	s := newWhetstone()
	s.arrays(120)
	near("module 2", s.e[:], -6.8342e-2, -4.6264e-1, -7.2972e-1, -1.1240)
	s = newWhetstone()
	s.pass(10)
	near("module 3", s.e[:], -5.5336e-2, -4.4744e-1, -7.1097e-1, -1.1031)
	near("module 7", []float64{s.x, s.y}, 4.9041e-1, 4.9039e-1)
	near("module 8", []float64{s.z}, 9.9994e-1)
	near("module 9", s.f[:], 3, 2, 3)
	near("module 11", []float64{s.w}, 8.3467e-1)
	if s.j != 1 || s.k != 6 {
		t.Errorf("modules 4 and 6: got %d and %d, want 1 and 6", s.j, s.k)
	}
	if !s.right() {
		t.Error("the published result is not right")
	}
	// Reference: Curnow and Wichmann (1976), the table at the program's end.
}

// A result is looked at, so that no compiler may leave work out.
func TestWrongWhetstoneIsNoticed(t *testing.T) {
	s := newWhetstone()
	s.pass(9)
	if s.right() {
		t.Error("nine passes are as good as ten")
	}
}

func TestSieve(t *testing.T) {
	for _, c := range []struct{ below, primes int }{
		{3, 1}, {10, 4}, {100, 25}, {1000, 168}, {10_000, 1229}, {sieveSize, sievePrimes},
	} {
		composite := make([]bool, c.below)
		got, marks := sieve(composite)
		if got != c.primes {
			t.Errorf("%d primes below %d, want %d", got, c.below, c.primes)
		}
		// A mark is a multiple i·j of a prime i <= j.
		want := 0
		for i := 2; i < c.below; i++ {
			if !composite[i] && i*i < c.below {
				want += (c.below-1)/i - i + 1
			}
		}
		if marks != want {
			t.Errorf("%d marks below %d, want %d", marks, c.below, want)
		}
	}
}

func TestSpeedsArePositive(t *testing.T) {
	for name, f := range map[string]func() (float64, error){
		"sieve":                sieveSpeed,
		"whetstone":            func() (float64, error) { return whetstoneSpeed(1) },
		"whetstone, 3 threads": func() (float64, error) { return whetstoneSpeed(3) },
	} {
		x, err := f()
		if err != nil || !(x > 1e5) || x > 1e12 {
			t.Errorf("%s: %g op/s, %v", name, x, err)
		}
	}
}
