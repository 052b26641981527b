package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBoostConformance(t *testing.T) {
	assaytest.TestLearner(t, func() assay.Learner { return Boost{} }, assaytest.LearnerOptions{})
	assaytest.TestLearner(t, func() assay.Learner {
		return Boost{Rounds: 40, MaxDepth: 12, Lambda: -1, MinChildWeight: -1}
	}, assaytest.LearnerOptions{})
}

func TestBoostOptionsPanic(t *testing.T) {
	for _, b := range []Boost{
		{Rounds: -1},
		{Rate: -0.1},
		{Rate: 1.5},
		{Rate: math.NaN()},
		{MaxDepth: -1},
		{Gamma: -1},
		{Lambda: math.NaN()},
		{MinChildWeight: math.NaN()},
	} {
		fitPanics(t, b)
	}
}

// With one tree, a rate of 1, λ = 0 and depth 1 boosting is the least-squares
// stump, which is worked out by hand here.
func TestBoostStump(t *testing.T) {
	d := assay.Data{
		X: [][]float64{{1, 7}, {2, 7}, {4, 7}, {8, 7}},
		Y: []float64{10, 12, 30, 40},
	}
	p, err := Boost{Rounds: 1, Rate: 1, MaxDepth: 1, Lambda: -1}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ x, want float64 }{
		{-5, 11}, {1, 11}, {2.999, 11}, {3, 35}, {4, 35}, {100, 35},
	} {
		if got := p.Predict([]float64{c.x, 0}); !(math.Abs(got.Mean-c.want) <= 1e-5) || !math.IsNaN(got.Std) {
			t.Errorf("x = %v: got %v, want %v with no deviation", c.x, got, c.want)
		}
	}
}

