package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

// Every node of a grown tree is checked against a slow definition: its cover and value are the
// cover and value of the draws that reach it, no split gains more than the one it has, its
// threshold is a cut between the two sides, and a leaf cannot be split.
func TestForestTreeOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := table(rapid.IntRange(1, 60).Draw(t, "n"), rapid.IntRange(1, 7).Draw(t, "d"), rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "coarse") { // ties everywhere
			for i, x := range d.X {
				d.Y[i] = math.Round(d.Y[i])
				for j := range x {
					x[j] = math.Round(3 * x[j])
				}
			}
		}
		cols := rankColumnsOf(d.X)
		g := newForestGrower(cols, d.Y)
		g.minLeaf = rapid.IntRange(1, 4).Draw(t, "leaf")
		g.tries = len(cols)
		g.rng = rand.NewPCG(rapid.Uint64().Draw(t, "draws"), 0)
		g.grow()
		p := &forest{columns: cols, offset: g.offset, half: g.half}
		tree := p.tree(g.nodes, g.values, g.covers)
		weight := make([]float64, len(d.Y))
		rows := make([]int, len(d.Y))
		var total float64
		for i := range weight {
			weight[i], rows[i] = float64(g.draws[i]&drawMask), i
			total += weight[i]
		}
		if total != float64(len(d.Y)) {
			t.Fatalf("got %v draws of %d examples", total, len(d.Y))
		}
		o := treeOracle{t, d, weight, float64(g.minLeaf), tree, p.offset}
		o.check(0, slices.DeleteFunc(rows, func(i int) bool { return weight[i] == 0 }))
	})
}

type treeOracle struct {
	t       *rapid.T
	d       assay.Data
	weight  []float64
	minLeaf float64
	tree    Tree
	offset  float64
}

func (o treeOracle) sums(rows []int) (w, mean, sse float64) {
	for _, i := range rows {
		w += o.weight[i]
		mean += o.weight[i] * o.d.Y[i]
	}
	mean /= w
	for _, i := range rows {
		sse += o.weight[i] * (o.d.Y[i] - mean) * (o.d.Y[i] - mean)
	}
	return w, mean, sse
}

// split returns the rows on both sides of a threshold.
func (o treeOracle) split(rows []int, f int, threshold float64) (l, r []int) {
	for _, i := range rows {
		if o.d.X[i][f] <= threshold {
			l = append(l, i)
		} else {
			r = append(r, i)
		}
	}
	return l, r
}

// best returns the least squared error after a split, +Inf without a split.
func (o treeOracle) best(rows []int) float64 {
	least := math.Inf(1)
	for f := range o.d.X[0] {
		for _, i := range rows {
			l, r := o.split(rows, f, o.d.X[i][f])
			if len(l) == 0 || len(r) == 0 {
				continue
			}
			wl, _, el := o.sums(l)
			wr, _, er := o.sums(r)
			if wl >= o.minLeaf && wr >= o.minLeaf {
				least = min(least, el+er)
			}
		}
	}
	return least
}

func (o treeOracle) check(at int, rows []int) {
	n := o.tree[at]
	w, mean, sse := o.sums(rows)
	if n.Cover != w {
		o.t.Fatalf("node %d: cover %v, want %v", at, n.Cover, w)
	}
	if !near(o.offset+n.Value, mean, 1e-9) {
		o.t.Fatalf("node %d: value %v, want %v", at, o.offset+n.Value, mean)
	}
	least := o.best(rows)
	if n.Leaf() {
		if sse > 1e-9 && !math.IsInf(least, 1) {
			o.t.Fatalf("node %d is a leaf of outcomes with squared error %v, which a split would reduce to %v", at, sse, least)
		}
		return
	}
	if n.Left <= int32(at) || n.Right != n.Left+1 {
		o.t.Fatalf("node %d: children %d and %d", at, n.Left, n.Right)
	}
	l, r := o.split(rows, int(n.Feature), n.Threshold)
	if len(l) == 0 || len(r) == 0 {
		o.t.Fatalf("node %d: an empty side", at)
	}
	wl, _, el := o.sums(l)
	wr, _, er := o.sums(r)
	if wl < o.minLeaf || wr < o.minLeaf {
		o.t.Fatalf("node %d: %v and %v draws, want at least %v", at, wl, wr, o.minLeaf)
	}
	if el+er > least+1e-7*(1+sse) {
		o.t.Fatalf("node %d: squared error %v after the split, want %v", at, el+er, least)
	}
	o.check(int(n.Left), l)
	o.check(int(n.Right), r)
}

