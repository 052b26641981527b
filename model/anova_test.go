package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// gridAxes are three axes of 2 features: 4 values, an interval that stands for
// them in the oracle, and a one-hot parameter of three levels.
func gridAxes() []Axis {
	return []Axis{
		{Features: []int{0}, Points: [][]float64{{0}, {1}, {2}, {3}}},
		{Features: []int{1}, Lo: 0, Hi: 6},
		{Features: []int{2, 3, 4}, Points: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	}
}

// bruteMainEffects evaluates the definition on all points of the domain.
// Thresholds are whole numbers, so the interval is six equal points.
func bruteMainEffects(t Tree) (effects []float64, total float64) {
	sizes := [3]int{4, 6, 3}
	predict := func(i [3]int) float64 {
		x := []float64{float64(i[0]), float64(i[1]) + 0.5, 0, 0, 0}
		x[2+i[2]] = 1
		return t.Predict(x)
	}
	const n = 4 * 6 * 3
	each := func(do func(i [3]int)) {
		for a := range sizes[0] {
			for b := range sizes[1] {
				for c := range sizes[2] {
					do([3]int{a, b, c})
				}
			}
		}
	}
	var mean float64
	each(func(i [3]int) { mean += predict(i) / n })
	each(func(i [3]int) { total += (predict(i) - mean) * (predict(i) - mean) / n })
	effects = make([]float64, 3)
	for axis, size := range sizes {
		for k := range size {
			var marginal float64
			each(func(i [3]int) {
				if i[axis] == k {
					marginal += predict(i) / float64(n/size)
				}
			})
			effects[axis] += (marginal - mean) * (marginal - mean) / float64(size)
		}
	}
	return effects, total
}

func TestMainEffectsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		e := Ensemble{Scale: 1}
		want := make([]float64, 3)
		trees := rapid.IntRange(1, 4).Draw(t, "trees")
		varied := 0
		for range trees {
			tree := randomTree(rng, 5, rapid.IntRange(0, 6).Draw(t, "depth"))
			for i := range tree {
				if tree[i].Feature >= 2 {
					tree[i].Threshold = float64(rng.IntN(2)) - 0.5
				}
			}
			e.Trees = append(e.Trees, tree)
			effects, total := bruteMainEffects(tree)
			if total > 1e-15 {
				varied++
				for i, v := range effects {
					want[i] += v / total
				}
			}
		}
		got := e.MainEffects(gridAxes())
		for i := range want {
			if w := want[i] / float64(max(varied, 1)); !(math.Abs(got[i]-w) < 1e-9) {
				t.Fatalf("axis %d: got %v, want %v", i, got[i], w)
			}
		}
	})
}

func TestMainEffectsPanics(t *testing.T) {
	for name, axes := range map[string][]Axis{
		"no axis of a feature": {{Features: []int{0}, Hi: 1}},
		"two axes of one":      {{Features: []int{0}, Hi: 1}, {Features: []int{1}, Hi: 1}, {Features: []int{1}, Hi: 1}},
		"empty interval":       {{Features: []int{0}, Hi: 1}, {Features: []int{1}, Lo: 1, Hi: 1}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Ensemble{Trees: []Tree{stump}, Scale: 1}.MainEffects(axes)
		}()
	}
}

// An additive function of known variances: y = 3u + v over the unit square, with
// u continuous and v one of two levels, and a third parameter without effect. The
// variances are 9/12 and 1/4.
func TestMainEffectsOfAForest(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "u", Kind: assay.Real, Lo: 0, Hi: 5},
		{Name: "v", Kind: assay.Categorical, Levels: []string{"a", "b"}},
		{Name: "w", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}},
		{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	axes := SpaceAxes(space)
	third := func(k int) float64 { return space.Params[3].ToUnit(float64(k)) }
	want := []Axis{
		{Features: []int{0}, Hi: 1},
		{Features: []int{1}, Points: [][]float64{{0}, {1}}},
		{Features: []int{2, 3, 4}, Points: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
		{Features: []int{5}, Points: [][]float64{{third(1)}, {third(2)}, {third(3)}, {third(4)}}},
	}
	if d := cmp.Diff(want, axes); d != "" {
		t.Fatalf("want -, got +:\n%s", d)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	var d assay.Data
	for range 800 {
		c, _ := space.Draw(rng)
		x := space.Encode(c)
		d.X = append(d.X, x)
		d.Y = append(d.Y, 3*x[0]+x[1])
	}
	p, err := Forest{Trees: 20}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	got := p.(Trees).Ensemble().MainEffects(axes)
	for i, w := range []float64{0.75, 0.25, 0, 0} {
		if !(math.Abs(got[i]-w) <= 0.02) {
			t.Errorf("parameter %d: got a share of %v, want %v", i, got[i], w)
		}
	}
}
