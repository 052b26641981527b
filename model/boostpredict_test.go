package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

// randomTree returns a tree over d features of at most the given depth.
func randomTree(rng *rand.Rand, d, depth int) Tree {
	t := Tree{{}}
	var fill func(at, depth int)
	fill = func(at, depth int) {
		if depth == 0 || rng.IntN(4) == 0 {
			t[at] = Node{Feature: -1, Value: rng.NormFloat64(), Cover: float64(1 + rng.IntN(9))}
			return
		}
		l := len(t)
		t = append(t, Node{}, Node{})
		fill(l, depth-1)
		fill(l+1, depth-1)
		cover := t[l].Cover + t[l+1].Cover
		t[at] = Node{
			Feature: int32(rng.IntN(d)), Left: int32(l), Right: int32(l + 1), Threshold: float64(rng.IntN(5)),
			Value: (t[l].Value*t[l].Cover + t[l+1].Value*t[l+1].Cover) / cover, Cover: cover,
		}
	}
	fill(0, depth)
	return t
}

// Blocks of rows, rows at the end of a batch, deep trees that are not laid out in full and single
// leaves all predict the values of the trees.
func TestBoostedBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		depth := rapid.IntRange(0, maxFlatDepth+2).Draw(t, "depth")
		n := rapid.IntRange(0, 11).Draw(t, "n")
		const d = 3
		var trees []Tree
		for range rapid.IntRange(0, 5).Draw(t, "trees") {
			trees = append(trees, randomTree(rng, d, depth))
		}
		b := newBoosted(trees, 1.5)
		X, out := make([][]float64, n), make([]assay.Prediction, n)
		for i := range X {
			X[i] = []float64{float64(rng.IntN(6)), float64(rng.IntN(6)), math.Inf(1 - 2*rng.IntN(2))}
		}
		b.PredictBatch(X, out)
		for i, x := range X {
			want := 1.5
			var sum float64
			for _, tree := range trees {
				sum += tree.Predict(x)
			}
			want += sum
			if out[i].Mean != want || b.Predict(x).Mean != want || b.Ensemble().Predict(x) != want {
				t.Fatalf("row %d: batch %v, single %v, ensemble %v, want %v",
					i, out[i].Mean, b.Predict(x).Mean, b.Ensemble().Predict(x), want)
			}
		}
	})
}

func TestFlatTreeNaNGoesRight(t *testing.T) {
	b := newBoosted([]Tree{stump}, 0)
	X := make([][]float64, 4)
	for i := range X {
		X[i] = []float64{math.NaN(), math.NaN()}
	}
	out := make([]assay.Prediction, len(X))
	b.PredictBatch(X, out)
	for i, p := range out {
		if p.Mean != 30 {
			t.Errorf("row %d: got %v, want 30 as the tree says", i, p.Mean)
		}
	}
}
