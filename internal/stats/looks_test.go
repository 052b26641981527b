package stats

import (
	"math"
	"slices"
	"testing"
)

// The looks are at 8 pairs, 12, 18 and so on, and another number of pairs is the last look only. The errors of all
// looks together are the total.
func TestLooks(t *testing.T) {
	for n, want := range map[int]struct {
		i       int
		planned bool
	}{
		1: {1, false}, 7: {1, false}, 8: {1, true}, 9: {2, false}, 12: {2, true}, 13: {3, false}, 18: {3, true},
		27: {4, true}, 30: {5, false},
	} {
		if i, planned := Looks(n); i != want.i || planned != want.planned {
			t.Errorf("%d pairs: look %d, planned %v; want %+v", n, i, planned, want)
		}
	}
	sum := 0.0
	for i := 1; i < 100000; i++ {
		sum += LookError(0.05, i)
	}
	if sum > 0.05 || sum < 0.0499 {
		t.Errorf("all looks together err in %v", sum)
	}
}

// A later look has a wider interval, and eight pairs of one sign show a difference.
func TestCompareAtLook(t *testing.T) {
	a, b := make([]float64, 12), make([]float64, 12)
	for i := range a {
		a[i], b[i] = 1+0.01*float64(i), (1+0.01*float64(i))*(0.8+0.001*float64(i))
	}
	c := CompareAtLook(a[:8], b[:8], 0)
	if c.Verdict != Less || !(math.Abs(c.Change+0.196) <= 0.002) || c.N != 8 {
		t.Errorf("8 pairs: %+v", c)
	}
	if late := CompareAtLook(a, b, 0); late.Level <= c.Level {
		t.Errorf("the second look has the level %v, the first %v", late.Level, c.Level)
	}
}

// Below the first look the earlier runs of the first command count, and from there on they do not.
func TestCompareVerdict(t *testing.T) {
	a, b := []float64{1, 1.02, 0.98, 1.01, 0.99, 1, 1, 1.02}, []float64{0.5, 0.51, 0.49, 0.5, 0.5, 0.51, 0.49, 0.5}
	early := []float64{3, 3}
	few, without := CompareVerdict(a[:3], b[:3], early, nil), CompareVerdict(a[:3], b[:3], nil, nil)
	if few.Change >= without.Change || few.N != 3 || without.Verdict != Less {
		t.Errorf("with earlier runs %+v, without %+v", few, without)
	}
	if many := CompareVerdict(a, b, early, nil); many.Change != CompareVerdict(a, b, nil, nil).Change || many.N != 8 {
		t.Errorf("%+v", many)
	}
	if !slices.Equal(early, []float64{3, 3}) || a[0] != 1 {
		t.Error("the arguments were changed")
	}
}
