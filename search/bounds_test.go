package search

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/model"
)

// atMost is the bound that a metric is at most a number.
func atMost(metric string, most float64) assay.Bound {
	return assay.Bound{
		Text: metric, Metric: metric,
		Sides: func(of func(string) (float64, bool)) (float64, float64, error) {
			x, ok := of(metric)
			if !ok {
				return 0, 0, errors.New("not measured")
			}
			return x, most, nil
		},
	}
}

// boxSpace has four numbers of eight values each.
func boxSpace(t testing.TB) *assay.Space {
	t.Helper()
	var ps []assay.Param
	for _, n := range []string{"a", "b", "c", "d"} {
		ps = append(ps, assay.Param{Name: n, Kind: assay.Integer, Lo: 0, Hi: 7})
	}
	s, err := assay.NewSpace(ps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// boxMetrics pull three ways: a fast configuration is large, and a small one is poor.
func boxMetrics(s *assay.Space, c assay.Config) map[string]float64 {
	u := s.Unit(c)
	return map[string]float64{
		"time":  math.Exp(u[0] + u[1] - u[2] + 0.5*u[3]),
		"size":  math.Exp(2*math.Abs(u[0]-0.3) + math.Abs(u[1]-0.8) + u[2]),
		"error": math.Exp(1.5*math.Abs(u[2]-0.25) + u[3] - 0.5*u[0]),
	}
}

var boxBounds = []assay.Bound{atMost("size", 1.875), atMost("error", 1.018)}

// boxTrial is the trial of p with the metrics of [boxMetrics].
func boxTrial(s *assay.Space, p assay.Proposal, bounds []assay.Bound) assay.Trial {
	t := doneTrial(p, boxMetrics(s, p.Config)["time"])
	t.Measurement.Metrics = boxMetrics(s, p.Config)
	for _, b := range bounds {
		if l, r, err := b.Sides(t.Measurement.Metric); err == nil && l > r {
			t.State = assay.Infeasible
		}
	}
	return t
}

// learners are the searchers that learn limits; they look at few candidates if light is set.
func learners(light bool) map[string]func(s *assay.Space, seed uint64) assay.Searcher {
	return map[string]func(s *assay.Space, seed uint64) assay.Searcher{
		"auto": func(s *assay.Space, seed uint64) assay.Searcher {
			a := NewAuto(s, AutoOptions{Seed: seed})
			if light {
				a.bayes.draws, a.bayes.starts, a.bayes.opts.Initial = 16, 1, 4
			}
			return a
		},
		"bayes": func(s *assay.Space, seed uint64) assay.Searcher {
			if light {
				return lightBayes(s, BayesOptions{Learner: model.Forest{Trees: 4}, Initial: 4, Seed: seed})
			}
			return NewBayes(s, BayesOptions{Learner: model.Forest{Trees: 30, Seed: seed}, Seed: seed})
		},
	}
}

// firstInside returns the number of the first trial within the bounds, most+1 if the first most trials have none,
// and the best value.
func firstInside(t *testing.T, s assay.Searcher, space *assay.Space, bounds []assay.Bound, most int) (int, float64) {
	t.Helper()
	first, best := most+1, math.Inf(1)
	for i := 1; i <= most; i++ {
		ps, err := s.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		tr := boxTrial(space, ps[0], bounds)
		if tr.State == assay.Done {
			first, best = min(first, i), min(best, tr.Value)
		}
		if err := s.Tell(tr); err != nil {
			t.Fatal(err)
		}
	}
	return first, best
}

// A searcher that learns both limits is inside within 60 runs from every seed if one configuration of two hundred
// keeps them. A searcher that takes every violation for the worst is not.
func TestLimitsAreLearned(t *testing.T) {
	testbed.Long(t)
	space := boxSpace(t)
	inside, all := 0, 0
	for c := range space.All() {
		all++
		if boxTrial(space, assay.Proposal{Config: c}, boxBounds).State == assay.Done {
			inside++
		}
	}
	if inside == 0 || 200*inside > all {
		t.Fatalf("%d of %d configurations are inside", inside, all)
	}
	for name, build := range learners(false) {
		missed := 0
		for seed := range uint64(testbed.Times(2, 5)) {
			s := build(space, seed)
			s.(assay.LimitLearner).LearnLimits(boxBounds)
			first, _ := firstInside(t, s, space, boxBounds, 60)
			if first > 60 {
				t.Errorf("%s, seed %d: nothing within the limits in 60 runs", name, seed)
			}
			if first, _ = firstInside(t, build(space, seed), space, boxBounds, 60); first > 60 {
				missed++
			}
		}
		if missed == 0 {
			t.Errorf("%s: a searcher that does not learn the limits is inside from every seed: the test shows nothing", name)
		}
	}
}

// measuring gives the trials that it is told the metrics of [boxMetrics]-like numbers, so that a suite which
// knows nothing of metrics tests a searcher that learns limits.
type measuring struct {
	assay.Searcher
	space *assay.Space
}

func (m measuring) Unwrap() assay.Searcher { return m.Searcher }

func (m measuring) Tell(ts ...assay.Trial) error { return m.Searcher.Tell(m.measure(ts)...) }

func (m measuring) Observe(ts ...assay.Trial) error {
	return m.Searcher.(assay.Observer).Observe(m.measure(ts)...)
}

func (m measuring) measure(ts []assay.Trial) []assay.Trial {
	out := make([]assay.Trial, len(ts))
	for i, t := range ts {
		if m.space.Contains(t.Config) {
			sum := 0.1
			for k, u := range m.space.Unit(t.Config) {
				sum += u / float64(k+1)
			}
			t.Measurement.Metrics = map[string]float64{"size": sum, "error": 1 / sum}
			if t.State == assay.Censored {
				t.Measurement.Metrics["size"] /= 2
			}
		}
		out[i] = t
	}
	return out
}

// The suite holds for searchers that learn limits: among others that the same calls bring the same proposals, and
// that memos bring a new searcher to where it was.
func TestLimitLearnersConform(t *testing.T) {
	testbed.Long(t)
	grown := atMost("size", 0.5)
	grown.Grows = true
	for name, build := range learners(true) {
		t.Run(name, func(t *testing.T) {
			assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
				l := build(s, 1)
				l.(assay.LimitLearner).LearnLimits([]assay.Bound{grown, atMost("error", 3)})
				return measuring{l, s}
			}, light(assaytest.SearcherOptions{Exhausts: true, Trials: 16}))
		})
	}
}

