package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPrices(t *testing.T) {
	for _, tt := range []struct {
		price    string
		slots    int
		makespan Seconds
		want     float64
	}{
		{"1", 2, 60.5, 121},
		{"0.5/s", 4, 10, 20},
		{"3.6/h", 2, 1000, 2},
		{"0.34/node-hour,slots=8", 8, 3600, 0.34},
		{"0.34/node-hour,slots=8", 9, 3600.5, 1.36},
		{"0.34/node-hour,slots=8,start=90", 8, 3600, 0.68},
		{"60/node-hour,unit=60,min=120", 1, 61, 2},
		{"60/node-hour,unit=60,min=120", 1, 1, 2},
	} {
		p, err := ParsePrice(tt.price)
		if err != nil {
			t.Errorf("%s: %v", tt.price, err)
			continue
		}
		if got := p.Cost(tt.slots, tt.makespan); !(math.Abs(got-tt.want) <= 1e-9) {
			t.Errorf("%s: %d slots for %v s cost %v, want %v", tt.price, tt.slots, tt.makespan, got, tt.want)
		}
	}
	for _, s := range []string{"", "x", "-1", "NaN", "1/day", "1/node-hour,cores=2", "1/node-hour,slots"} {
		if _, err := ParsePrice(s); err == nil {
			t.Errorf("price %q: no error", s)
		}
	}
	// With one loss an hour, an hour's work takes e-1 hours.
	p := Spot{Price: PerSlotSecond(1), LossesPerHour: 1}
	if got, want := p.Cost(1, 3600), 3600*(math.E-1); !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("spot: %v, want %v", got, want)
	}
}

func TestPlanFigure1(t *testing.T) {
	w := figure1(t)
	plan, err := MakePlan(w, PlanOptions{Slots: []int{2, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Pareto) != 1 || plan.Pareto[0].Slots != 2 || plan.Pareto[0].Makespan != 58 ||
		plan.Pareto[0].Cost != 116 {
		t.Errorf("front %+v", plan.Pareto)
	}
	if c := plan.Choice; c.Slots != 2 || c.Method != "bua" || !c.Feasible {
		t.Errorf("choice %+v", c)
	}
	for _, tt := range []struct {
		deadline Seconds
		budget   float64
		slots    int
		feasible bool
		why      string
	}{
		{58, 0, 2, true, "the cheapest"},
		{50, 0, 2, false, "nothing keeps the deadline"},
		{0, 100, 1, true, "the fastest"},
		{0, 80, 1, false, "nothing keeps the budget"},
		{70, 90, 2, false, "nothing keeps the deadline of 70 s and the budget of 90"},
		{90, 200, 1, true, "the cheapest"},
	} {
		plan, err := MakePlan(w, PlanOptions{
			Slots: []int{1, 2, 4}, Deadline: tt.deadline, Budget: tt.budget,
			Simulate: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if c := plan.Choice; c.Slots != tt.slots || c.Feasible != tt.feasible || !strings.Contains(c.Why, tt.why) {
			t.Errorf("deadline %v, budget %v: %d slots, %v: %s", tt.deadline, tt.budget, c.Slots, c.Feasible, c.Why)
		}
	}
}

// TestPareto checks the front against its definition.
func TestPareto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Estimate
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			x, c := float64(rapid.IntRange(1, 5).Draw(t, "makespan")), float64(rapid.IntRange(1, 5).Draw(t, "cost"))
			all = append(all, Estimate{Prediction: Prediction{x, x, x}, Cost: c})
		}
		beats := func(a, b Estimate) bool {
			return a.Makespan <= b.Makespan && a.Cost <= b.Cost && (a.Makespan < b.Makespan || a.Cost < b.Cost)
		}
		front := pareto(all)
		for _, e := range all {
			onFront, beaten := false, false
			for _, f := range front {
				onFront = onFront || f.Makespan == e.Makespan && f.Cost == e.Cost
			}
			for _, o := range all {
				beaten = beaten || beats(o, e)
			}
			if onFront == beaten {
				t.Fatalf("%+v: on the front %v, beaten %v", e, onFront, beaten)
			}
		}
	})
}

