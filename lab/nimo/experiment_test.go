package nimo

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/study"
)

// Each experiment compares the alternatives of one step of Algorithm 1.
// Reference: table 1, figures 4 to 8
func TestExperiments(t *testing.T) {
	for name, methods := range map[string][]string{
		"reference":  {"Min", "Max", "Rand"},
		"predictors": {"round-robin, f_d f_a f_n", "improvement, f_d f_a f_n", "improvement, by relevance", "dynamic"},
		"attributes": {"by relevance", "wrong static order"},
		"samples":    {"Lmax-I1", "L2-I2", "Lmax-Imax", "Lmax-I2 (ours)"},
		"error":      {"cross-validation", "random-set", "pb-set"},
		"regression": {"auto, best", "auto, smooth", "auto, pairs", "auto, linear"},
	} {
		es, err := Experiments([]string{name})
		if err != nil || len(es) != len(methods) {
			t.Errorf("%s: %d entries, %v", name, len(es), err)
			continue
		}
		for i, e := range es {
			if e.Method != methods[i] || e.Experiment != name || e.Program() != "BLAST" || e.everything {
				t.Errorf("%s: entry %d is %+v, want %s of BLAST", name, i, e, methods[i])
			}
			if pub := e.options.Published; (pub == nil) != (name == "regression") || pub != nil && !pub.KnownDataFlow {
				t.Errorf("%s: %s learns by %+v", name, e.Method, pub)
			}
		}
	}
	es, err := Experiments([]string{"table2", "reference"})
	if err != nil || len(es) != 4*3+3 {
		t.Fatalf("%d entries, %v", len(es), err)
	}
	if es[2].Program() != "BLAST" || !es[2].everything || es[3].Program() != "fMRI" {
		t.Errorf("table 2 and the references: %d entries, %v", len(es), err)
	}
	_, err = Experiments([]string{"table2", "none"})
	if err == nil || !strings.Contains(err.Error(), `no experiment "none"`) {
		t.Errorf("an experiment that there is not: %v", err)
	}
}

// The external test set is drawn inside of the space, so that no design needs it, and
// is not among the assignments that can be run.
// Reference: section 4.1
func TestExternalTestSet(t *testing.T) {
	for _, p := range programs() {
		all := p.space()
		want := map[int]int{3: 30, 2: 7}[p.attributes]
		var sets []string
		for seed := range uint64(5) {
			test := externalTestSet(all, rand.New(rand.NewPCG(seed, 0)), false)
			if len(test) != want {
				t.Fatalf("%s: %d assignments to test of %v, want %d", p.name, len(test), all.Size(), want)
			}
			space, err := without(all, test)
			if err != nil || space.Size().N != all.Size().N-int64(want) {
				t.Errorf("%s: %v are left of %v, %v", p.name, space.Size(), all.Size(), err)
			}
			var keys []string
			for _, c := range test {
				keys = append(keys, c.Key())
				if space.Contains(c) || !all.Contains(c) {
					t.Errorf("%s: %v can be run", p.name, c)
				}
				within := 0
				for i, q := range all.Params {
					if c[i] != 0 && c[i] != float64(len(q.Levels)-1) {
						within++
					}
				}
				if within < 2 { // a design varies one attribute at a time from a corner
					t.Errorf("%s: %v is beside a corner", p.name, c)
				}
			}
			sets = append(sets, strings.Join(keys, " "))
		}
		if slices.Sort(sets); len(slices.Compact(sets)) != 5 {
			t.Errorf("%s: seeds share a test set", p.name)
		}
	}
}

// A learner leaves a point after every run. Nothing that it ran is of the test set.
func TestCurve(t *testing.T) {
	es, err := Experiments([]string{"error", "regression"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		curve, err := e.curve(t.Context(), 3, false)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 30, false: 60}[e.options.Published == nil]; len(curve) > want || len(curve) < 5 {
			t.Errorf("%s: %d runs, want at most %d", e.Method, len(curve), want)
		}
		for i, p := range curve {
			before := point{}
			if i > 0 {
				before = curve[i-1]
			}
			grows := p.minutes > before.minutes && p.training >= before.training && p.runs >= before.runs
			if !grows || p.training > p.minutes*(1+1e-9) || p.runs > i+1 {
				t.Errorf("%s: point %d is %+v after %+v", e.Method, i, p, before)
			}
		}
		last := curve[len(curve)-1]
		if math.IsNaN(last.error) || last.error < 0 {
			t.Errorf("%s ends with %+v", e.Method, last)
		}
		if strings.HasSuffix(e.Method, "-set") && last.training > 0.95*last.minutes {
			t.Errorf("%s: all runs are of training, though some are for the error alone: %+v", e.Method, last)
		}
	}
}

