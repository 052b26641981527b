package assay_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

// A roll numbers configurations as a map by their Keys would, of any coordinates.
func TestRoll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2), rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), 1, -1, 0.5, 1 << 29, 1 << 30, 1 << 62, -1 << 63, math.Inf(1), math.NaN(),
		}))
		var r assay.ConfigIndex
		numbers := map[string]int{}
		var order []assay.Config
		for range rapid.IntRange(0, 200).Draw(t, "calls") {
			c := assay.Config(rapid.SliceOfN(of, 0, 20).Draw(t, "configuration"))
			want, known := numbers[c.Key()]
			if n, ok := r.Find(c); ok != known || ok && n != want {
				t.Fatalf("%v has number %d, %v; want %d, %v", c, n, ok, want, known)
			}
			n, added := r.Number(c)
			if !known {
				want = len(order)
				numbers[c.Key()] = want
				order = append(order, c)
			}
			if n != want || added == known || r.Len() != len(order) {
				t.Fatalf("%v gets number %d of %d, added %v; want %d of %d, %v", c, n, r.Len(), added, want, len(order), !known)
			}
		}
		for i, c := range r.All() {
			if c.Key() != order[i].Key() {
				t.Fatalf("the %d-th is %v, want %v", i, c, order[i])
			}
		}
	})
}

// Thousands of configurations take a fraction of the memory of a map of them.
func TestRollIsSmall(t *testing.T) {
	const n = 100_000
	held := func(add func(c assay.Config)) uint64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range n {
			add(assay.Config{float64(i), float64(i % 7), float64(i % 3)})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		return (after.HeapAlloc - before.HeapAlloc) / n
	}
	var r assay.ConfigIndex
	m := map[string]int32{}
	small := held(func(c assay.Config) { r.Number(c) })
	great := held(func(c assay.Config) { m[c.Key()] = int32(len(m)) })
	if r.Len() != n || len(m) != n || 5*small > 2*great {
		t.Errorf("a roll takes %d bytes a configuration, a map %d", small, great)
	}
	t.Logf("%d bytes a configuration, of a map %d", small, great)
	runtime.KeepAlive(slices.Values([]any{r, m}))
}