// λ shrinks a leaf of n rows by n/(n+λ).
func TestBoostLambda(t *testing.T) {
	d := assay.Data{X: [][]float64{{0}, {0}, {1}, {1}}, Y: []float64{-1, -1, 1, 1}}
	p, err := Boost{Rounds: 1, Rate: 0.5, Lambda: 3}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Predict([]float64{1}).Mean, 0.5*2.0/5; !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A split of no gain stays if a good one is below it: y is the parity of two
// features, so that the first split gains nothing. Greedy search does not find
// it, but a tilt of the first feature leads there; Gamma then prunes the split
// only if the one below is pruned too.
func TestBoostGammaPrunesFromTheLeaves(t *testing.T) {
	var d assay.Data
	for i := range 40 {
		a, b := float64(i&1), float64(i>>1&1)
		d.X = append(d.X, []float64{a, b})
		d.Y = append(d.Y, a+b-2*a*b+0.2*a)
	}
	for _, c := range []struct {
		gamma  float64
		leaves int
	}{{0, 4}, {2, 4}, {1e6, 1}} {
		p, err := Boost{Rounds: 1, MaxDepth: 2, Gamma: c.gamma}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		tree := p.(Trees).Ensemble().Trees[0]
		leaves := 0
		for _, n := range tree {
			if n.Leaf() {
				leaves++
			}
		}
		if leaves != c.leaves {
			t.Errorf("gamma %v: got %d leaves, want %d: %+v", c.gamma, leaves, c.leaves, tree)
		}
		if c.leaves == 4 {
			if root := tree[0]; root.Feature != 0 {
				t.Errorf("gamma %v: root splits feature %d, want 0", c.gamma, root.Feature)
			}
		}
	}
}

func TestBoostUnitDoesNotMatter(t *testing.T) {
	d := mixedData(60, 3)
	d.Censored = nil
	p, err := Boost{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	const factor, shift = 1e15, 7e14
	e := assay.Data{X: d.X}
	for _, y := range d.Y {
		e.Y = append(e.Y, y*factor+shift)
	}
	q, err := Boost{}.Fit(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range mixedData(20, 4).X {
		got, want := q.Predict(x).Mean, p.Predict(x).Mean*factor+shift
		if !(math.Abs(got/want-1) <= 1e-5) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestBoostHugeNumbers(t *testing.T) {
	const big = 0.5 * math.MaxFloat64
	for _, y := range [][]float64{{big, -big, big, -big}, {big, big, big, -big}, {big, big, big, big}} {
		d := assay.Data{X: [][]float64{{0}, {1}, {-math.MaxFloat64}, {math.MaxFloat64}}, Y: y}
		p, err := Boost{}.Fit(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range d.X {
			if m := p.Predict(x).Mean; math.IsNaN(m) || math.IsInf(m, 0) {
				t.Errorf("y = %v, x = %v: got %v", y, x, m)
			}
		}
	}
}

func TestBoostNeedsExactOutcomes(t *testing.T) {
	d := assay.Data{X: [][]float64{{0}, {1}}, Y: []float64{1, 2}, Censored: []bool{false, true}}
	if _, err := (Boost{}).Fit(d); !errors.Is(err, assay.ErrCensored) {
		t.Errorf("got %v, want ErrCensored", err)
	}
}

// dumbTree grows a tree by the definition: every split of every node is
// evaluated afresh from all rows.
func dumbTree(x [][]float64, rows []int, gh []gradient, o Boost, depth int) Tree {
	sum := func(keep func(i int) bool) (s gradient) {
		for _, i := range rows {
			if keep(i) {
				s.g += gh[i].g
				s.h += gh[i].h
			}
		}
		return s
	}
	// The gain has the roundings of float32, which are part of the rule: where both children have the value of
	// their parent it is 0 but for them.
	term := func(s gradient) float32 { return float32(s.g*s.g) / float32(s.h+o.Lambda) }
	all := sum(func(int) bool { return true })
	leaf := Node{Feature: -1, Cover: all.h}
	if all.h >= o.MinChildWeight {
		leaf.Value = float64(float32(-all.g/(all.h+o.Lambda)) * float32(o.Rate))
	}
	best, feature, threshold := float32(1e-6), -1, 0.0
	for f := range x[0] {
		for _, i := range rows {
			hi, lo := x[i][f], math.Inf(-1) // x < hi goes left
			for _, k := range rows {
				if v := x[k][f]; v < hi {
					lo = max(lo, v)
				}
			}
			l := sum(func(k int) bool { return x[k][f] < hi })
			r := sum(func(k int) bool { return x[k][f] >= hi })
			if math.IsInf(lo, -1) || l.h < o.MinChildWeight || r.h < o.MinChildWeight {
				continue
			}
			mid := below(lo, hi)
			gain := term(l) + term(r) - term(all)
			// Equal gains of one feature: the highest threshold.
			if gain > best || feature == f && gain == best && mid > threshold {
				best, feature, threshold = gain, f, mid
			}
		}
	}
	if depth == 0 || feature < 0 {
		return Tree{leaf}
	}
	var left, right []int
	for _, i := range rows {
		if x[i][feature] <= threshold {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	t := Tree{{Feature: int32(feature), Threshold: threshold}, {}, {}}
	place := func(sub Tree, at int32) {
		off := int32(len(t)) - 1
		for k, n := range sub {
			if !n.Leaf() {
				n.Left, n.Right = n.Left+off, n.Right+off
			}
			if k == 0 {
				t[at] = n
			} else {
				t = append(t, n)
			}
		}
	}
	place(dumbTree(x, left, gh, o, depth-1), 1)
	place(dumbTree(x, right, gh, o, depth-1), 2)
	t[0].Left, t[0].Right = 1, 2
	l, r := t[1], t[2]
	t[0].Cover = l.Cover + r.Cover
	t[0].Value = (l.Value*l.Cover + r.Value*r.Cover) / t[0].Cover
	return t
}

// TestGrowOracle compares the grower with dumbTree. Gradients are small
// integers, so that sums are exact, and hessians spread, so that gains rarely
// tie between features without being equal.
// growsAsDumb fails t unless the tree on n rows of d features, drawn with the seed, is the dumb one's. The gradients
// are such that their sums are exact.
func growsAsDumb(t rapid.TB, n, d, levels int, seed uint64, o Boost) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	x := make([][]float64, n)
	gh := make([]gradient, n)
	for i := range x {
		x[i] = make([]float64, d)
		for f := range x[i] {
			x[i][f] = float64(rng.IntN(levels))
		}
		gh[i] = gradient{float64(rng.IntN(41) - 20), 0.25 * float64(1+rng.IntN(8))}
	}
	o = o.withDefaults()
	g := newGrower(newColumns(x), o)
	copy(g.gh, gh)
	margin := make([]float32, n)
	got := g.grow(margin)
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	want := dumbTree(x, rows, gh, o, o.MaxDepth)
	// The numbering of nodes differs: compare the predictions of the trees.
	for i := range x {
		a, b := got[got.Leaf(x[i])], want[want.Leaf(x[i])]
		if a != b || float64(margin[i]) != b.Value {
			t.Fatalf("row %d: got leaf %+v and margin %v, want %+v\n%+v\n%+v", i, a, margin[i], b, got, want)
		}
	}
	if len(got) != len(want) || !(math.Abs(got[0].Value-want[0].Value) <= 1e-9) {
		t.Fatalf("got %d nodes, want %d\n%s", len(got), len(want), cmp.Diff(want, got))
	}
}

func TestGrowOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(t, "n")
		d := rapid.IntRange(1, 4).Draw(t, "d")
		levels := rapid.IntRange(1, 8).Draw(t, "levels")
		growsAsDumb(t, n, d, levels, rapid.Uint64().Draw(t, "seed"), Boost{
			MaxDepth:       rapid.IntRange(1, 4).Draw(t, "depth"),
			Lambda:         rapid.SampledFrom([]float64{-1, 0.5, 0}).Draw(t, "lambda"),
			MinChildWeight: rapid.SampledFrom([]float64{-1, 2, 0}).Draw(t, "weight"),
		})
	})
}

// TestGrowEqualValues is of data where a node of gradients 9, 18 and weights 2.5, 5 splits into two of its own value:
// the gain of float32 alone decides.
func TestGrowEqualValues(t *testing.T) {
	growsAsDumb(t, 10, 2, 2, 0x1737, Boost{MaxDepth: 2, Lambda: -1, MinChildWeight: -1})
}

func TestColumnsSubset(t *testing.T) {
	x := mixedData(50, 5).X
	rows := []int{0, 3, 4, 9, 17, 30, 31, 49}
	var sub [][]float64
	for _, r := range rows {
		sub = append(sub, x[r])
	}
	got, want := newColumns(x).subset(rows), newColumns(sub)
	if d := cmp.Diff(want, got, cmp.AllowUnexported(columns{})); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestBelowSeparates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64().Draw(t, "lo")
		hi := rapid.OneOf(rapid.Float64(), rapid.Just(math.Nextafter(lo, math.Inf(1)))).Draw(t, "hi")
		if hi < lo {
			lo, hi = hi, lo
		}
		if lo == hi || math.IsInf(hi, 1) {
			return
		}
		if got := below(lo, hi); !(lo <= got && got < hi) {
			t.Errorf("below(%v, %v) = %v", lo, hi, got)
		}
	})
	for _, c := range []struct{ lo, hi, want float64 }{{0, 1, 0.5}, {3, 4, 3.5}, {3, 5, 4}} {
		if got := below(c.lo, c.hi); got >= c.want || math.Nextafter(got, 9) != c.want {
			t.Errorf("below(%v, %v) = %v, want just below %v", c.lo, c.hi, got, c.want)
		}
	}
}