// The memos have the learned limits: a searcher that recalls them goes on as the one that computed, with
// parallel proposals outstanding.
func TestLimitsResume(t *testing.T) {
	space := boxSpace(t)
	for name, build := range learners(true) {
		once := build(space, 7)
		once.(assay.LimitLearner).LearnLimits(boxBounds)
		again := build(space, 7)
		again.(assay.LimitLearner).LearnLimits(boxBounds)
		var memos [][]byte
		var batches [][]assay.Proposal
		ask := func(s assay.Searcher, n int) []assay.Proposal {
			ps, err := s.Ask(n)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return ps
		}
		tell := func(s assay.Searcher, ps []assay.Proposal) {
			for _, p := range ps {
				if err := s.Tell(boxTrial(space, p, boxBounds)); err != nil {
					t.Fatal(err)
				}
			}
		}
		play := func(s assay.Searcher, record bool) {
			var late []assay.Proposal
			for i := range 12 {
				ps := ask(s, 2)
				if record {
					batches = append(batches, ps)
					memos = append(memos, s.(assay.Resumer).Memo())
				} else if !ps[0].Config.Equal(batches[i][0].Config) || !ps[1].Config.Equal(batches[i][1].Config) {
					t.Fatalf("%s: batch %d is %v, was %v", name, i, ps, batches[i])
				}
				tell(s, late)
				late = ps[1:] // one of two is outstanding while the next are asked
				tell(s, ps[:1])
			}
		}
		play(once, true)
		if err := again.(assay.Resumer).Recall(memos); err != nil {
			t.Fatal(err)
		}
		play(again, false)
		for i := range 6 {
			p, q := ask(once, 1), ask(again, 1)
			if !p[0].Config.Equal(q[0].Config) {
				t.Fatalf("%s: proposal %d after the memos is %v, of the searcher that computed all %v", name, i, q, p)
			}
			tell(once, p)
			tell(again, q)
		}
	}
}