func TestVary(t *testing.T) {
	w := figure1(t)
	slots := []int{1, 2, 4}
	a, err := Vary(w, TopDown{}, Overhead{}, slots, VaryOptions{Error: 0.1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Vary(w, TopDown{}, Overhead{}, slots, VaryOptions{Error: 0.1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range a {
		if s.Mean != b[i].Mean || len(s.Predictions) != 100 {
			t.Errorf("slots %d: means %v and %v of %d", s.Slots, s.Mean, b[i].Mean, len(s.Predictions))
		}
		if !(s.Min <= s.Low && s.Low <= s.Mean && s.Mean <= s.High && s.High <= s.Max) {
			t.Errorf("slots %d: %v", s.Slots, s)
		}
	}
	// The sum of eight run times with uniform errors of 10 % has a standard
	// deviation of 0.1/sqrt(3)*sqrt(sum of squares) = 1.75; the mean of 100 is
	// within four tenths of it in all but one of 10000 cases.
	if !(math.Abs(a[0].Mean-84) <= 0.7) {
		t.Errorf("mean on one slot %v, want 84 within 0.7", a[0].Mean)
	}
	if got := a[0].Share(84, 0.1); got < 0.99 {
		t.Errorf("share within 10 %% is %v", got)
	}
	zero, err := Vary(w, Slack{}, Overhead{}, slots, VaryOptions{Samples: 3})
	if err != nil || zero[1].Min != zero[1].Max {
		t.Errorf("no error, but %v, %v", zero[1], err)
	}
}

func TestRange(t *testing.T) {
	w := figure1(t)
	run := w.Runs()
	for i := range run {
		run[i] *= 2
	}
	run[0] = 13 // relatively shorter
	other := w.WithRuns(run)
	other.Makespan, other.Machines = 110, []Machine{{Cores: 2}} // on another number of slots than asked for
	r, err := Range([]*Workflow{w, other}, []int{4}, ByLevels(TopDown{}, Overhead{}))
	if err != nil || len(r) != 2 || r[0].Slots != 2 || r[1].Slots != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !(math.Abs(r[1].High-59.0/84) <= 1e-12) || !(math.Abs(r[1].Low-105.0/155) <= 1e-12) || r[1].Real != nil {
		t.Errorf("%+v", r[1])
	}
	if r[0].Inside() != 1 || !(math.Abs(r[0].Real[0]-110.0/155) <= 1e-12) {
		t.Errorf("%+v, want the recorded 110 s inside", r[0])
	}
	r[0].Real = append(r[0].Real, r[0].Low, r[0].High, r[0].Low-0.01, r[0].High+0.01)
	if r[0].Inside() != 3 {
		t.Errorf("%d of %v are inside", r[0].Inside(), r[0].Real)
	}
}

func TestKnee(t *testing.T) {
	if got := Knee([]int{1, 2, 4, 8}, []float64{100, 52, 31, 30}); got != 2 {
		t.Errorf("knee at %d, want 2", got)
	}
	if got := Knee(nil, nil); got != -1 {
		t.Errorf("knee of nothing at %d", got)
	}
}

func TestCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 30)
		k := rapid.IntRange(1, 4).Draw(t, "k")
		c, err := Cluster(w, TopDown{}, k)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(c.Work()-w.Work()) <= 1e-9) || c.Graph.Depth() != w.Graph.Depth() {
			t.Fatalf("work %v of %v, %d levels of %d", c.Work(), w.Work(), c.Graph.Depth(), w.Graph.Depth())
		}
		count := map[string]int{}
		for i, l := range (TopDown{}).Level(c.Graph, nil, 1) {
			count[fmt.Sprint(l, c.Tasks[i].Kind)]++
		}
		for g, n := range count {
			if n > k {
				t.Fatalf("%d jobs of %s, want at most %d", n, g, k)
			}
		}
	})
	// Level 1 of Fig. 1 has tasks of 9, 13 and 7: two jobs of 13 and 16.
	c, err := Cluster(figure1(t), TopDown{}, 2)
	if err != nil || len(c.Tasks) != 7 || c.Tasks[1].Run != 16 || c.Tasks[2].Run != 13 {
		t.Errorf("clustered: %+v, %v", c.Tasks, err)
	}
}

