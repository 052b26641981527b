package search

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

func mean(xs []float64) float64 {
	var s float64
	for _, x := range xs {
		s += x
	}
	return s / float64(len(xs))
}

func TestReplicateMerges(t *testing.T) {
	inf := math.Inf(1)
	const (
		d = assay.Done
		c = assay.Censored
		f = assay.Failed
		i = assay.Infeasible
	)
	for _, tc := range []struct {
		name   string
		reduce func([]float64) float64
		states []assay.State
		values []float64
		state  assay.State
		value  float64
		like   int // the run whose measurement is kept
	}{
		{"min", slices.Min[[]float64], []assay.State{d, d, d}, []float64{5, 3, 4}, d, 3, 1},
		{"median", stats.Median, []assay.State{d, d, d}, []float64{5, 3, 4}, d, 4, 2},
		{"mean", mean, []assay.State{d, d, d}, []float64{5, 3, 4}, d, 4, 2},
		{"min, one failed", slices.Min[[]float64], []assay.State{f, d, d}, []float64{inf, 3, 4}, d, 3, 1},
		{"min, all failed", slices.Min[[]float64], []assay.State{f, f, f}, []float64{inf, inf, inf}, f, inf, 0},
		{"median, one failed", stats.Median, []assay.State{f, d, d}, []float64{inf, 3, 4}, d, 4, 2},
		{"median, two failed", stats.Median, []assay.State{f, d, f}, []float64{inf, 3, inf}, f, inf, 0},
		{"mean, one failed", mean, []assay.State{d, d, f}, []float64{1, 3, inf}, f, inf, 2},
		{"min, bound above", slices.Min[[]float64], []assay.State{d, c, d}, []float64{5, 7, 6}, d, 5, 0},
		{"min, bound below", slices.Min[[]float64], []assay.State{d, c, d}, []float64{5, 4, 6}, c, 4, 1},
		{"median, bound above", stats.Median, []assay.State{d, c, d}, []float64{5, 7, 6}, d, 6, 2},
		{"median, bound below", stats.Median, []assay.State{d, c, d}, []float64{5, 1, 6}, c, 5, 1},
		{"mean, bound", mean, []assay.State{d, c, d}, []float64{5, 7, 6}, c, 6, 1},
		{"min, all bounds", slices.Min[[]float64], []assay.State{c, c, c}, []float64{5, 7, 6}, c, 5, 0},
		{"one of three broke a limit", slices.Min[[]float64], []assay.State{i, d, d}, []float64{2, 3, 4}, d, 2, 1},
		{"two of three broke a limit", slices.Min[[]float64], []assay.State{i, d, i}, []float64{2, 3, 4}, i, 2, 0},
		{"one of two ended broke a limit", slices.Min[[]float64], []assay.State{i, d, f}, []float64{2, 3, inf}, i, 2, 0},
		{
			"an objective that is not a number", slices.Max[[]float64],
			[]assay.State{d, d, d},
			[]float64{1, math.NaN(), 2},
			f, inf, 0,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
				inner := &script{configs: []float64{1}}
				r := Replicate(inner, 3, tc.reduce)
				ps := mustAsk(t, r, 3)
				if len(ps) != 3 {
					t.Fatalf("got %d proposals, want 3", len(ps))
				}
				start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
				for n, k := range order {
					mustTell(t, r, assay.Trial{
						Proposal: ps[k], State: tc.states[k], Value: tc.values[k], Attempts: k + 1,
						Measurement: assay.Measurement{ExitCode: k},
						Started:     start.Add(time.Duration(n) * time.Hour), Ended: start.Add(time.Duration(n+1) * time.Hour),
					})
					if n < 2 && len(inner.told) > 0 {
						t.Fatalf("inner was told after %d runs", n+1)
					}
				}
				got := inner.told[0]
				if got.State != tc.state || got.Value != tc.value || got.Measurement.ExitCode != tc.like || got.ID != 1 {
					t.Errorf("inner was told trial %d %v with %v like run %d, want %v with %v like run %d",
						got.ID, got.State, got.Value, got.Measurement.ExitCode, tc.state, tc.value, tc.like)
				}
				if got.Attempts != 6 || !got.Started.Equal(start) || !got.Ended.Equal(start.Add(3*time.Hour)) {
					t.Errorf("%d attempts from %v to %v, want 6 over 3 hours", got.Attempts, got.Started, got.Ended)
				}
			}
		})
	}
}

