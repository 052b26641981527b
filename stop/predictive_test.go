package stop_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/stop"
)

func integers(t testing.TB, his ...float64) *assay.Space {
	t.Helper()
	var ps []assay.Param
	for i, hi := range his {
		ps = append(ps, assay.Param{Name: string(rune('a' + i)), Kind: assay.Integer, Lo: 0, Hi: hi})
	}
	s, err := assay.NewSpace(ps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPredictiveConformance(t *testing.T) {
	for name, opts := range map[string]stop.PredictiveOptions{
		"paper":         {After: 3},
		"as built":      {},
		"keep stopped":  {After: 3, Stopped: stop.KeepStopped},
		"impute":        {After: 3, Stopped: stop.ImputeStopped},
		"standard":      {After: 3, Learner: model.Boost{}, Standard: true},
		"guard":         {After: 3, Confidence: 0.9, Spare: 0.5},
		"other learner": {After: 3, Learner: model.Impute(model.Forest{Trees: 5}, 2), Confidence: 0.8},
	} {
		t.Run(name, func(t *testing.T) {
			space := integers(t, 4, 6)
			assaytest.TestStopper(t, func() assay.Stopper { return stop.NewPredictive(space, opts) })
		})
	}
}

// A slope is a program whose run time is the greater, the greater the first
// parameter is; the second one has no effect.
func slope(c assay.Config) float64 { return 10 * math.Exp(c[0]/5) }

// finishedSlope returns n finished trials at random.
func finishedSlope(n int, seed uint64) []assay.Trial {
	rng := rand.New(rand.NewPCG(seed, 0))
	var h []assay.Trial
	for i := range n {
		c := assay.Config{float64(rng.IntN(21)), float64(rng.IntN(21))}
		h = append(h, assay.Trial{
			Proposal: assay.Proposal{ID: int64(i + 1), Config: c}, State: assay.Done,
			Value: slope(c) * math.Exp(0.02*rng.NormFloat64()),
		})
	}
	return h
}

func runningAt(id int64, c assay.Config, value float64) assay.Trial {
	return assay.Trial{Proposal: assay.Proposal{ID: id, Config: c}, State: assay.Running, Value: value}
}

// "If the prediction is better than the existing best from the collected samples,
// Cello lets the configuration keep running ... If the prediction is worse than
// the existing best from the collected samples, Cello will terminate the running
// process", "before their measured system behavior surpasses the termination
// threshold".
// Reference: Ding et al. 2022, section 3.5 and Algorithm 1, lines 9 to 16
func TestStopsBeforeTheThreshold(t *testing.T) {
	rule := stop.NewPredictive(integers(t, 20, 20), stop.PredictiveOptions{})
	h := slices.DeleteFunc(finishedSlope(40, 1), func(t assay.Trial) bool { return t.Config[0] < 4 })
	best, _ := assay.Best(h)
	slow := rule.Decide(h, runningAt(99, assay.Config{18, 3}, 1))
	if !slow.Stop || !(slow.Predicted > 2*best.Value) {
		t.Errorf("a run of %.0f s is not stopped after 1 s with the best at %.1f s: %+v",
			slope(assay.Config{18, 3}), best.Value, slow)
	}
	if want := "after 1, best is"; !strings.Contains(slow.Reason, want) {
		t.Errorf("got reason %q, want it to have %q", slow.Reason, want)
	}
	// The censored row raises the prediction with the time that has passed.
	var last float64
	for _, at := range []float64{1, 0.8 * best.Value, 0.9 * best.Value, 0.99 * best.Value} {
		d := rule.Decide(h, runningAt(99, assay.Config{best.Config[0], 20}, at))
		if d.Predicted < at || d.Predicted < last*0.98 {
			t.Errorf("after %.2f the prediction is %.2f, before %.2f", at, d.Predicted, last)
		}
		last = d.Predicted
	}
}

// "Build censored regressor on Xtrain, Ytrain, xi, yit": stopped trials are not
// among them, violators are, with an extremely high value.
// Reference: Ding et al. 2022, Algorithm 1, lines 11 and 22
func TestTrainingSet(t *testing.T) {
	h := finishedSlope(30, 2)
	best, _ := assay.Best(h)
	at := runningAt(99, assay.Config{2, 2}, 0.5*best.Value)
	predict := func(opts stop.PredictiveOptions, extra ...assay.Trial) float64 {
		return stop.NewPredictive(integers(t, 20, 20), opts).Decide(slices.Concat(h, extra), at).Predicted
	}
	near := func(id int64, state assay.State, value float64, d *assay.Decision) assay.Trial {
		tr := trial(id, state, value)
		tr.Config, tr.Decision = assay.Config{2, 3}, d
		return tr
	}
	plain := predict(stop.PredictiveOptions{})
	stopped := near(50, assay.Censored, 500, &assay.Decision{Stop: true, Predicted: 900})
	if got := predict(stop.PredictiveOptions{}, stopped); got != plain {
		t.Errorf("a stopped trial changes the prediction from %v to %v", plain, got)
	}
	if got := predict(stop.PredictiveOptions{}, near(50, assay.Failed, math.Inf(1), nil)); got != plain {
		t.Errorf("a failed trial changes the prediction from %v to %v", plain, got)
	}
	boosted := stop.PredictiveOptions{Stopped: stop.ImputeStopped, Standard: true, Learner: model.Boost{}}
	for name, got := range map[string]float64{
		"a violator":         predict(stop.PredictiveOptions{}, near(50, assay.Infeasible, 1, nil)),
		"a kept trial":       predict(stop.PredictiveOptions{Stopped: stop.KeepStopped}, stopped),
		"an imputed trial":   predict(stop.PredictiveOptions{Stopped: stop.ImputeStopped}, stopped),
		"an imputed trial 2": predict(boosted, stopped),
	} {
		if !(got > 1.05*plain) {
			t.Errorf("%s nearby does not raise the prediction: %v without, %v with", name, plain, got)
		}
	}
}

// A learner that predicts a constant, or an error.
type constant struct {
	mean float64
	err  error
}

func (c constant) Fit(assay.Data) (assay.Predictor, error) { return c, c.err }
func (c constant) Predict([]float64) assay.Prediction      { return assay.Prediction{Mean: c.mean, Std: 1} }

func TestABadModelStopsNothing(t *testing.T) {
	h := finishedSlope(30, 3)
	best, _ := assay.Best(h)
	for _, l := range []constant{
		{math.NaN(), nil}, {math.Inf(1), nil}, {math.Inf(-1), nil}, {0, assay.ErrBadData}, {-5, nil},
	} {
		for _, confidence := range []float64{0, 0.9} {
			for _, standard := range []bool{false, true} {
				opts := stop.PredictiveOptions{Learner: l, Confidence: confidence, Standard: standard}
				rule := stop.NewPredictive(integers(t, 20, 20), opts)
				if d := rule.Decide(h, runningAt(99, assay.Config{1, 1}, best.Value/2)); d.Stop {
					t.Errorf("%+v stops a run: %+v", l, d)
				}
				if d := rule.Decide(h, runningAt(99, assay.Config{1, 1}, best.Value)); !d.Stop {
					t.Errorf("%+v: a run at the incumbent is not stopped", l)
				}
			}
		}
	}
	// A model that is wrong by a factor of 3 for every example predicts too much;
	// the margin takes it back.
	same := make([]assay.Trial, 30)
	for i := range same {
		same[i] = h[0]
		same[i].ID = int64(i + 1)
	}
	other := runningAt(99, assay.Config{20 - h[0].Config[0], 5}, h[0].Value/2)
	for _, standard := range []bool{false, true} {
		learner := excess{h[0].Value, integers(t, 20, 20).Encode(h[0].Config)}
		opts := stop.PredictiveOptions{Learner: learner, Standard: standard}
		if d := stop.NewPredictive(integers(t, 20, 20), opts).Decide(same, other); !d.Stop {
			t.Errorf("without a margin the prediction does not decide: %+v", d)
		}
		opts.Confidence = 0.9
		if d := stop.NewPredictive(integers(t, 20, 20), opts).Decide(same, other); d.Stop || d.Predicted != 2.9*h[0].Value {
			t.Errorf("a model known to be three times too high decides: %+v", d)
		}
	}
}

// excess predicts three times the value at the examples it is calibrated on, and
// a little less elsewhere.
type excess struct {
	value float64
	at    []float64
}

func (e excess) Fit(assay.Data) (assay.Predictor, error) { return e, nil }

func (e excess) Predict(x []float64) assay.Prediction {
	if slices.Equal(x, e.at) {
		return assay.Prediction{Mean: 3 * e.value, Std: 1}
	}
	return assay.Prediction{Mean: 2.9 * e.value, Std: 1}
}

func TestAfter(t *testing.T) {
	space := integers(t, 20, 20)
	h := finishedSlope(12, 4)
	for n, after := range map[int]int{6: 7, 4: 0} {
		rule := stop.NewPredictive(space, stop.PredictiveOptions{After: after})
		for _, v := range []float64{0.1, 1e6} {
			if d := rule.Decide(h[:n], runningAt(99, assay.Config{20, 20}, v)); d.Stop || !math.IsNaN(d.Predicted) {
				t.Errorf("after %d finished trials: %+v", n, d)
			}
		}
		if d := rule.Decide(h[:n+1], runningAt(99, assay.Config{20, 20}, 0.1)); math.IsNaN(d.Predicted) {
			t.Errorf("after %d finished trials there is no prediction", n+1)
		}
		if d := rule.Decide(h[:n+1], runningAt(99, assay.Config{20, 20}, 1e6)); !d.Stop {
			t.Errorf("after %d finished trials a run far beyond the best goes on", n+1)
		}
	}
}

func TestSpare(t *testing.T) {
	space := integers(t, 20, 20)
	h := finishedSlope(40, 5)
	best, _ := assay.Best(h)
	always := constant{mean: 1e6}
	rule := stop.NewPredictive(space, stop.PredictiveOptions{Learner: always, Spare: 0.2, Seed: 7})
	spared := 0
	for id := int64(100); id < 1100; id++ {
		d := rule.Decide(h, runningAt(id, assay.Config{1, 1}, best.Value/2))
		if d.Stop {
			continue
		}
		if spared++; !strings.HasPrefix(d.Reason, "spared: predicted 1000000") {
			t.Fatalf("got reason %q", d.Reason)
		}
		if d = rule.Decide(h, runningAt(id, assay.Config{1, 1}, best.Value)); !d.Stop ||
			!strings.Contains(d.Reason, "spared") {
			t.Fatalf("a spared run at the incumbent: %+v", d)
		}
	}
	if spared < 150 || spared > 250 { // 200 ± 4 standard deviations
		t.Errorf("%d of 1000 trials were spared, want about 200", spared)
	}
}

// A computation for one history must not leak into the decisions about
// another: a rule that has seen anything decides as a new one does.
func TestMemoChangesNothing(t *testing.T) {
	space := integers(t, 20, 20)
	all := finishedSlope(60, 6)
	for i := range all {
		if i%7 == 3 {
			all[i].State = assay.Infeasible
		}
		if i%5 == 2 {
			all[i].State, all[i].Value = assay.Censored, all[i].Value/2
		}
	}
	opts := stop.PredictiveOptions{After: 2, Confidence: 0.7, Stopped: stop.KeepStopped}
	old := stop.NewPredictive(space, opts)
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, 20).Draw(t, "from")
		h := all[from:rapid.IntRange(from, len(all)).Draw(t, "to")]
		c := assay.Config{float64(rapid.IntRange(0, 20).Draw(t, "a")), 3}
		r := runningAt(99, c, rapid.Float64Range(0, 60).Draw(t, "value"))
		a, b := old.Decide(h, r), stop.NewPredictive(space, opts).Decide(h, r)
		if a.Stop != b.Stop || a.Reason != b.Reason || math.Float64bits(a.Predicted) != math.Float64bits(b.Predicted) {
			t.Fatalf("decided %+v, a new rule %+v", a, b)
		}
	})
}