// A watched learner runs its proposals, and the number of runs is the budget.
func TestWatchedRunsItsProposals(t *testing.T) {
	p := programs()[2]
	space := p.space()
	ran := map[string]int{}
	w := &watched{ActiveLearner: costmodel.NewActiveLearner(space, costmodel.Options{Seed: 1}), test: testSet{
		configs: []assay.Config{{2, 3}}, truth: []float64{p.run(space, assay.Config{2, 3}, nil).Elapsed.Seconds()},
	}}
	res, err := play(t.Context(), space, w, func(c assay.Config) assay.Measurement {
		ran[c.Key()]++
		return p.run(space, c, nil)
	}, study.Budget{Trials: 9})
	if err != nil || len(w.curve) != 9 || len(res.Trials) != 9 || len(ran) != 9 {
		t.Fatalf("%d points and %d trials of %d assignments, %v", len(w.curve), len(res.Trials), len(ran), err)
	}
	var minutes float64
	for i, trial := range res.Trials {
		if minutes += trial.Measurement.Elapsed.Minutes(); !(math.Abs(w.curve[i].minutes-minutes) <= 1e-9*minutes) {
			t.Errorf("after %d runs %v minutes, want %v", i+1, w.curve[i].minutes, minutes)
		}
	}
	if e := w.curve[8].error; !(e < 5) {
		t.Errorf("without noise the error is %v %% after nine runs", e)
	}
}

// A curve has the error known at a time, and when an error was reached.
func TestAtAndReaches(t *testing.T) {
	none := math.NaN()
	curve := []point{
		{minutes: 10, error: none}, {minutes: 20, error: 30}, {minutes: 40, error: 9}, {minutes: 50, error: 12},
	}
	for _, tt := range []struct{ minutes, want float64 }{
		{5, none}, {10, none}, {20, 30}, {39, 30}, {40, 9}, {1000, 12},
	} {
		if got := at(curve, tt.minutes); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("after %v minutes %v, want %v", tt.minutes, got, tt.want)
		}
	}
	if p := reaches(curve, 10); p == nil || p.minutes != 40 {
		t.Errorf("10 %% are reached at %+v, want 40 minutes", p)
	}
	if p := reaches(curve, 30); p == nil || p.minutes != 20 {
		t.Errorf("30 %% are reached at %+v, want 20 minutes", p)
	}
	if p := reaches(curve, 5); p != nil {
		t.Errorf("5 %% are reached at %+v", p)
	}
}

// The median of n values of which those that are missing are infinite.
func TestMedianOf(t *testing.T) {
	value := func(x float64) *float64 { return &x }
	for _, tt := range []struct {
		x    []float64
		n    int
		want *float64
	}{
		{[]float64{3, 1, 2}, 3, value(2)},
		{[]float64{3, 1, 2}, 5, value(3)},
		{[]float64{3, 1}, 4, nil}, // between 3 and infinity
		{[]float64{3}, 3, nil},
		{nil, 2, nil},
		{[]float64{7}, 1, value(7)},
	} {
		if got := medianOf(tt.x, tt.n); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%v of %d: %v, want %v", tt.x, tt.n, got, tt.want)
		}
	}
}

