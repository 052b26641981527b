package workflow

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBestOverhead checks how each term of a model becomes an overhead on 16 slots,
// which are two machines of eight cores.
func TestBestOverhead(t *testing.T) {
	half := ComputeModel{Share: 0.5}
	for _, tt := range []struct {
		name    string
		compute ComputeModel
		term    Term
		value   float64
		want    Overhead
	}{
		{"start", half, Start, 60, Overhead{Scale: 1, Share: 0.5, Start: 60}},
		{"level", half, PerLevel, 25, Overhead{Scale: 1, Share: 0.5, Level: 25}},
		{"submit host", half, PerTask, 2, Overhead{Scale: 1, Share: 0.5, Dispatch: 2}},
		{"shared storage", half, PerGB, 3, Overhead{Scale: 1, Share: 0.5, Byte: 3e-9}},
		{"a task on its machine", half, TaskPerNode, 2, Overhead{Scale: 1, Share: 0.5, Dispatch: 1}},
		{"a gigabyte on its machine", half, GBPerNode, 3, Overhead{Scale: 1, Share: 0.5, Byte: 1.5e-9}},
		{"in the slot", half, PerWave, 4, Overhead{Scale: 1, Share: 0.5, Task: 4}},
		{"scale", half, Scale, 1.5, Overhead{Scale: 1.5, Share: 0.5}},
		// A quarter of the work on a machine of eight cores is four of them.
		{"work", half, WorkPerNode, 0.25, Overhead{Scale: 1, Share: 0.5}},
		{"work on one of eight cores", half, WorkPerNode, 1, Overhead{Scale: 1, Share: 0.125}},
		{"at most four slots", ComputeModel{Cap: 4}, Start, 1, Overhead{Scale: 1, SlotCap: 4, Start: 1}},
	} {
		c := Calibration{NodeCores: 8, Models: []WeightedModel{
			// A twin, and a model that counts no slots, are heavier and passed over.
			{Weight: 0.5, Compute: ComputeModel{Cap: 1}, Twin: true},
			{Weight: 0.3, Terms: []Coefficient{{Start, 999}}},
			{Weight: 0.2, Compute: tt.compute, Terms: []Coefficient{{tt.term, tt.value}}},
		}}
		got := c.BestOverhead(16)
		if math.Abs(got.Byte-tt.want.Byte) < 1e-20 {
			got.Byte = tt.want.Byte
		}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	only := Calibration{NodeCores: 8, Models: []WeightedModel{{Weight: 1, Terms: []Coefficient{{PerLevel, 9}}}}}
	if got := only.BestOverhead(4); got != (Overhead{Scale: 1, Level: 9}) {
		t.Errorf("a calibration without models that count slots: %+v", got)
	}
}

// TestMean checks the average that is shown to people: models without a term count
// it as 0, and terms that are 0 everywhere are left out.
func TestMean(t *testing.T) {
	c := Calibration{Models: []WeightedModel{
		{Weight: 0.75, Terms: []Coefficient{{Start, 100}, {Scale, 1}}},
		{Weight: 0.25, Terms: []Coefficient{{Start, 20}, {PerLevel, 8}}},
	}}
	want := []Coefficient{{Start, 80}, {PerLevel, 2}, {Scale, 0.75}}
	if got := c.Mean(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestPredictSlots checks when the recorded machines are meant, and that no
// prediction beats the bounds.
func TestPredictSlots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var runs []Execution
	for _, n := range []int{8, 16, 24, 40} {
		runs = append(runs, siteRun(t, n, 8, Overhead{Start: 30, Share: 0.5}, rng, 0.01))
	}
	c, err := Calibrate(runs)
	if err != nil {
		t.Fatal(err)
	}
	if c.Executions != 4 || c.Configs != 4 || c.NodeCores != 8 {
		t.Errorf("%d executions of %d configurations on machines of %v cores", c.Executions, c.Configs, c.NodeCores)
	}
	w := runs[2].Workflow
	recorded, err := c.Predict(w, TopDown{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := c.Predict(w, TopDown{}, w.Cores()); err != nil || same != recorded {
		t.Errorf("on the recorded cores %+v, %v; want %+v", same, err, recorded)
	}
	last := math.Inf(1)
	for _, slots := range []int{1, 2, 4, 16, 64, 1000} {
		p, err := c.Predict(w, TopDown{}, slots)
		if err != nil || p.Makespan > last+1e-9 || p.Makespan < Bounds(w, Overhead{}, slots).Makespan() {
			t.Errorf("%d slots: %+v after %v, %v", slots, p, last, err)
		}
		if p.Low >= p.Makespan || p.High <= p.Makespan || !(math.Abs(p.Low*p.High/(p.Makespan*p.Makespan)-1) <= 1e-9) {
			t.Errorf("%d slots: the interval %+v is not the same factor both ways", slots, p)
		}
		last = p.Makespan
	}
	if p, err := c.Predict(w, TopDown{}, -1); err == nil {
		t.Errorf("-1 slots: %+v", p)
	}
	if p, err := c.Predict(tasks(t, "a:NaN"), TopDown{}, 1); err == nil {
		t.Errorf("a missing run time: %+v", p)
	}
}

// TestCalibrateRepetitions checks that repetitions of one configuration are left out
// together: alone they give no information about others, and the interval stays wide.
func TestCalibrateRepetitions(t *testing.T) {
	overhead := Overhead{Start: 100, Level: 10}
	repeat := func(names ...string) *Calibration {
		rng := rand.New(rand.NewPCG(3, 3))
		var runs []Execution
		for i, name := range names {
			e := siteRun(t, 10+5*i, 4, overhead, rng, 0)
			e.Config = name
			runs = append(runs, e)
		}
		c, err := Calibrate(runs)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, several := repeat("x", "x", "x", "x"), repeat("x", "y", "z", "")
	if one.Configs != 1 || several.Configs != 4 {
		t.Errorf("%d and %d configurations", one.Configs, several.Configs)
	}
	if one.Sigma < unknownSigma || several.Sigma >= unknownSigma {
		t.Errorf("sigma %v of one configuration, %v of four", one.Sigma, several.Sigma)
	}
}

// TestCalibrateWeight checks that an execution of negligible weight does not change the result of the others.
func TestCalibrateWeight(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var runs []Execution
	for _, n := range []int{8, 16, 24, 40} {
		runs = append(runs, siteRun(t, n, 8, Overhead{Start: 30}, rng, 0))
	}
	odd := siteRun(t, 20, 8, Overhead{Start: 5000}, rng, 0)
	w := siteRun(t, 30, 8, Overhead{Start: 30}, rng, 0).Workflow
	predict := func(weight float64) Seconds {
		odd.Weight = weight
		c, err := Calibrate(append(slices.Clone(runs), odd))
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Predict(w, TopDown{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return p.Makespan
	}
	light, heavy := RelError(w.Makespan, predict(1e-6)), RelError(w.Makespan, predict(1))
	if light > 0.03 || heavy < 2*light {
		t.Errorf("errors %v with the odd one at weight 1e-6, %v at 1", light, heavy)
	}
}

// TestCalibrateRefuses checks executions that nothing can be learned from.
func TestCalibrateRefuses(t *testing.T) {
	good := tasks(t, "a:1")
	good.Makespan = 2
	bad := good.WithRuns([]Seconds{math.NaN()})
	if _, err := Calibrate([]Execution{{Workflow: good}, {Workflow: bad}}); err == nil {
		t.Error("a missing run time is calibrated from")
	}
	for _, m := range []Seconds{0, -1, math.NaN()} {
		w := *good
		w.Makespan = m
		if _, err := Calibrate([]Execution{{Workflow: &w}}); !errors.Is(err, ErrNoMakespan) {
			t.Errorf("makespan %v: %v", m, err)
		}
	}
}

// TestCalibrationVary checks that random run times go through the calibration: with
// half the error the predictions are half as far apart.
func TestCalibrationVary(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	var runs []Execution
	for _, n := range []int{6, 12, 18} {
		runs = append(runs, siteRun(t, n, 4, Overhead{}, rng, 0))
	}
	c, err := Calibrate(runs)
	if err != nil {
		t.Fatal(err)
	}
	w := runs[1].Workflow
	width := func(e float64) float64 {
		s := c.Vary(w, TopDown{}, VaryOptions{Error: e, Seed: 1})
		if len(s.Predictions) != 100 || s.Slots != 4 {
			t.Fatalf("%d predictions on %d slots", len(s.Predictions), s.Slots)
		}
		return s.Max - s.Min
	}
	if a, b := width(0.1), width(0.2); a <= 0 || !(math.Abs(b/a-2) <= 0.2) {
		t.Errorf("widths %v and %v for errors of 10 and 20 %%", a, b)
	}
	same, err := c.Predict(w, TopDown{}, 0)
	if s := c.Vary(w, TopDown{}, VaryOptions{Samples: 2}); err != nil || RelError(same.Makespan, s.Mean) > 1e-12 {
		t.Errorf("without error %v, want %v", s.Mean, same.Makespan)
	}
}

// TestUncalibrated checks the interval where nothing was fitted: exp(1.645·1.3).
func TestUncalibrated(t *testing.T) {
	p := Uncalibrated(100)
	if p.Makespan != 100 || !(math.Abs(p.High-848.7) <= 0.1) || !(math.Abs(p.Low-11.78) <= 0.01) {
		t.Errorf("%+v", p)
	}
}

// TestTermText checks that a term is stored by its name, and no other name is read.
func TestTermText(t *testing.T) {
	seen := map[string]bool{}
	for term := Start; term < numTerms; term++ {
		text, err := term.MarshalText()
		var back Term
		if err != nil || back.UnmarshalText(text) != nil || back != term || seen[string(text)] {
			t.Errorf("%v: %q, %v, read as %v", term, text, err, back)
		}
		seen[string(text)] = true
	}
	if text, err := numTerms.MarshalText(); err == nil {
		t.Errorf("a term that is not there: %q", text)
	}
	var x Term
	if x.UnmarshalText([]byte("weather")) == nil {
		t.Error("weather is a term")
	}
}

// TestPlacedSpan checks that a level takes as long as the machine that is last: two
// tasks of 10 s on a machine of one core, one on another of four.
func TestPlacedSpan(t *testing.T) {
	w := tasks(t, "a:10 b:10 c:15")
	w.Machines = []Machine{{Name: "m", Cores: 1}, {Name: "n", Cores: 4}}
	w.Tasks[0].Machine, w.Tasks[1].Machine, w.Tasks[2].Machine = 0, 0, 1
	level := TopDown{}.Level(w.Graph, nil, 1)
	levels := Profile(w, nil, level)
	none := []Seconds{0}
	if span, waves := placedSpan(w, level, levels, 1, none); span != 20 || waves != 2 {
		t.Errorf("span %v in %v waves, want 20 in 2", span, waves)
	}
	if span, _ := levelSpan(levels, 3, none); span != 15 {
		t.Errorf("span %v wherever the tasks run, want 15", span)
	}
	if span, _ := placedSpan(w, level, levels, 1, []Seconds{100}); span != 100 {
		t.Errorf("span %v under a link that takes 100 s", span)
	}
}
