package prune

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
)

// An equal earlier study has the optimum found at once.
func TestTransferEqual(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return 1 + math.Abs(c[0]-7) + math.Abs(c[1]-2) + 3*c[2] }
	k := NewKnowledge(space, testGoal, []Study{earlier("same", space, 2000, 1, f)})
	tr := NewTransfer(search.NewRandom(space, 1), k, TransferOptions{})
	if told := tell(t, tr, 1, f); told[0].Value != 1 {
		t.Errorf("the first proposal has value %v, want the optimum 1", told[0].Value)
	}
}

// bestAfter returns the mean over seeds of the best of n trials.
func bestAfter(t *testing.T, n int, f func(assay.Config) float64, build func(seed uint64) assay.Searcher) float64 {
	t.Helper()
	seeds := testbed.Times(4, 20)
	var sum float64
	for seed := range uint64(seeds) {
		best := math.Inf(1)
		for _, trial := range tell(t, search.Cache(build(seed)), n, f) {
			best = min(best, trial.Value)
		}
		sum += best / float64(seeds)
	}
	return sum
}

// A shifted optimum is found sooner with the earlier studies than without.
// Earlier studies that contradict it cost little: at most the best of one trial
// in four less.
func TestTransferHelps(t *testing.T) {
	t.Parallel()
	space := must(assay.NewSpace([]assay.Param{
		{Name: "i", Kind: assay.Integer, Lo: 0, Hi: 15}, {
			Name: "j", Kind: assay.Integer, Lo: 0,
			Hi: 15,
		}, {Name: "k", Kind: assay.Integer, Lo: 0, Hi: 15},
	}))
	bowlAt := func(x, y, z float64) func(assay.Config) float64 {
		return func(c assay.Config) float64 {
			return 1 + (c[0]-x)*(c[0]-x) + 2*(c[1]-y)*(c[1]-y) + (c[2]-z)*(c[2]-z)
		}
	}
	f := bowlAt(5, 9, 3)
	similar := NewKnowledge(space, testGoal, []Study{
		earlier("a", space, 150, 1, bowlAt(4, 8, 3)), earlier("b", space, 150, 2, bowlAt(6, 10, 4)), earlier("c",
			space, 150, 3, bowlAt(12, 1, 12)),
	})
	contrary := NewKnowledge(space, testGoal, []Study{
		earlier("a", space, 150, 1, func(c assay.Config) float64 { return 1000 - f(c) }), earlier("b", space, 150,
			2, func(c assay.Config) float64 { return 2000 - f(c) }),
	})
	random := func(seed uint64) assay.Searcher { return search.NewRandom(space, seed) }
	with := func(k *Knowledge) func(seed uint64) assay.Searcher {
		return func(seed uint64) assay.Searcher { return NewTransfer(random(seed), k, TransferOptions{Seed: seed}) }
	}
	without := bestAfter(t, 20, f, random)
	if got := bestAfter(t, 20, f, with(similar)); got > without/2 {
		t.Errorf("best of 20 is %.1f with similar studies, %.1f without: want half", got, without)
	}
	reuse := bestAfter(t, 20, f, func(seed uint64) assay.Searcher { return NewReuse(random(seed), similar, 5) })
	if got := bestAfter(t, 20, f, with(similar)); got > reuse {
		t.Errorf("best of 20 is %.1f, but %.1f by the best of the most similar study alone", got, reuse)
	}
	fewer := bestAfter(t, 15, f, random)
	if got := bestAfter(t, 20, f, with(contrary)); got > fewer {
		t.Errorf("best of 20 is %.1f with contrary studies, %.1f without after 20 and %.1f after 15", got, without, fewer)
	}
}

// The prediction of ridge for an example from the others is the prediction of a fit
// without it.
func TestRidgeLeavesOneOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, d = 12, 3
	rows, y, prior := make([][]float64, n), make([]float64, n), []float64{0.5, 0.5, 0.5}
	for i := range rows {
		for range d {
			rows[i] = append(rows[i], rng.NormFloat64())
		}
		y[i] = rows[i][0] - rows[i][1] + 0.3*rng.NormFloat64() + 4
	}
	_, _, left := ridge(rows, y, prior, 3)
	for i := range rows {
		var r [][]float64
		var v []float64
		for k := range rows {
			if k != i {
				r, v = append(r, rows[k]), append(v, y[k])
			}
		}
		w, a, _ := ridge(r, v, prior, 3)
		want := a
		for j, z := range rows[i] {
			want += w[j] * z
		}
		if !(math.Abs(left[i]-want) <= 1e-9) {
			t.Errorf("example %d: %v, a fit without it predicts %v", i, left[i], want)
		}
	}
}

// With a large penalty the weights are the prior, with none the least squares.
func TestRidgeLimits(t *testing.T) {
	rows := [][]float64{{1, 0}, {0, 1}, {2, 1}, {-1, 3}}
	y := make([]float64, len(rows))
	for i, r := range rows {
		y[i] = 2*r[0] - r[1] + 5
	}
	w, a, _ := ridge(rows, y, []float64{7, 7}, 1e-9)
	if !(math.Abs(w[0]-2) <= 1e-6) || !(math.Abs(w[1]+1) <= 1e-6) || !(math.Abs(a-5) <= 1e-6) {
		t.Errorf("weights %v and intercept %v, want 2, -1 and 5", w, a)
	}
	if w, _, _ := ridge(rows, y, []float64{7, 7}, 1e12); !(math.Abs(w[0]-7) <= 1e-6) || !(math.Abs(w[1]-7) <= 1e-6) {
		t.Errorf("weights %v, want the prior", w)
	}
}