// One of two repetitions reaches 10 %, so that the median does not.
func TestSummarize(t *testing.T) {
	e := Entry{Experiment: "error", Method: "m", program: programs()[0]}
	fast := []point{{30, 30, 1, math.NaN()}, {90, 70, 2, 8}}
	slow := []point{{100, 50, 1, 40}, {300, 200, 3, 20}}
	c := e.summarize([][]point{fast, slow})
	if c.Experiment != "error" || c.Program != "BLAST" || c.Method != "m" || !slices.Equal(c.Minutes, grid) {
		t.Errorf("got %+v", c)
	}
	// After 60 minutes neither has a model, after 120 they have 8 and 40 %.
	if c.Errors[0] != nil || c.Errors[1] == nil || *c.Errors[1] != 24 {
		t.Errorf("errors %v", c.Errors)
	}
	if c.To10 != nil || c.Runs10 != nil || c.Final != 14 || c.FinalMinutes != 195 || c.FinalRuns != 2.5 {
		t.Errorf("got %+v", c)
	}
	c = e.summarize([][]point{fast, fast})
	if c.To10 == nil || *c.To10 != 90 || *c.WithoutScreening != 70 || *c.Runs10 != 2 {
		t.Errorf("both reach 10 %%: %+v", c)
	}
	text, err := json.Marshal(c)
	for name := range strings.FieldsSeq("experiment program method minutes errors minutes_to_10 " +
		"minutes_to_10_without_screening runs_to_10 final_error final_minutes final_runs") {
		if err != nil || !strings.Contains(string(text), `"`+name+`":`) {
			t.Errorf("%s has no %q, %v", text, name, err)
		}
	}
}

// A repetition depends on its seed alone.
func TestMeasureIsDeterministic(t *testing.T) {
	es, err := Experiments([]string{"reference"})
	if err != nil {
		t.Fatal(err)
	}
	measure := func(o Options) Cell {
		c, err := es[2].Measure(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := measure(Options{Seeds: 3, Seed: 5})
	if got := measure(Options{Seeds: 3, Seed: 5, Pool: bench.Pool{Workers: 3}}); !reflect.DeepEqual(got, want) {
		t.Errorf("by three workers %+v, by one %+v", got, want)
	}
	if got := measure(Options{Seeds: 3, Seed: 6}); reflect.DeepEqual(got, want) {
		t.Error("other seeds give the same")
	}
}

// Our learner ends with a useful model after some dozen runs, in a fraction of the
// published one's time; all at once is all that may be run.
// Reference: table 2
func TestTable2(t *testing.T) {
	es, err := experiment("table2")
	if err != nil {
		t.Fatal(err)
	}
	byMethod := map[string]Cell{}
	for _, e := range es {
		if e.program.name != "BLAST" {
			continue
		}
		c, err := e.Measure(t.Context(), Options{Seeds: 2, Seed: 1, Pool: bench.Pool{Workers: 2}})
		if err != nil {
			t.Fatal(err)
		}
		byMethod[e.Method] = c
	}
	auto, published, all := byMethod["auto"], byMethod["defaults"], byMethod["all at once"]
	if auto.Final > 12 || auto.FinalRuns > 15 || auto.To10 == nil {
		t.Errorf("auto ends with %.1f %% after %v runs", auto.Final, auto.FinalRuns)
	}
	if auto.FinalMinutes > published.FinalMinutes/2 {
		t.Errorf("auto takes %.0f min, the defaults of the paper %.0f", auto.FinalMinutes, published.FinalMinutes)
	}
	if all.FinalRuns != 120 {
		t.Errorf("all at once runs %v assignments, want the 120 outside of the test set", all.FinalRuns)
	}
}

// Drawn at random, the external test set has assignments of every kind, a corner of one of 20 among
// them, and no method runs one of them: it learns in the space without them.
func TestRandomExternalTestSet(t *testing.T) {
	all := programs()[0].space()
	ends := map[int]int{}
	for seed := range uint64(20) {
		test := externalTestSet(all, rand.New(rand.NewPCG(seed, 0)), true)
		if len(test) != 30 {
			t.Fatalf("%d assignments", len(test))
		}
		space, err := without(all, test)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range test {
			n := 0
			for k, p := range all.Params {
				if c[k] == 0 || c[k] == float64(len(p.Levels)-1) {
					n++
				}
			}
			ends[n]++
			if space.Contains(c) {
				t.Errorf("%v may be run", c)
			}
		}
	}
	for n := range 4 {
		// 8 of 150 assignments have three attributes at their ends, 40 two, 66 one and 36 none.
		if want := []int{36, 66, 40, 8}[n] * 4; ends[n] < want*3/4 || ends[n] > want*5/4 {
			t.Errorf("%d with %d attributes at their ends, want about %d", ends[n], n, want)
		}
	}
}