// "Standard regression" does not know how long a run has lasted.
// Reference: Ding et al. 2022, section 4.3, BO-GB
func TestStandard(t *testing.T) {
	h := finishedSlope(40, 8)
	best, _ := assay.Best(h)
	rule := stop.NewPredictive(integers(t, 20, 20), stop.PredictiveOptions{Learner: model.Boost{}, Standard: true})
	c := assay.Config{best.Config[0], 0}
	a, b := rule.Decide(h, runningAt(99, c, 0)), rule.Decide(h, runningAt(99, c, best.Value/3))
	if a.Predicted != b.Predicted || math.IsNaN(a.Predicted) {
		t.Errorf("predictions %v and %v", a.Predicted, b.Predicted)
	}
}

func TestPredictivePanics(t *testing.T) {
	for _, o := range []stop.PredictiveOptions{
		{Confidence: 1}, {Confidence: math.NaN()}, {Spare: -0.1}, {Spare: 1}, {After: -1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is accepted", o)
				}
			}()
			stop.NewPredictive(integers(t, 2, 2), o)
		}()
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPredictive measures a decision with 100 finished trials of 25
// parameters: at an interval, and just after a trial has ended. Goals: 5 and 30 ms.
func BenchmarkPredictive(b *testing.B) {
	var his []float64
	for range 25 {
		his = append(his, 20)
	}
	space := integers(b, his...)
	rng := rand.New(rand.NewPCG(1, 1))
	var h []assay.Trial
	for i := range 101 {
		c := make(assay.Config, 25)
		for j := range c {
			c[j] = float64(rng.IntN(21))
		}
		h = append(h, assay.Trial{
			Proposal: assay.Proposal{ID: int64(i + 1), Config: c}, State: assay.Done,
			Value: slope(c) + c[3]*c[4],
		})
	}
	for name, confidence := range map[string]float64{"paper": 0, "guard": 0.9} {
		b.Run(name, func(b *testing.B) {
			rule := stop.NewPredictive(space, stop.PredictiveOptions{Confidence: confidence})
			r := runningAt(999, h[100].Config, 0)
			var first, later time.Duration // processor time: others may be running
			for b.Loop() {
				// Two histories in turn, whose first trials differ.
				h[0].Value, h[100].Value = h[100].Value, h[0].Value
				r.Value = 1
				t0 := cpuTime()
				rule.Decide(h[:100], r)
				t1 := cpuTime()
				r.Value = 2
				rule.Decide(h[:100], r)
				first, later = first+t1-t0, later+cpuTime()-t1
			}
			b.ReportMetric(first.Seconds()*1e3/float64(b.N), "first-cpu-ms")
			b.ReportMetric(later.Seconds()*1e3/float64(b.N), "interval-cpu-ms")
		})
	}
}
