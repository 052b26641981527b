package prune

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

// line is a space of one integer.
func line(n float64) *assay.Space {
	return must(assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 0, Hi: n - 1}}))
}

// outcomes makes a study of a line: value i at x = i, left out if NaN.
func outcomes(space *assay.Space, values ...float64) Study {
	s := Study{Name: "earlier", Params: space.Params, Goal: testGoal}
	for i, v := range values {
		if !math.IsNaN(v) {
			s.Trials = append(s.Trials, assay.Trial{Proposal: assay.Proposal{
				ID:     int64(i + 1),
				Config: assay.Config{float64(i)},
			}, State: assay.Done, Value: v})
		}
	}
	return s
}

func hopelessValues(t *testing.T, space *assay.Space, s Study, alpha float64, least int) []int {
	t.Helper()
	src, err := newSource(space, testGoal, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for k, gone := range src.hopeless(src.threshold(alpha), least, newLimit(space).cells)[0] {
		if gone {
			out = append(out, k)
		}
	}
	return out
}

// Values below alpha·max of a function to maximize, with values from 0 on, are
// discarded (the paper's example has a hump in the middle, and alpha = 0.6).
// Reference: section 3.1, Fig. 1, and Algorithm 1.
func TestHopelessPaper(t *testing.T) {
	space := line(7)
	hump := []float64{0, 2, 6, 10, 7, 5.9, 1}
	maximized := make([]float64, len(hump)) // as it is minimized
	for i, v := range hump {
		maximized[i] = -v
	}
	got, want := hopelessValues(t, space, outcomes(space, maximized...), 0.6, 1), []int{0, 1, 5, 6}
	if !slices.Equal(got, want) {
		t.Errorf("removed %v, want %v", got, want)
	}
	got, want = hopelessValues(t, space, outcomes(space, maximized...), 0.999, 1), []int{0, 1, 2, 4, 5, 6}
	if !slices.Equal(got, want) {
		t.Errorf("alpha near 1 leaves more than the best: removed %v", got)
	}
}

// "A value no job of E used is kept", and one with a single bad trial too if three
// are asked for.
func TestHopelessUntried(t *testing.T) {
	space := line(5)
	s := outcomes(space, 1, 10, math.NaN(), 10, 2)
	if got := hopelessValues(t, space, s, 0.6, 1); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("removed %v, want [1 3]", got)
	}
	if got := hopelessValues(t, space, s, 0.6, 2); got != nil {
		t.Errorf("removed %v on one trial each", got)
	}
}

// A failure is hopeless; a run that was stopped is only if that was above the
// threshold.
func TestHopelessStates(t *testing.T) {
	space := line(5)
	s := outcomes(space, 1, 10, 3, 9, 2)
	s.Trials[2].State, s.Trials[3].State, s.Trials[4].State = assay.Censored, assay.Censored, assay.Failed
	s.Trials[4].Value = math.Inf(1)
	// The threshold is 10 - 0.6·9 = 4.6.
	if got := hopelessValues(t, space, s, 0.6, 1); !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("removed %v, want [1 3 4]", got)
	}
}

// The cuts depend on the shape of the outcomes only, whatever their sign and unit.
func TestHopelessAffine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(-50, 50), 3, 12).Draw(t, "values")
		scale := float64(rapid.IntRange(1, 64).Draw(t, "scale"))
		shift := float64(rapid.IntRange(-1000, 1000).Draw(t, "shift"))
		space := line(float64(len(values)))
		a, b := make([]float64, len(values)), make([]float64, len(values))
		for i, v := range values {
			a[i], b[i] = float64(v), scale*float64(v)+shift
		}
		if slices.Min(a) == slices.Max(a) {
			return
		}
		x, _ := newSource(space, testGoal, outcomes(space, a...))
		y, _ := newSource(space, testGoal, outcomes(space, b...))
		cs := newLimit(space).cells
		// An alpha that no outcome lies on: thresholds are halfway between integers.
		steps := slices.Max(a) - slices.Min(a)
		alpha := (math.Floor(0.6*steps) + 0.5) / steps
		if alpha >= 1 {
			return
		}
		got, want := y.hopeless(y.threshold(alpha), 1, cs), x.hopeless(x.threshold(alpha), 1, cs)
		if !slices.Equal(got[0], want[0]) {
			t.Fatalf("removed %v of %v, but %v of %v", want[0], a, got[0], b)
		}
	})
}

func TestCells(t *testing.T) {
	for _, tc := range []struct {
		name  string
		param assay.Param
		set   []int
		want  []string
	}{
		{
			"values",
			assay.Param{Name: "p", Kind: assay.Ordinal, Levels: []string{"1M", "4M", "64M"}},
			[]int{0, 2},
			[]string{"1M", "64M"},
		},
		{"short range", assay.Param{Name: "p", Kind: assay.Integer, Lo: 1, Hi: 32}, []int{0, 31}, []string{"1", "32"}},
		{
			"long range",
			assay.Param{Name: "p", Kind: assay.Integer, Lo: 0, Hi: 63},
			[]int{0, 1, 15},
			[]string{"0..7", "60..63"},
		},
		{"real", assay.Param{Name: "p", Kind: assay.Real, Lo: 0, Hi: 8}, []int{2, 3}, []string{"1..2"}},
	} {
		c := newCells(tc.param)
		if got := c.texts(tc.set); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// Every value is in exactly one cell, and the text of a cell's bounds lies in it.
func TestCellsPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := assay.Param{
			Name: "p", Kind: assay.Integer, Lo: float64(rapid.IntRange(1, 50).Draw(t, "lo")),
			Step: float64(rapid.IntRange(1, 3).Draw(t, "step")), Log: rapid.Bool().Draw(t, "log"),
		}
		p.Hi = p.Lo + p.Step*float64(rapid.IntRange(0, 300).Draw(t, "n"))
		c := newCells(p)
		count := make([]int, c.n)
		for i := range p.Count() {
			k := c.of(p.At(i))
			if k < 0 || k >= c.n {
				t.Fatalf("value %v is in cell %d of %d", p.At(i), k, c.n)
			}
			count[k]++
		}
		for k, n := range count {
			if !c.binned {
				if n != 1 {
					t.Fatalf("cell %d has %d values", k, n)
				}
				continue
			}
			if n == 0 {
				continue
			}
			lo, hi := c.bounds(k, k)
			if c.of(lo) != k || c.of(hi) != k || int((hi-lo)/p.Step)+1 != n {
				t.Fatalf("cell %d of %d values is written %v..%v", k, n, lo, hi)
			}
		}
	})
}
