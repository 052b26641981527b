package nimo

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/search"
)

// openScout returns a program of 54 assignments that takes 3200 s divided by nodes.
func openScout(t *testing.T) Table {
	t.Helper()
	tables, err := Open(write(t, sourceOf(t, "scout-aws"), scoutHeader+scoutRows("sort")), []string{"scout-aws"})
	if err != nil || len(tables) != 1 {
		t.Fatal(err)
	}
	return tables[0]
}

// A third of the assignments is the test set, without those that have failed; the unit
// of shares is one run of each of the others.
func TestSplit(t *testing.T) {
	tab := openScout(t)
	for seed := range uint64(20) {
		pool, test, total := tab.split(rand.New(rand.NewPCG(seed, 7)))
		if len(pool) != 36 || len(test.configs) > 18 || len(test.configs) != len(test.truth) {
			t.Fatalf("%d to run, %d to test of 54", len(pool), len(test.configs))
		}
		seen := map[string]bool{}
		var sum float64
		for _, c := range pool {
			seen[c.Key()] = true
			if x := tab.times[c.Key()][0]; !math.IsInf(x, 0) {
				sum += x
			}
		}
		if !(math.Abs(sum-total) <= 1e-9) {
			t.Errorf("total %v, want %v", total, sum)
		}
		for i, c := range test.configs {
			if seen[c.Key()] || math.IsInf(test.truth[i], 0) {
				t.Errorf("%v is in both parts, or has failed", c)
			}
		}
	}
}

// A run is one of those recorded; a failed one exits with a code and takes the median
// time of the test set.
func TestTableRun(t *testing.T) {
	a, b := assay.Config{0}, assay.Config{1}
	tab := Table{times: map[string][]float64{a.Key(): {2, 5}, b.Key(): {math.Inf(1)}}}
	test := testSet{truth: []float64{1, 7, 30}}
	rng := rand.New(rand.NewPCG(1, 1))
	got := map[time.Duration]int{}
	for range 200 {
		m := tab.run(a, test, rng)
		got[m.Elapsed]++
		if m.ExitCode != 0 {
			t.Errorf("a good run: %+v", m)
		}
	}
	if len(got) != 2 || got[2*time.Second] < 60 || got[5*time.Second] < 60 {
		t.Errorf("runs %v, want 2 s and 5 s about equally often", got)
	}
	if m := tab.run(b, test, rng); m.ExitCode == 0 || m.Elapsed != 7*time.Second {
		t.Errorf("a failed run: %+v", m)
	}
}

// Each share of the time sees the runs that had ended by then, to the very moment; one
// that was cut or has failed is no example, though it took time.
func TestLearnSeesPrefixes(t *testing.T) {
	levels := strings.Fields("1 2 3 4 5 6 7 8 9 10")
	space, err := assay.NewSpace([]assay.Param{{Name: "cpu", Kind: assay.Ordinal, Levels: levels}})
	if err != nil {
		t.Fatal(err)
	}
	test := testSet{configs: []assay.Config{{9}}, truth: []float64{1}}
	l := lesson{space: space, test: test, total: 100} // shares of 2, 5, 10, 20 and 30 s
	runs := 0
	run := func(c assay.Config) assay.Measurement {
		runs++
		m := assay.Measurement{Elapsed: 2 * time.Second}
		if c[0] == 1 {
			m.ExitCode = 1
		}
		if c[0] == 9 {
			m.Elapsed = 40 * time.Second
		}
		return m
	}
	got, err := l.learn(t.Context(), search.NewGrid(space, search.GridOptions{}), run, costmodel.Linear)
	if err != nil {
		t.Fatal(err)
	}
	// By 2 s one run has ended, by 5 s two of which one failed, by 10 s five; by 20 s
	// nine; the tenth takes longer than is left.
	want := []float64{1, 1, 4, 8, 8}
	for i := range want {
		if math.IsNaN(got.errs[i]) {
			want[i] = 0
		}
	}
	if !slices.Equal(got.runs, want) || runs != 10 {
		t.Errorf("learned from %v runs of %d, want %v of 10", got.runs, runs, want)
	}
	if math.IsNaN(got.errs[4]) {
		t.Errorf("errors %v: no model of eight runs", got.errs)
	}
}