// The interleaved walk over ranks, its general form and the plain trees agree.
func TestForestWalks(t *testing.T) {
	for _, dim := range []int{1, 5, 63, 64, 65, 90} {
		d := table(80, dim, uint64(dim))
		p := mustFit(t, Forest{Trees: 15, Seed: 3}, d).(*forest)
		e := p.Ensemble()
		X := slices.Concat(d.X, table(101, dim, 2).X)
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0.5} {
			X = append(X, slices.Repeat([]float64{v}, dim))
		}
		out := make([]assay.Prediction, len(X))
		p.PredictBatch(X, out)
		for i, x := range X {
			var sum, squares float64
			for _, tree := range e.Trees {
				y := tree.Predict(x)
				sum += y / float64(len(e.Trees))
				squares += y * y / float64(len(e.Trees))
			}
			if want := e.Predict(x); !near(out[i].Mean, want, 1e-12) || !near(want, e.Bias+sum, 1e-12) {
				t.Errorf("%d features, row %d: mean %v, want %v", dim, i, out[i].Mean, want)
			}
			if want := math.Sqrt(max(0, squares-sum*sum)); !near(out[i].Std, want, 1e-7) {
				t.Errorf("%d features, row %d: std %v, want %v", dim, i, out[i].Std, want)
			}
		}
	}
}

func TestForestManyRows(t *testing.T) {
	d := table(30, 3, 1)
	p := mustFit(t, Forest{Trees: 5}, d)
	X := make([][]float64, 2*forestBlock+3)
	for i := range X {
		X[i] = d.X[i%len(d.X)]
	}
	out := make([]assay.Prediction, len(X))
	assay.PredictAll(p, X, out)
	for i := range X {
		if out[i] != out[i%len(d.X)] {
			t.Fatalf("row %d: got %+v, want %+v", i, out[i], out[i%len(d.X)])
		}
	}
}

// The bucketed search agrees with sort.Search, whatever the values.
func TestQuantise(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 1), rapid.Float64Range(1e-300, 1e-290),
		rapid.Map(rapid.IntRange(0, 9), func(i int) float64 { return float64(i) }),
		rapid.SampledFrom([]float64{math.MaxFloat64, -math.MaxFloat64, 5e-324, 0, 1, math.Nextafter(1, 2)}))
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(number, 2, 60).Draw(t, "values")
		X := make([][]float64, len(values))
		for i, v := range values {
			X[i] = []float64{v}
		}
		cols := rankColumnsOf(X)
		if len(cols) == 0 {
			return // constant
		}
		c := cols[0]
		sorted := slices.Compact(slices.Sorted(slices.Values(values)))
		if len(c.cuts) != len(sorted)-1 || !slices.IsSorted(c.cuts) {
			t.Fatalf("cuts %v of values %v", c.cuts, sorted)
		}
		for i, v := range values {
			if want, _ := slices.BinarySearch(sorted, v); int(c.rank[i]) != want || int(c.quantise(v)) != want {
				t.Fatalf("%v: rank %d, quantised %d, want %d", v, c.rank[i], c.quantise(v), want)
			}
		}
		for _, v := range append(rapid.SliceOf(number).Draw(t, "others"), math.Inf(1), math.Inf(-1), math.NaN()) {
			want := sort.Search(len(c.cuts), func(k int) bool { return v <= c.cuts[k] })
			if got := int(c.quantise(v)); got != want {
				t.Fatalf("%v among %v: got %d, want %d", v, c.cuts, got, want)
			}
		}
	})
}

// Clustered values share a bucket, and are found by bisection.
func TestQuantiseClustered(t *testing.T) {
	var X [][]float64
	for i := range 500 {
		X = append(X, []float64{math.Exp(float64(i))})
	}
	c := rankColumnsOf(X)[0]
	for i, x := range X {
		if got := int(c.quantise(x[0])); got != i {
			t.Errorf("quantise(%v) = %d, want %d", x[0], got, i)
		}
	}
}