func TestFitKinds(t *testing.T) {
	var b Builder
	for i := 1; i <= 6; i++ {
		for _, task := range []Task{
			{ID: fmt.Sprintf("a%d", i), Kind: "line", Run: 2 + 50*float64(i), In: float64(100 * i), Machine: -1},
			{ID: fmt.Sprintf("b%d", i), Kind: "flat", Run: 7, In: float64(100 * i), Machine: -1},
		} {
			if _, err := b.Task(task, Pos{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := FitKinds(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		task Task
		on   *Machine
		want Seconds
		ok   bool
	}{
		{Task{Kind: "line", In: 2000}, nil, 1002, true},
		{Task{Kind: "line", In: 2000}, &Machine{Speed: 2}, 501, true},
		{Task{Kind: "flat", In: 2000}, nil, 7, true},
		{Task{Kind: "none"}, nil, math.NaN(), false},
	} {
		got, ok := m.Run(&tt.task, tt.on)
		if ok != tt.ok || ok && !(math.Abs(got-tt.want) <= 0.02*tt.want) {
			t.Errorf("%+v: %v, %v; want %v", tt.task, got, ok, tt.want)
		}
	}
	if v, n := Predicted(w, m, nil); n != 12 || !(math.Abs(v.Work()-w.Work()) <= 1e-3*w.Work()) {
		t.Errorf("%d tasks predicted, work %v of %v", n, v.Work(), w.Work())
	}
}

// siteRun returns a workflow of n tasks in three levels with its makespan under
// a site, with a noise factor, on a machine of cores.
func siteRun(t *testing.T, n, cores int, overhead Overhead, rng *rand.Rand, noise float64) Execution {
	t.Helper()
	w := layered(t, 3*n, n)
	run := w.Runs()
	for i := range run {
		run[i] = 20 + 60*rng.Float64()
	}
	w = w.WithRuns(run)
	for i := range w.Tasks {
		w.Tasks[i].In = 1e8 * rng.Float64()
		w.Tasks[i].Machine = 0
	}
	w.Machines = []Machine{{Name: "m", Cores: cores}}
	w.Makespan = overhead.Makespan(Profile(w, nil, TopDown{}.Level(w.Graph, nil, 1)),
		cores) * (1 + noise*(2*rng.Float64()-1))
	return Execution{Workflow: w}
}

// TestCalibrateRecovers checks that a calibration recovers its input: makespans of a site of known
// delays and a third of its cores are predicted, for sizes beyond those seen too.
func TestCalibrateRecovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	overhead := Overhead{Start: 60, Level: 25, Byte: 2e-9, Share: 1.0 / 3}
	var runs []Execution
	for _, n := range []int{10, 20, 35, 50, 80, 120} {
		runs = append(runs, siteRun(t, n, 24, overhead, rng, 0.02))
	}
	c, err := Calibrate(runs)
	if err != nil {
		t.Fatal(err)
	}
	if c.CVError > 0.05 || c.Sigma > 0.2 {
		t.Errorf("median error %v, sigma %v", c.CVError, c.Sigma)
	}
	for _, n := range []int{15, 60, 200} {
		e := siteRun(t, n, 24, overhead, rng, 0)
		p, err := c.Predict(e.Workflow, TopDown{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if RelError(e.Workflow.Makespan, p.Makespan) > 0.1 || p.Low > e.Workflow.Makespan ||
			p.High < e.Workflow.Makespan {
			t.Errorf("%d tasks: predicted %+v, real %v", n, p, e.Workflow.Makespan)
		}
	}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	if !IsCalibration(b.Bytes()) {
		t.Errorf("not recognised: %s", b.String()[:60])
	}
	back, err := ReadCalibration("c", bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	e := siteRun(t, 33, 24, overhead, rng, 0)
	p, err1 := c.Predict(e.Workflow, BottomUp{}, 8)
	q, err2 := back.Predict(e.Workflow, BottomUp{}, 8)
	if err1 != nil || err2 != nil || p != q {
		t.Errorf("read back: %v, %v instead of %v, %v", q, err2, p, err1)
	}
	for _, bad := range []string{
		"{", "{}", `{"version":1}`, `{"version":9}`,
		strings.Replace(b.String(), `"start_s"`, `"weather"`, 1),
	} {
		var in *InputError
		if _, err := ReadCalibration("c", strings.NewReader(bad)); !errors.As(err, &in) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

func TestCalibrateErrors(t *testing.T) {
	if _, err := Calibrate(nil); !errors.Is(err, ErrNoRuns) {
		t.Errorf("no executions: %v", err)
	}
	if _, err := Calibrate([]Execution{{Workflow: figure1(t)}}); !errors.Is(err, ErrNoMakespan) {
		t.Errorf("no makespan: %v", err)
	}
}

// TestNNLS checks the conditions of Karush, Kuhn and Tucker.
func TestNNLS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, maxTerms).Draw(t, "columns")
		var m gram
		for range rapid.IntRange(p+2, 9).Draw(t, "rows") {
			x := make([]float64, p)
			for i := range x {
				x[i] = rapid.Float64Range(-3, 3).Draw(t, "x")
			}
			m.add(x, rapid.Float64Range(-3, 3).Draw(t, "b"), 1)
		}
		for i := range p {
			m.g[i*maxTerms+i] += 0.01
		}
		x := m.nnls(p)
		for i := range p {
			slope := -m.c[i]
			for j := range p {
				slope += m.g[i*maxTerms+j] * x[j]
			}
			if x[i] < 0 || slope < -1e-6 || x[i] > 0 && !(math.Abs(slope) <= 1e-6) {
				t.Fatalf("x[%d] = %v with slope %v", i, x[i], slope)
			}
		}
	})
}