// Nothing to learn from is no model, not an error.
func TestExamineTooFew(t *testing.T) {
	tab := openScout(t)
	space, err := assay.NewList(tab.params, tab.configs)
	if err != nil {
		t.Fatal(err)
	}
	l := lesson{space: space}
	e, n, err := l.examine(nil, costmodel.Best)
	if !math.IsNaN(e) || n != 0 || err != nil {
		t.Errorf("got %v, %v, %v", e, n, err)
	}
}

// A program that always fails ends with no model at any share.
func TestLearnOfFailures(t *testing.T) {
	tab := openScout(t)
	space, err := assay.NewList(tab.params, tab.configs)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(assay.Config) assay.Measurement { return assay.Measurement{Elapsed: time.Second, ExitCode: 1} }
	got, err := lesson{space: space, total: 0}.learn(t.Context(), search.NewRandom(space, 1), fail, costmodel.Best)
	if err != nil || len(got.errs) != len(shares) || !math.IsNaN(got.errs[4]) || got.runs[4] != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The learner finds the power law of the table, with less error than random runs of the
// same time; the result does not depend on the workers.
func TestCompare(t *testing.T) {
	tables := []Table{openScout(t)}
	want, err := Compare(t.Context(), tables, Options{Seeds: 3, Seed: 1})
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
	}
	last := want[len(want)-1]
	if last.Set != "scout-aws" || last.Programs != 1 || last.Share != 0.3 {
		t.Errorf("the last row is %+v", last)
	}
	if last.Auto > 2 || last.AutoRuns < last.RandRuns {
		t.Errorf("got %+v", last)
	}
	if last.Ratio > 1 || last.CI95[0] > last.Ratio || last.CI95[1] < last.Ratio {
		t.Errorf("ratio %v in %v", last.Ratio, last.CI95)
	}
	got, err := Compare(t.Context(), tables, Options{Seeds: 3, Seed: 1, Pool: bench.Pool{Workers: 3}})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("by three workers %+v, %v; want %+v", got, err, want)
	}
}

// Means of errors are geometric, over the duels in which both methods have a model, by
// set and share.
func TestDataCells(t *testing.T) {
	always := func(x float64) []float64 { return slices.Repeat([]float64{x}, len(shares)) }
	errs := func(x float64) learned { return learned{errs: always(x), runs: always(x / 2)} }
	none := errs(8)
	none.errs[0] = math.NaN()
	lost := learned{errs: always(math.NaN()), runs: always(0)}
	cells := dataCells([]duel{
		{set: "a", name: "p", auto: errs(2), random: errs(8), linear: errs(4), all: 1},
		{set: "a", name: "p", auto: none, random: errs(32), linear: errs(16), all: 4},
		{set: "a", name: "q", auto: errs(1), random: lost, linear: lost, all: 9},
		{set: "b", name: "r", auto: lost, random: lost, linear: lost, all: 9},
	})
	if len(cells) != len(shares) {
		t.Fatalf("%d cells, want one for each share of set a", len(cells))
	}
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
	c := cells[0]
	if c.Set != "a" || c.Programs != 2 || c.Share != 0.02 || !near(c.Auto, 2) || !near(c.Random, 8) || !near(c.All, 1) {
		t.Errorf("the first share, of one duel: %+v", c)
	}
	c = cells[1]
	if !near(c.Auto, 4) || !near(c.Random, 16) || !near(c.Linear, 8) || !near(c.All, 2) || !near(c.Ratio, 0.25) {
		t.Errorf("geometric means: %+v", c)
	}
	if !near(c.AutoRuns, 2.5) || !near(c.RandRuns, 10) {
		t.Errorf("means of runs: %+v", c)
	}
}
