package result

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

func params() []assay.Param {
	return []assay.Param{
		{Name: "threads", Kind: assay.Integer, Lo: 1, Hi: 16},
		{Name: "codec", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}},
		{Name: "idle", Kind: assay.Switch, Levels: []string{"off", "on"}},
	}
}

// someTrials returns n trials of a program whose time falls with the threads, and is
// three times as long with codec c.
func someTrials(t *testing.T, n int, change func(*assay.Trial)) []assay.Trial {
	t.Helper()
	space, err := assay.NewSpace(params())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	var trials []assay.Trial
	for i := range n {
		c, _ := space.Draw(rng)
		v := 8 / c[0]
		if c[1] == 2 {
			v *= 3
		}
		tr := assay.Trial{Proposal: assay.Proposal{ID: int64(i + 1), Config: c}, State: assay.Done, Value: v}
		if change != nil {
			change(&tr)
		}
		trials = append(trials, tr)
	}
	return trials
}

// explainBest explains trials of which the best is the recommended one.
func explainBest(params []assay.Param, goal assay.Goal, trials []assay.Trial, seed uint64) (*Explanation, error) {
	best, _ := assay.Best(trials)
	return Explain(params, goal, trials, best, seed)
}

func TestExplain(t *testing.T) {
	e, err := explainBest(params(), assay.Goal{Metric: "elapsed"}, someTrials(t, 120, nil), 1)
	if err != nil {
		t.Fatal(err)
	}
	if e.Params[0].Name != "threads" || e.Params[1].Name != "codec" || e.Params[2].Name != "idle" {
		t.Errorf("in order of importance: %+v", e.Params)
	}
	if !e.Relative || e.Trials != 120 || e.Exact != 120 || e.Explained < 0.9 {
		t.Errorf("got %+v", e)
	}
	sum := math.Log(e.Base)
	var share float64
	for _, p := range e.Params {
		sum += p.Effect
		share += p.Share
		if p.Mean < math.Abs(p.Effect)/120 || p.Share < 0 {
			t.Errorf("got %+v", p)
		}
	}
	if !(math.Abs(sum-math.Log(e.Predicted)) <= 1e-9) || share > 1+1e-9 || share < 0.8 {
		t.Errorf("effects lead to %v, the prediction is %v; shares sum to %v", sum, math.Log(e.Predicted), share)
	}
	if e.Params[0].Effect >= 0 || e.Params[0].Share < e.Params[1].Share {
		t.Errorf("the best configuration has many threads: %+v", e.Params)
	}
	if !(math.Abs(e.Params[2].Effect) <= 0.05) || e.Params[2].Share > 0.02 {
		t.Errorf("a parameter without effect: %+v", e.Params[2])
	}
}

// A maximized metric has effects of its own sign.
func TestExplainMaximized(t *testing.T) {
	goal := assay.Goal{Metric: "throughput", Maximize: true}
	e, err := explainBest(params(), goal, someTrials(t, 120, func(tr *assay.Trial) { tr.Value = -1 / tr.Value }), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !e.Relative || e.Params[0].Effect <= 0 || e.Predicted <= e.Base {
		t.Errorf("got %+v", e)
	}
}

func TestExplainStates(t *testing.T) {
	trials := someTrials(t, 120, func(tr *assay.Trial) {
		switch {
		case tr.ID%10 == 0:
			tr.State, tr.Value = assay.Failed, math.Inf(1)
		case tr.ID%10 == 1:
			tr.State = assay.Infeasible
		case tr.Value > 4:
			tr.State, tr.Value = assay.Censored, 4
		}
	})
	e, err := explainBest(params(), assay.Goal{Metric: "elapsed"}, trials, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e.Trials != 108 || e.Exact >= 108 || e.Best.State != assay.Done || e.Params[0].Name != "threads" {
		t.Errorf("got %+v", e)
	}
	zero := someTrials(t, 30, func(tr *assay.Trial) { tr.Value -= 1 })
	if e, err = explainBest(params(), assay.Goal{Metric: "x"}, zero, 1); err != nil || e.Relative {
		t.Errorf("a metric of both signs: %+v, %v", e, err)
	}
}

func TestExplainTooFew(t *testing.T) {
	for name, trials := range map[string][]assay.Trial{
		"none":         nil,
		"four":         someTrials(t, 4, nil),
		"none done":    someTrials(t, 40, func(tr *assay.Trial) { tr.State = assay.Censored }),
		"none allowed": someTrials(t, 40, func(tr *assay.Trial) { tr.State = assay.Infeasible }),
	} {
		if _, err := explainBest(params(), assay.Goal{Metric: "elapsed"}, trials, 1); !errors.Is(err, assay.ErrTooFew) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	same := someTrials(t, 20, func(tr *assay.Trial) { tr.Value = 7 })
	e, err := explainBest(params(), assay.Goal{Metric: "elapsed"}, same, 1)
	if err != nil || e.Explained != 0 || !(math.Abs(e.Predicted-7) <= 1e-9) {
		t.Errorf("equal values: %+v, %v", e, err)
	}
}

// A parameter that is not in force has no effect: the parameter that puts it out of force has it.
func TestExplainConditional(t *testing.T) {
	all := params()
	all[0].When = &assay.Relation{
		Text: "codec != c", Params: []int{1}, Holds: func(c assay.Config) bool { return c[1] != 2 },
	}
	space, err := assay.NewSpace(all)
	if err != nil {
		t.Fatal(err)
	}
	trials := someTrials(t, 120, nil)
	for i := range trials {
		c := space.Rested(trials[i].Config)
		trials[i].Config, trials[i].Value = c, 2+4/c[0]
		if c[1] == 2 {
			trials[i].Value = 1 // the best has no threads
		}
	}
	e, err := explainBest(all, assay.Goal{Metric: "elapsed"}, trials, 1)
	if err != nil {
		t.Fatal(err)
	}
	sum := math.Log(e.Base)
	for _, p := range e.Params {
		sum += p.Effect
		if p.Name == "threads" && p.Effect != 0 {
			t.Errorf("one that is not in force has an effect: %+v", p)
		}
	}
	if !(math.Abs(sum-math.Log(e.Predicted)) <= 1e-9) {
		t.Errorf("effects lead to %v, the prediction is %v", sum, math.Log(e.Predicted))
	}
	var b strings.Builder
	if err := e.Write(&b, report.Palette{}, &Record{Params: all}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "threads    not in force") || strings.Contains(b.String(), "nil") {
		t.Error(b.String())
	}
}