// Leaving out the chances of those that cannot be the best leaves the best as it is.
func TestWeighLeavesOutNoBest(t *testing.T) {
	space := boxSpace(t)
	b := NewBayes(space, BayesOptions{Learner: model.Forest{Trees: 10, Seed: 1}, Seed: 1})
	b.LearnLimits([]assay.Bound{atMost("size", 4), atMost("error", 2)})
	firstInside(t, b, space, b.limits.of, 25)
	if err := b.fit(); err != nil {
		t.Fatal(err)
	}
	c, mean := b.pool.maximize(b)
	var rows [][]float64
	var configs []assay.Config
	for i := range b.pool.visited {
		if c := space.At(int64(i)); b.pool.open(i) {
			rows, configs = append(rows, b.encode(c)), append(configs, c)
		}
	}
	out, scores := make([]assay.Prediction, len(rows)), make([]float64, len(rows))
	assay.PredictAll(b.surrogate, rows, out)
	for i, o := range out {
		scores[i] = b.improvement(o)
	}
	b.limits.weigh(rows, scores, math.Inf(-1))
	best := 0
	for i := range scores {
		if better(candidate{mean: out[i].Mean, score: scores[i]}, candidate{mean: out[best].Mean, score: scores[best]}) {
			best = i
		}
	}
	for i := range scores {
		if configs[i].Equal(c) && (scores[i] != scores[best] || mean != out[i].Mean) {
			t.Errorf("proposed with the score %v, the best has %v", scores[i], scores[best])
		}
	}
}

// A searcher that is penalized, or is not to learn limits, is no learner of limits, and keeps its other abilities.
func TestWrappersThatEndLearning(t *testing.T) {
	space := boxSpace(t)
	for name, s := range map[string]assay.Searcher{
		"penalized": Penalize(NewAuto(space, AutoOptions{}), 2), "unlearned": Unlearned(NewAuto(space, AutoOptions{})),
	} {
		if _, ok := assay.As[assay.LimitLearner](s); ok {
			t.Errorf("%s: it learns limits", name)
		}
		if _, ok := assay.As[assay.Observer](s); !ok {
			t.Errorf("%s: it observes nothing", name)
		}
		if _, ok := assay.As[assay.Resumer](s); !ok {
			t.Errorf("%s: it has no memos", name)
		}
	}
	if _, ok := assay.As[assay.LimitLearner](Cache(First(NewAuto(space, AutoOptions{}), space.At(0)))); !ok {
		t.Error("a wrapper that says nothing of limits hides the learner")
	}
}

// BenchmarkAutoLimits measures one ask and tell after 100 trials with two limits, inside of which are some runs or
// none, over a space without a pool and with one. Goal: 30 ms, as without limits.
func BenchmarkAutoLimits(b *testing.B) {
	metrics := func(s *assay.Space, c assay.Config) map[string]float64 {
		u := s.Unit(c)
		v := mixedValue(s, c)
		return map[string]float64{"size": v * (1 + u[0]), "error": 1/v + u[1]}
	}
	for _, space := range []struct {
		name string
		of   *assay.Space
	}{{"mixed", mixedSpace()}, {"pool", boxSpace(b)}} {
		for name, bounds := range map[string][]assay.Bound{
			"loose": {atMost("size", 8), atMost("error", 3)}, "none inside": {atMost("size", 0.1), atMost("error", 0.01)},
		} {
			b.Run(space.name+"/"+name, func(b *testing.B) {
				s := space.of
				trial := func(p assay.Proposal) assay.Trial {
					t := doneTrial(p, mixedValue(s, p.Config))
					t.Measurement.Metrics = metrics(s, p.Config)
					for _, x := range bounds {
						if l, r, err := x.Sides(t.Measurement.Metric); err == nil && l > r {
							t.State = assay.Infeasible
						}
					}
					return t
				}
				a := NewAuto(s, AutoOptions{Seed: 1})
				a.LearnLimits(bounds)
				r := NewRandom(s, 1)
				for range 100 {
					c, _ := r.draw()
					if err := a.Observe(trial(assay.Proposal{Config: c})); err != nil {
						b.Fatal(err)
					}
				}
				step := func() {
					ps, err := a.Ask(1)
					if err != nil {
						b.Fatal(err)
					}
					if err := a.Tell(trial(ps[0])); err != nil {
						b.Fatal(err)
					}
				}
				for range 3 {
					step()
				}
				var spent time.Duration
				for b.Loop() {
					before := cpuTime()
					step()
					spent += cpuTime() - before
				}
				b.ReportMetric(spent.Seconds()*1e3/float64(b.N), "cpu-ms/op")
			})
		}
	}
}
