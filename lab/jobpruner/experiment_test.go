package jobpruner

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/search"
)

// The curve is the relative error of the best value within the limits: of the worst
// row before there is one, and the last one after the search has ended.
func TestPlay(t *testing.T) {
	const text = `machine,x,y,t,p,ok
a,0,0,1,9,no
a,1,0,2,9,yes
a,2,0,8,1,yes
a,3,0,10,1,yes
a,4,0,5,1,yes
a,5,0,4,1,yes
b,0,0,1,1,yes
`
	src := sourceOf(t, text)
	src.Goal.Limits = []assay.Limit{atMost(5)}
	s := mustOpen(t, src).subjects[0]
	// In order: failed, above the limit, 8, 10, 5, 4 of an optimum of 4.
	whole := []float64{1.5, 1.5, 1, 1, 0.25, 0, 0, 0, 0}
	for n := 1; n <= len(whole); n++ {
		curve, err := s.play(t.Context(), search.NewGrid(s.space, search.GridOptions{}), n)
		if err != nil || !slices.Equal(curve, whole[:n]) {
			t.Errorf("%d trials: %v, %v; want %v", n, curve, err, whole[:n])
		}
	}
}

// spoiled is a searcher that fails.
type spoiled struct{ assay.Searcher }

func (spoiled) Ask(int) ([]assay.Proposal, error) { return nil, errors.New("I forgot") }

// An error of a searcher is no end of its search.
func TestPlayReturnsErrors(t *testing.T) {
	s := mustOpen(t, sourceOf(t, bowls())).subjects[1]
	_, err := s.play(t.Context(), spoiled{search.NewRandom(s.space, 1)}, 3)
	if err == nil || !strings.Contains(err.Error(), "b: ") || !strings.Contains(err.Error(), "I forgot") {
		t.Errorf("got %v, want the searcher's error and the environment", err)
	}
}

// A negative objective has errors relative to its size.
func TestPlayMaximizes(t *testing.T) {
	src := sourceOf(t, "machine,x,y,t,p,ok\na,0,0,2,1,yes\na,1,0,8,1,yes\nb,0,0,1,1,yes\n")
	src.Goal.Maximize = true
	s := mustOpen(t, src).subjects[0]
	curve, err := s.play(t.Context(), search.NewGrid(s.space, search.GridOptions{}), 2)
	if err != nil || !slices.Equal(curve, []float64{0.75, 0}) {
		t.Errorf("got %v, %v; want errors of 6/8 and 0", curve, err)
	}
}

func TestTrials(t *testing.T) {
	sub := &subject{trials: make([]assay.Trial, 250)}
	for _, tt := range []struct {
		percent float64
		most    int
		want    int
	}{{2, 500, 5}, {0.1, 500, 1}, {1.5, 500, 4}, {100, 500, 250}, {100, 30, 30}} {
		if got := (&Options{MaxTrials: tt.most}).trials(sub, tt.percent); got != tt.want {
			t.Errorf("%v %% of 250, at most %d: %d, want %d", tt.percent, tt.most, got, tt.want)
		}
	}
}

// A pruner that knows the same surface cuts some of it, and never the optimum.
func TestPruned(t *testing.T) {
	d := mustOpen(t, sourceOf(t, bowls()))
	s := d.subjects[0]
	if got := s.pruned(nil); got != 0 {
		t.Errorf("nothing prunes %v", got)
	}
	p, err := prune.New(search.NewRandom(s.space, 1), d.knowledge(s), prune.Options{Alpha: 0.6})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.play(t.Context(), p, 20); err != nil {
		t.Fatal(err)
	}
	if got := s.pruned(p); !(got > 0.1 && got < 1) || !(math.Abs(got*64-math.Round(got*64)) <= 1e-9) {
		t.Errorf("%v of the space are pruned", got)
	}
	for _, trial := range s.trials {
		if trial.Value == s.optimum && !p.Keeps(trial.Config) {
			t.Error("the optimum is pruned")
		}
	}
}

func options(t *testing.T, c Choices) Options {
	t.Helper()
	c.Methods = []string{"random"}
	vs, err := c.Variants()
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Variants: vs, Budgets: []float64{10, 25}, Repetitions: 8, Subjects: 3, MaxTrials: 500, Seed: 1,
		Searcher: func(_ string, space *assay.Space, seed uint64) (assay.Searcher, error) {
			return search.NewRandom(space, seed), nil
		},
	}
}