// The replicates of several proposals alternate.
func TestReplicateInterleaves(t *testing.T) {
	r := Replicate(&script{configs: []float64{1, 2, 3, 4}}, 2, slices.Min)
	var got []float64
	for _, n := range []int{4, 1, 3, 5} {
		ps, err := r.Ask(n)
		if err != nil {
			break
		}
		for _, p := range ps {
			got = append(got, p.Config[0])
		}
	}
	if want := []float64{1, 2, 1, 2, 3, 4, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// No two runs of one configuration follow each other as long as inner has others, however many runs
// are asked for at a time. Each configuration is told after its last run.
func TestReplicateInterleavesOneByOne(t *testing.T) {
	const k = 3
	for _, batch := range []int{1, 2, 3, 4, 5, 7, 20} {
		inner := &script{configs: []float64{19, 13, 7, 16, 1, 2, 3, 4, 5, 6, 8, 9}}
		r := Replicate(inner, k, slices.Min)
		var order []float64
		runs := map[float64]int{}
		for {
			ps, err := r.Ask(batch)
			if err == assay.ErrDone {
				break
			}
			for _, p := range ps {
				x := p.Config[0]
				order = append(order, x)
				runs[x]++
				before := len(inner.told)
				mustTell(t, r, doneTrial(p, x))
				if told := len(inner.told) > before; told != (runs[x] == k) {
					t.Fatalf("batches of %d: after run %d of %v inner was told: %v", batch, runs[x], x, told)
				}
			}
		}
		if len(order) != k*12 || len(inner.told) != 12 {
			t.Fatalf("batches of %d: %d runs, %d told", batch, len(order), len(inner.told))
		}
		for i, x := range order[1:] {
			if x == order[i] {
				t.Fatalf("batches of %d: runs %v", batch, order)
			}
		}
	}
}

// A waiting searcher returns its proposals step by step: n of them are as many steps.
type waiting struct {
	script
	step int
}

func (w *waiting) Ask(n int) ([]assay.Proposal, error) {
	if w.proposals.Len() > 0 {
		return nil, nil
	}
	return w.script.Ask(min(n, w.step))
}

// A round is the proposals that inner has: nothing is left to run until it is told, and then the next round begins.
func TestReplicateWaits(t *testing.T) {
	r := Replicate(&waiting{script: script{configs: []float64{1, 2, 3, 4}}, step: 2}, 2, slices.Min)
	for _, want := range [][]float64{{1, 2, 1, 2}, {3, 4, 3, 4}} {
		ps := mustAsk(t, r, 9)
		var got []float64
		for _, p := range ps {
			got = append(got, p.Config[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for _, p := range ps {
			if more := mustAsk(t, r, 5); len(more) > 0 {
				t.Errorf("got %v before all of the round was told", more)
			}
			mustTell(t, r, doneTrial(p, 1))
		}
	}
	if _, err := r.Ask(1); err != assay.ErrDone {
		t.Errorf("got %v in the end", err)
	}
}

// The minimum of K of heavy-tailed times has a finite variance where a single
// one has none: for Pareto noise of tail index 1.7 the largest of 20,000
// minima of 5 stays far below the largest single time.
// Reference: Tabatabaee et al. 2005, section 5.1, eq. 13 to 17
func TestReplicateTamesTails(t *testing.T) {
	inner := &loop{}
	var minima []float64
	tell := func(trials ...assay.Trial) error {
		for _, x := range trials {
			minima = append(minima, x.Value)
		}
		return inner.Tell(trials...)
	}
	r := Replicate(tellFunc{inner, tell}, 5, slices.Min)
	rng := NewRandom(oneParam(2), 1).rng
	var square, n float64
	for range 20_000 {
		for _, p := range mustAsk(t, r, 5) {
			x := math.Pow(1-rng.Float64(), -1/1.7)
			square, n = square+x*x, n+1
			mustTell(t, r, doneTrial(p, x))
		}
	}
	var minSquare float64
	for _, x := range minima {
		minSquare += x * x
	}
	// The minimum is Pareto with index 8.5: E[x²] = 8.5/6.5 = 1.308. That of a
	// single time is infinite, and of these about 30.
	if got := minSquare / float64(len(minima)); !(math.Abs(got-8.5/6.5) <= 0.02) || len(minima) != 20_000 {
		t.Errorf("mean square of %d minima: %v, want 1.308", len(minima), got)
	}
	if square/n < 10 {
		t.Errorf("mean square of single times: %v, which is no heavy tail", square/n)
	}
}

type tellFunc struct {
	assay.Searcher
	tell func(...assay.Trial) error
}

func (f tellFunc) Tell(trials ...assay.Trial) error { return f.tell(trials...) }
