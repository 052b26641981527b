package model

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// conditional is the value of the game: the prediction at x if only the features
// of the set are known.
func conditional(t Tree, i int32, x []float64, known uint) float64 {
	n := t[i]
	switch {
	case n.Leaf():
		return n.Value
	case known>>n.Feature&1 == 1 && x[n.Feature] <= n.Threshold:
		return conditional(t, n.Left, x, known)
	case known>>n.Feature&1 == 1:
		return conditional(t, n.Right, x, known)
	}
	l, r := t.fractions(n)
	return l*conditional(t, n.Left, x, known) + r*conditional(t, n.Right, x, known)
}

// bruteShap is the definition of Shapley values: the mean contribution of feature j over the orders
// in which features become known.
func bruteShap(e Ensemble, x []float64) (phi []float64, base float64) {
	d := len(x)
	value := func(known uint) float64 {
		v := e.Bias
		for _, t := range e.Trees {
			v += e.Scale * conditional(t, 0, x, known)
		}
		return v
	}
	factorial := func(n int) float64 { return math.Gamma(float64(n + 1)) }
	phi = make([]float64, d)
	for j := range phi {
		for set := range uint(1) << d {
			if set>>j&1 == 1 {
				continue
			}
			k := bits.OnesCount(set)
			w := factorial(k) * factorial(d-k-1) / factorial(d)
			phi[j] += w * (value(set|1<<j) - value(set))
		}
	}
	return phi, value(0)
}

func TestShapIsTheShapleyValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		d := rapid.IntRange(1, 5).Draw(t, "d")
		depth := rapid.IntRange(0, 7).Draw(t, "depth") // features come up again on a path
		e := Ensemble{Bias: 2, Scale: 0.5}
		for range rapid.IntRange(1, 3).Draw(t, "trees") {
			tree := randomTree(rng, d, depth)
			if rng.IntN(3) == 0 { // a node that no example reached
				for i := range tree {
					if rng.IntN(4) == 0 {
						tree[i].Cover = 0
					}
				}
			}
			e.Trees = append(e.Trees, tree)
		}
		x := make([]float64, d)
		for j := range x {
			x[j] = float64(rng.IntN(6))
		}
		phi, base := e.Shap(x)
		want, wantBase := bruteShap(e, x)
		if !(math.Abs(base-wantBase) < 1e-9) {
			t.Fatalf("base: got %v, want %v", base, wantBase)
		}
		for j := range phi {
			if !(math.Abs(phi[j]-want[j]) < 1e-8) {
				t.Fatalf("feature %d: got %v, want %v of %+v at %v", j, phi, want, e, x)
			}
		}
	})
}

// Additivity: base + Σ phi is the prediction, for boosted trees and forests, at
// training rows and elsewhere.
func TestShapAddsUp(t *testing.T) {
	d := mixedData(150, 1)
	exact := d
	exact.Censored = nil
	aft, err := AFT{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	boost, err := Boost{MaxDepth: 9}.Fit(exact)
	if err != nil {
		t.Fatal(err)
	}
	forest, err := Forest{Trees: 20}.Fit(exact)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Trees{aft.(Trees), boost.(Trees), forest.(Trees)} {
		e := p.Ensemble()
		for _, x := range append(mixedData(20, 2).X, d.X[:20]...) {
			phi, base := e.Shap(x)
			sum := base
			for _, v := range phi {
				sum += v
			}
			if want := e.Predict(x); !(math.Abs(sum-want) < 1e-9*max(1, math.Abs(want))) {
				t.Fatalf("%T at %v: base and phi sum to %v, prediction %v", p, x, sum, want)
			}
		}
	}
}

func TestImportance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	d := mixedData(300, 1)
	d.Censored = nil
	for i, x := range d.X {
		d.Y[i] = 10*x[3] + 2*x[20] + 0.01*rng.NormFloat64()
	}
	p, err := Boost{}.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	got := p.(Trees).Ensemble().Importance(d.X[:100])
	// |10·(u-1/2)| has the mean 2.5, |2·(b-1/2)| the mean 1.
	if !(math.Abs(got[3]-2.5) < 0.3 && math.Abs(got[20]-1) < 0.15) {
		t.Errorf("got %v for feature 3, want about 2.5, and %v for 20, want about 1", got[3], got[20])
	}
	for j, v := range got {
		if j != 3 && j != 20 && v > 0.15 {
			t.Errorf("feature %d, which does not matter, has %v", j, v)
		}
	}
}

func BenchmarkShap(b *testing.B) {
	d := mixedData(100, 1)
	p, err := AFT{}.Fit(d)
	if err != nil {
		b.Fatal(err)
	}
	e := p.(Trees).Ensemble()
	for b.Loop() {
		e.Shap(d.X[0])
	}
}
