package workflow

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay/internal/stats"
)

// TestVaryUniform checks that the factor on a run time is uniform in [1-Error,
// 1+Error]: on a workflow of one task the predictions are the factors. A thousand
// of them come within a hundredth of both ends, a quarter is in each quarter, and
// their standard deviation is Error/sqrt(3).
func TestVaryUniform(t *testing.T) {
	const n = 1000
	w := tasks(t, "a:1")
	for _, e := range []float64{0.05, 0.1, 0.5, 1} {
		s, err := Vary(w, TopDown{}, Overhead{}, []int{1}, VaryOptions{Error: e, Samples: n, Seed: 11})
		if err != nil {
			t.Fatal(err)
		}
		if len(s) != 1 || len(s[0].Predictions) != n {
			t.Fatalf("%d spreads", len(s))
		}
		low, high := 1-e, 1+e
		if s[0].Min < low || s[0].Min > low+0.02*e || s[0].Max > high || s[0].Max < high-0.02*e {
			t.Errorf("error %v: from %v to %v, want %v to %v", e, s[0].Min, s[0].Max, low, high)
		}
		for i := range 4 {
			from, to, in := low+e*float64(i)/2, low+e*float64(i+1)/2, 0
			for _, x := range s[0].Predictions {
				if from <= x && x < to {
					in++
				}
			}
			// 4.5 standard deviations of a binomial count are 62.
			if in < n/4-62 || in > n/4+62 {
				t.Errorf("error %v: %d of %d from %v to %v", e, in, n, from, to)
			}
		}
		sum := 0.0
		for _, x := range s[0].Predictions {
			sum += (x - 1) * (x - 1)
		}
		if sd, want := math.Sqrt(sum/n), e/math.Sqrt(3); !(math.Abs(sd-want) <= 0.07*want) {
			t.Errorf("error %v: standard deviation %v, want %v", e, sd, want)
		}
	}
}

// With a calibration the run times have the same errors. A calibration with twice the work of a machine
// predicts 2·100·(1-e) to 2·100·(1+e) for one task of 100 s, spread evenly.
func TestCalibrationVaryUniform(t *testing.T) {
	const n = 1000
	c := Calibration{NodeCores: 1, Models: []WeightedModel{{Weight: 1, Terms: []Coefficient{{WorkPerNode, 2}}}}}
	w := tasks(t, "a:100")
	w.Machines, w.Tasks[0].Machine = []Machine{{Cores: 1}}, 0
	for _, e := range []float64{0.1, 0.5} {
		s := c.Vary(w, TopDown{}, VaryOptions{Error: e, Samples: n, Seed: 11})
		low, high := 200*(1-e), 200*(1+e)
		if s.Min < low*(1-1e-9) || s.Min > low+4*e || s.Max > high*(1+1e-9) || s.Max < high-4*e {
			t.Errorf("error %v: from %v to %v, want %v to %v", e, s.Min, s.Max, low, high)
		}
		// The mean of n numbers even on ±200·e has the standard deviation 200·e/√(3·n).
		if off := math.Abs(s.Mean - 200); off > 4.5*200*e/math.Sqrt(3*n) {
			t.Errorf("error %v: mean %v", e, s.Mean)
		}
		if mid := s.High - s.Low; !(math.Abs(mid-0.9*400*e) <= 0.05*400*e) {
			t.Errorf("error %v: 90 %% are within %v, want %v", e, mid, 0.9*400*e)
		}
	}
	if s := c.Vary(w, TopDown{}, VaryOptions{Seed: 3}); len(s.Predictions) != 100 || !(math.Abs(s.Mean-200) <= 1e-9) {
		t.Errorf("without error %d predictions of %v, want 100 of 200", len(s.Predictions), s.Mean)
	}
}