// The knowledge of an earlier study of the same surface helps, at each budget;
// a row is there for every variant and budget, by whatever workers.
func TestRun(t *testing.T) {
	d := mustOpen(t, sourceOf(t, bowls()))
	o := options(t, Choices{Alpha: []string{"0.6"}, KB: []string{"1"}, Use: []string{"first", "prior", "transfer"}})
	rows, err := d.Run(t.Context(), o)
	if err != nil || len(rows) != 6*2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	byUse := map[string]Row{}
	for i, r := range rows {
		if r.DataSet != "bowls" || r.Budget != o.Budgets[i%2] || r.Variant != o.Variants[i/2] || len(r.BySubject) != 3 {
			t.Errorf("row %d: %+v", i, r)
		}
		if r.Trials != []float64{6, 16}[i%2] || !(r.CI95[0] <= r.Error && r.Error <= r.CI95[1]) {
			t.Errorf("row %d: %v trials, %v in %v", i, r.Trials, r.Error, r.CI95)
		}
		if prunes := r.Use == "prune" || r.Use == "prior"; (r.Pruned > 0) != prunes && r.KB == "all" {
			t.Errorf("row %d: %s prunes %v", i, r.Use, r.Pruned)
		}
		if i%2 == 1 && r.Error > rows[i-1].Error {
			t.Errorf("row %d: with more trials the error is %v, above %v", i, r.Error, rows[i-1].Error)
		}
		if r.KB != "1" {
			byUse[r.Use] = r
		}
	}
	none := byUse["none"]
	if none.Ratio != 1 || none.RatioCI95 != [2]float64{1, 1} || none.SimRatio != 1 || !(none.Error > 0) {
		t.Errorf("without knowledge: %+v", none)
	}
	for _, use := range []string{"prune", "prior", "transfer"} {
		if r := byUse[use]; !(r.Similar < none.Similar) || !(r.SimRatio < 1) {
			t.Errorf("%s: an error of %v on what is known, without knowledge %v", use, r.Similar, none.Similar)
		} else if want := r.Error / none.Error; !(math.Abs(r.Ratio-want) <= 1e-9) || math.Abs(r.Ratio-1) < 1e-3 {
			t.Errorf("%s: ratio %v, want %v", use, r.Ratio, want)
		}
	}
	o.Pool = bench.Pool{Workers: 3}
	if got, err := d.Run(t.Context(), o); err != nil || !reflect.DeepEqual(got, rows) {
		t.Errorf("three workers give another result, %v", err)
	}
	o.Subjects = 1
	few, err := d.Run(t.Context(), o)
	if err != nil || few[0].BySubject[0] != rows[0].BySubject[0] || len(few[0].BySubject) != 1 {
		t.Errorf("one environment by itself: %+v, %v; beside others %v", few[0], err, rows[0].BySubject)
	}
}

func TestRunErrors(t *testing.T) {
	d := mustOpen(t, sourceOf(t, bowls()))
	o := options(t, Choices{Alpha: []string{"0.6"}})
	o.Searcher = func(_ string, space *assay.Space, seed uint64) (assay.Searcher, error) {
		return fixed{search.NewRandom(space, seed)}, nil
	}
	_, err := d.Run(t.Context(), o)
	if assay.ClassOf(err) != assay.ClassUsage || err.Error() != "searcher random cannot be narrowed" {
		t.Errorf("got %v", err)
	}
}

// Every part has the rows to compare with, and the rows of its table; the same row may be
// in two, and a part without rows is left out.
func TestParts(t *testing.T) {
	row := func(use, alpha, kb string) Row { return Row{Variant: Variant{Use: use, Alpha: alpha, KB: kb}} }
	none, first := row("none", "", "0"), row("first", "", "all")
	fixedAlpha, auto, some := row("prune", "0.6", "all"), row("prune", "auto", "all"), row("prune", "auto", "5")
	parts := Report{Rows: []Row{none, fixedAlpha, auto, some, first}}.Parts()
	want := [][]Row{{none, fixedAlpha, auto}, {none, auto, some}, {none, first}}
	for i, p := range parts {
		if !reflect.DeepEqual(p.Rows, want[i]) || p.Title == "" {
			t.Errorf("%s: %+v, want %+v", p.Title, p.Rows, want[i])
		}
	}
	if len(parts) != 3 {
		t.Errorf("%d parts", len(parts))
	}
	if got := (Report{Rows: []Row{first}}).Parts(); len(got) != 1 || got[0].Title != parts[2].Title {
		t.Errorf("one row: %+v", got)
	}
}

// A ratio is of the means; its interval is of the pairs, so that variation common to
// both does not widen it.
func TestRatio(t *testing.T) {
	y := []float64{1, 2, 3, 4, 50}
	x := make([]float64, len(y))
	for i := range y {
		x[i] = y[i] / 2
	}
	if r, ci := ratio(x, y); r != 0.5 || ci != [2]float64{0.5, 0.5} {
		t.Errorf("half of everything: %v in %v", r, ci)
	}
	if r, ci := ratio([]float64{1, 9, 3}, []float64{2, 4, 7}); !(ci[0] < r && r < ci[1]) || r != 1 {
		t.Errorf("equal means: %v in %v", r, ci)
	}
	for _, tt := range []struct{ x, y, want float64 }{{0, 0, 1}, {3, 3, 1}, {1, 4, 0.25}, {1e-9, 0, 1}} {
		if got := quotient(tt.x, tt.y); got != tt.want {
			t.Errorf("%v to %v is %v, want %v", tt.x, tt.y, got, tt.want)
		}
	}
	if got := interval([]float64{2, 2, 2}); got != [2]float64{2, 2} {
		t.Errorf("interval of equal values: %v", got)
	}
}

// The names of the fields are a contract.
func TestReportJSON(t *testing.T) {
	d := mustOpen(t, sourceOf(t, bowls()))
	rows, err := d.Run(t.Context(), options(t, Choices{}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(Report{DataSets: []Set{d.Set()}, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(`data_sets name environments best_rank_correlation best_cross_correlation
		rows data_set method use alpha kb budget_percent trials_mean error_mean error_ci95 ratio ratio_ci95
		error_similar ratio_similar pruned_mean pruned_ci95 error_by_environment`) {
		if !strings.Contains(string(text), `"`+name+`":`) {
			t.Errorf("%s has no %q", text, name)
		}
	}
}
