package workbench

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A chase visits every line once before it is back.
func TestChaseIsOneCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 2000).Draw(t, "lines")
		c := newChase(int64(n)*lineBytes, rapid.Uint64().Draw(t, "seed"))
		seen := make([]bool, n)
		at := uint32(0)
		for range n {
			if seen[at] {
				t.Fatalf("line %d is visited twice", at)
			}
			seen[at] = true
			at = c.walk(at, 1)
		}
		if at != 0 || c.walk(0, 3*n) != 0 {
			t.Fatalf("%d steps end at %d", n, at)
		}
	})
}

func TestBrokenChaseIsNoticed(t *testing.T) {
	c := newChase(64*lineBytes, 1)
	c.lines[5].next = 5 // now the walk ends there
	if _, err := c.latency(); err == nil {
		t.Error("a walk that never comes back is measured")
	}
}

// The latency rises with the working set: from the first-level cache to a set that no cache holds
// by a factor of 3 at least on every machine that has caches. The least of some observations is
// free of most noise.
func TestLatencyRisesWithWorkingSet(t *testing.T) {
	least := func(bytes int64) float64 {
		c := newChase(bytes, 1)
		var xs []float64
		for range 7 {
			x, err := c.latency()
			if err != nil {
				t.Fatal(err)
			}
			xs = append(xs, x)
		}
		return slices.Min(xs)
	}
	small, large := least(16<<10), least(128<<20)
	t.Logf("a load takes %.3g s in 16 KiB, %.3g s in 128 MiB", small, large)
	if small <= 0 || large < 3*small {
		t.Errorf("a load takes %g s in 16 KiB, and %g s in 128 MiB", small, large)
	}
}

func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Uint64(), 0, 40).Draw(t, "x")
		var want uint64
		for _, v := range x {
			want += v
		}
		if got := sum(x); got != want {
			t.Errorf("sum of %v: got %d, want %d", x, got, want)
		}
	})
}

func TestBandChecksWhatItMoved(t *testing.T) {
	b := newBand(1 << 20)
	for _, f := range []func() (float64, error){b.read, b.copy} {
		if x, err := f(); err != nil || !(x > 1e6) {
			t.Errorf("%g B/s, %v", x, err)
		}
	}
	if !slices.Equal(b.from, b.to) {
		t.Error("the copy is not equal")
	}
	b.from[7]++
	if _, err := b.read(); err == nil {
		t.Error("a wrong sum is not noticed")
	}
}