// A split that equals another is chosen as often: three copies of a feature
// share its splits.
func TestForestTiesAreFair(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var d assay.Data
	for range 40 {
		x, b := rng.Float64(), float64(rng.IntN(2))
		d.X, d.Y = append(d.X, []float64{x, b, x, b, x, b}), append(d.Y, x+b)
	}
	for _, f := range []Forest{{Trees: 200}, {Trees: 200, MaxFeatures: 2}} {
		var splits [6]float64
		for _, tree := range mustFit(t, f, d).(Trees).Ensemble().Trees {
			for _, n := range tree {
				if !n.Leaf() {
					splits[n.Feature]++
				}
			}
		}
		for j := range splits {
			mean := (splits[j] + splits[(j+2)%6] + splits[(j+4)%6]) / 3
			// Five standard deviations of some 200 (binary) or 2,000 splits each.
			if !(math.Abs(splits[j]-mean) <= 5*math.Sqrt(mean)) {
				t.Errorf("%+v: splits %v; those of copies are not alike", f, splits)
			}
		}
	}
}

// An exclusive or has no split that gains anything at the root.
func TestForestExclusiveOr(t *testing.T) {
	var d assay.Data
	for i := range 64 {
		a, b := float64(i&1), float64(i>>1&1)
		d.X, d.Y = append(d.X, []float64{a, b}), append(d.Y, float64(int(a)^int(b)))
	}
	p := mustFit(t, Forest{}, d)
	for i := range 4 {
		if got := p.Predict(d.X[i]); got.Mean != d.Y[i] || got.Std != 0 {
			t.Errorf("at %v: got %+v, want %v", d.X[i], got, d.Y[i])
		}
	}
}

// Outcomes of any magnitude are learnt alike.
func TestForestOutcomeScale(t *testing.T) {
	a := table(50, 4, 1)
	p := mustFit(t, Forest{Trees: 20}, a)
	for _, scale := range []float64{1e-300, 1e300, 3} {
		b := assay.Data{X: a.X}
		for _, y := range a.Y {
			b.Y = append(b.Y, scale*y)
		}
		q := mustFit(t, Forest{Trees: 20}, b)
		for _, x := range a.X {
			u, v := p.Predict(x), q.Predict(x)
			if !near(v.Mean/scale, u.Mean, 1e-6) || !near(v.Std/scale, u.Std, 1e-6) {
				t.Errorf("outcomes times %v: got %+v, want %+v", scale, v, u)
			}
		}
	}
	extreme := assay.Data{X: [][]float64{{0}, {1}, {2}}, Y: []float64{-math.MaxFloat64, math.MaxFloat64, 0}}
	q := mustFit(t, Forest{}, extreme).Predict([]float64{1})
	if math.IsNaN(q.Mean) || math.IsInf(q.Mean, 0) || math.IsInf(q.Std, 0) {
		t.Errorf("the greatest outcomes: got %+v", q)
	}
}

// More examples than 16 bits can number are sampled.
func TestForestManyExamples(t *testing.T) {
	var d assay.Data
	rng := rand.New(rand.NewPCG(1, 1))
	for range maxForestRows + 5000 {
		x := []float64{rng.Float64(), float64(rng.IntN(2))}
		d.X, d.Y = append(d.X, x), append(d.Y, x[0]+x[1])
	}
	p := mustFit(t, Forest{Trees: 2, MinLeaf: 50}, d)
	for i, x := range d.X[:100] {
		if got := p.Predict(x).Mean; !near(got, d.Y[i], 0.02) {
			t.Errorf("at %v: got %v, want %v", x, got, d.Y[i])
		}
	}
}

// A seed is all that two forests differ by.
func TestForestSeed(t *testing.T) {
	d := table(40, 4, 1)
	x := table(1, 4, 2).X[0]
	a := mustFit(t, Forest{Trees: 10, Seed: 1}, d).Predict(x)
	if b := mustFit(t, Forest{Trees: 10, Seed: 1}, d).Predict(x); a != b {
		t.Errorf("one seed: got %+v and %+v", a, b)
	}
	if b := mustFit(t, Forest{Trees: 10, Seed: 2}, d).Predict(x); a == b {
		t.Errorf("two seeds: both %+v", a)
	}
}

func TestForestNegativeOption(t *testing.T) {
	fitPanics(t, Forest{Trees: -1})
}