// TestAverage checks that the predictions from all executions are summed up
// together, from one seed each, whatever tasks these have (Fig. 4).
func TestAverage(t *testing.T) {
	runs := []*Workflow{tasks(t, "a:1 b:2<a"), tasks(t, "a:10 b:20<a"), tasks(t, "a:100 b:100<a c:100<b")}
	s, err := Average(runs, TopDown{}, Overhead{}, []int{1, 2}, VaryOptions{Samples: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range s {
		if want := []Seconds{3, 3, 30, 30, 300, 300}; !slices.Equal(x.Predictions, want) {
			t.Errorf("%d slots: %v, want %v", x.Slots, x.Predictions, want)
		}
		if x.Mean != 111 || x.Min != 3 || x.Max != 300 {
			t.Errorf("%d slots: mean %v, from %v to %v", x.Slots, x.Mean, x.Min, x.Max)
		}
	}
	same := []*Workflow{runs[0], runs[0]}
	s, err = Average(same, Slack{}, Overhead{Start: 1}, []int{2}, VaryOptions{Error: 0.1, Samples: 40, Seed: 7})
	if err != nil || len(s[0].Predictions) != 80 {
		t.Fatalf("%v, %v", s, err)
	}
	if p := s[0].Predictions; slices.Equal(p[:40], p[40:]) {
		t.Error("two executions have the same random errors")
	}
	first, err := Vary(runs[0], Slack{}, Overhead{Start: 1}, []int{2}, VaryOptions{Error: 0.1, Samples: 40, Seed: 8})
	if err != nil || !slices.Equal(first[0].Predictions, s[0].Predictions[40:]) {
		t.Errorf("the second execution has not the next seed (%v)", err)
	}
	c := &Calibration{NodeCores: 1, Models: []WeightedModel{
		{Weight: 1, Compute: ComputeModel{Share: 1}, Terms: []Coefficient{{Start, 50}, {Scale, 1}}},
	}}
	s, err = c.Average(runs, TopDown{}, []int{1, 2}, VaryOptions{Samples: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range s[1].Predictions {
		if want, err := c.Predict(runs[i], TopDown{}, 2); err != nil || !(math.Abs(x-want.Makespan) <= 1e-9) {
			t.Errorf("calibrated, without errors: %v, want %v (%v)", x, want.Makespan, err)
		}
	}
	if !panics(func() { _, _ = Average(nil, TopDown{}, Overhead{}, []int{1}, VaryOptions{}) }) {
		t.Error("no executions: no panic")
	}
	if _, err := Average([]*Workflow{tasks(t, "a:NaN")}, TopDown{}, Overhead{}, []int{1}, VaryOptions{}); err == nil {
		t.Error("a missing run time is varied")
	}
}

// TestPlanMean checks that a plan with random run times shows their mean, not the
// makespan of the run times as they are: of four tasks side by side the longest is
// longer than a task on average.
func TestPlanMean(t *testing.T) {
	w := tasks(t, "a:100 b:100 c:100 d:100")
	opt := PlanOptions{Slots: []int{1, 4}, Levelers: Levelers()[:1], Vary: VaryOptions{Error: 0.1, Samples: 500, Seed: 5}}
	p, err := MakePlan(w, opt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Vary(w, TopDown{}, Overhead{}, opt.Slots, opt.Vary)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range p.Estimates {
		if !(math.Abs(e.Makespan-s[i].Mean) <= 1e-9) || !(math.Abs(e.Low-s[i].Low) <= 1e-9) ||
			!(math.Abs(e.High-s[i].High) <= 1e-9) {
			t.Errorf("%+v, want the mean %v, %v to %v", e, s[i].Mean, s[i].Low, s[i].High)
		}
	}
	// The mean of the greatest of four uniform on [0.9, 1.1] is 0.9 + 0.2·4/5.
	if m := p.Estimates[1].Makespan; !(math.Abs(m-106) <= 0.6) {
		t.Errorf("on four slots %v s, want 106", m)
	}
}

// TestVarySameRunTimes checks that every number of slots sees the same run times:
// without overhead a chain takes as long on any.
func TestVarySameRunTimes(t *testing.T) {
	w := tasks(t, "a:5 b:7<a c:9<b")
	for _, l := range Levelers() {
		s, err := Vary(w, l.Leveler, Overhead{}, []int{1, 4, 64}, VaryOptions{Error: 0.3, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range s[1:] {
			if !slices.Equal(x.Predictions, s[0].Predictions) {
				t.Errorf("%s: %d slots see other run times than %d", l.Name, x.Slots, s[0].Slots)
			}
		}
	}
	other, err := Vary(w, TopDown{}, Overhead{}, []int{1}, VaryOptions{Error: 0.3, Seed: 4})
	again, err2 := Vary(w, TopDown{}, Overhead{}, []int{1}, VaryOptions{Error: 0.3, Seed: 3})
	if err != nil || err2 != nil || slices.Equal(other[0].Predictions, again[0].Predictions) {
		t.Errorf("two seeds give the same predictions (%v, %v)", err, err2)
	}
}

// TestVaryLevelsFollowSlots checks that levels which depend on the slots are found
// for each number of them: without errors it is the makespan of the model.
func TestVaryLevelsFollowSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 9)
		slots := []int{4, 1, 2}
		for _, l := range Levelers() {
			s, err := Vary(w, l.Leveler, Overhead{Level: 1}, slots, VaryOptions{Samples: 1})
			if err != nil {
				t.Fatal(err)
			}
			m, err := NewLevelModel(w, l.Leveler, Overhead{Level: 1})
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range slots {
				if want, err := m.Makespan(n); err != nil || s[i].Mean != want || s[i].Slots != n {
					t.Fatalf("%s: %v s on %d slots, %v; want %v", l.Name, s[i].Mean, s[i].Slots, err, want)
				}
			}
		}
	})
}

// TestSpread checks the summary and an entry of Table I.
func TestSpread(t *testing.T) {
	s := Spread{Predictions: []Seconds{110, 90, 100, 95, 105}}
	s.summarise()
	if s.Mean != 100 || s.Min != 90 || s.Max != 110 || s.Low != 91 || s.High != 109 {
		t.Errorf("%+v", s)
	}
	for _, tt := range []struct{ limit, want float64 }{{0.04, 0.2}, {0.06, 0.6}, {0.05, 0.2}, {0.2, 1}} {
		if got := s.Share(100, tt.limit); got != tt.want {
			t.Errorf("share within %v is %v, want %v", tt.limit, got, tt.want)
		}
	}
}

// TestQuantile checks that it is stats.Quantile up to rounding, and that it sorts.
func TestQuantile(t *testing.T) {
	x := []float64{5, 1, 4, 2, 3.5}
	for _, q := range []float64{0, 0.05, 0.25, 0.5, 0.9, 1} {
		if got, want := Quantile(slices.Clone(x), q), stats.Quantile(x, q); !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("%v-quantile %v, want %v", q, got, want)
		}
	}
	if Quantile(x, 1); !slices.IsSorted(x) {
		t.Error("not sorted")
	}
	if got := Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("of nothing: %v", got)
	}
}

// TestKneeLimit checks which step still counts: 5 % of the least makespan.
func TestKneeLimit(t *testing.T) {
	for _, tt := range []struct {
		makespan []Seconds
		want     int
	}{
		{[]Seconds{100}, 0},
		{[]Seconds{105, 100}, 0},   // as much as 5 % is not worth it
		{[]Seconds{105.1, 100}, 1}, // more is
		{[]Seconds{200, 120, 104, 100, 100}, 2},
		{[]Seconds{200, 100, 130}, 1}, // slots can make it worse
		{[]Seconds{0, 0}, 0},
	} {
		slots := make([]int, len(tt.makespan))
		if got := Knee(slots, tt.makespan); got != tt.want {
			t.Errorf("%v: knee at %d, want %d", tt.makespan, got, tt.want)
		}
	}
	if !panics(func() { Knee([]int{1}, nil) }) {
		t.Error("slots without makespans: no panic")
	}
}

// TestRangeErrors checks the inputs that cannot have a range.
func TestRangeErrors(t *testing.T) {
	w := tasks(t, "a:1")
	plain := ByLevels(TopDown{}, Overhead{})
	if _, err := Range([]*Workflow{w, tasks(t, "a:NaN")}, []int{1}, plain); err == nil {
		t.Error("a missing run time has a range")
	}
	if _, err := Range([]*Workflow{w, tasks(t, "a:0")}, []int{1}, plain); err == nil {
		t.Error("an execution without work has a range")
	}
	c := &Calibration{NodeCores: 1, Models: []WeightedModel{{Weight: 1, Terms: []Coefficient{{Start, 1}}}}}
	for _, model := range []func(*Workflow) (Estimator, error){plain, c.Estimator(TopDown{})} {
		if _, err := Range([]*Workflow{w}, []int{0}, model); err == nil {
			t.Error("no slots have a range")
		}
	}
	if r, err := Range([]*Workflow{w}, []int{3}, c.Estimator(TopDown{})); err != nil || r[0].Low != 1 || r[0].High != 1 {
		t.Errorf("a calibration of one second for a second of work: %+v, %v", r, err)
	}
	if !panics(func() { _, _ = Range(nil, []int{1}, plain) }) {
		t.Error("no executions: no panic")
	}
}
