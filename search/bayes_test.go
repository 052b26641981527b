package search

import (
	"errors"
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/model"
	"pgregory.net/rapid"
)

// bestOf runs s for n trials on p and returns the least value.
func bestOf(t *testing.T, p assaytest.Problem, s assay.Searcher, n int) float64 {
	t.Helper()
	best := math.Inf(1)
	for range n {
		ps, err := s.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		trial := p.Trial(ps[0])
		best = min(best, trial.Value)
		mustTell(t, s, trial)
	}
	return best
}

// Over 5 seeds and 40 trials the geometric mean of value/optimum is nearer to 1
// than random search's by at least a third, on every synthetic problem.
func TestBayesBeatsRandom(t *testing.T) {
	for _, p := range assaytest.Problems() {
		t.Run(p.Name, func(t *testing.T) {
			var random, bayes float64
			for seed := range uint64(5) {
				random += math.Log(bestOf(t, p, NewRandom(p.Space, seed), 40) / p.Optimum)
				b := NewBayes(p.Space, BayesOptions{Learner: model.Forest{Trees: 20, Seed: seed}, Seed: seed})
				bayes += math.Log(bestOf(t, p, b, 40) / p.Optimum)
			}
			if bayes > random*2/3+1e-12 {
				t.Errorf("mean of log(best/optimum): %.4f, random %.4f", bayes/5, random/5)
			}
		})
	}
}

// Parallel proposals explore different parts: four asked at once are four configurations, and the
// believed values do not stay once results are told.
func TestBayesParallel(t *testing.T) {
	p := assaytest.Interaction()
	b := NewBayes(p.Space, BayesOptions{Learner: model.Forest{Trees: 20}})
	seen := visited{}
	for round := range 8 {
		ps := mustAsk(t, b, 4)
		if len(ps) != 4 {
			t.Fatalf("round %d: %d proposals", round, len(ps))
		}
		for _, q := range ps {
			if !seen.add(q.Config) {
				t.Errorf("%s twice", p.Space.Text(q.Config))
			}
		}
		for i := range ps {
			mustTell(t, b, p.Trial(ps[len(ps)-1-i]))
		}
		if len(b.lies) != 0 {
			t.Errorf("%d beliefs left", len(b.lies))
		}
	}
	if got := len(b.trials); got != 32 {
		t.Errorf("%d trials, want 32", got)
	}
}

// A region that fails is avoided: most proposals after the initial ones are in the other half if
// half of the space fails, though the values of finished trials get better towards the border.
func TestBayesAvoidsFailures(t *testing.T) {
	for _, state := range []assay.State{assay.Failed, assay.Infeasible} {
		s := cube(2)
		b := NewBayes(s, BayesOptions{Learner: model.Forest{Trees: 20}, Seed: 3})
		bad := 0
		for i := range 50 {
			p := mustAsk(t, b, 1)[0]
			trial := doneTrial(p, 2-p.Config[0])
			if p.Config[0] > 0.5 {
				trial.State = state
				if state == assay.Failed {
					trial.Value = math.Inf(1)
				}
				if i >= 20 {
					bad++
				}
			}
			mustTell(t, b, trial)
		}
		if bad > 15 {
			t.Errorf("%v: %d of the last 30 proposals are where that is known", state, bad)
		}
	}
}

// counting counts the fits and keeps the latest training set.
type counting struct {
	assay.Learner
	fits *int
	data *assay.Data
}

func (c counting) Fit(d assay.Data) (assay.Predictor, error) {
	*c.fits++
	*c.data = d
	return c.Learner.Fit(d)
}

// A terminated sample is not added to the training set; one that breaks the
// constraint is, with "an extremely high value".
// Reference: Ding et al. 2022, Algorithm 1, lines 13 to 16 and 22
func TestBayesTrainingSet(t *testing.T) {
	space := oneParam(50)
	for _, censored := range []bool{false, true} {
		var fits int
		var data assay.Data
		var learner assay.Learner = model.Forest{Trees: 2}
		if censored {
			learner = model.DropCensored(learner)
		}
		b := NewBayes(space, BayesOptions{Learner: counting{learner, &fits, &data}, Initial: 6, Censored: censored})
		at := func(i float64, state assay.State, v float64) assay.Trial {
			return assay.Trial{Proposal: assay.Proposal{Config: assay.Config{i}}, State: state, Value: v}
		}
		if err := b.Observe(at(1, assay.Done, 10), at(2, assay.Done, 100), at(3, assay.Censored, 20),
			at(4, assay.Failed, math.Inf(1)), at(5, assay.Infeasible, 1), at(6, assay.Done, math.NaN())); err != nil {
			t.Fatal(err)
		}
		mustAsk(t, b, 1)
		mustAsk(t, b, 1)
		want := map[float64]float64{1: math.Log(10), 2: math.Log(100), 4: math.Log(100), 5: math.Log(100), 6: math.Log(100)}
		if censored {
			want[3] = math.Log(20)
		}
		for i, x := range data.X[:len(want)] {
			c := math.Round(x[0] * 49)
			if y, ok := want[c]; !ok || !(math.Abs(y-data.Y[i]) <= 1e-12) {
				t.Errorf("censored %v: the trial at %v enters with %v, want %v", censored, c, data.Y[i], y)
			}
			if censored && data.Censored[i] != (c == 3) {
				t.Errorf("the trial at %v is censored: %v", c, data.Censored[i])
			}
		}
		// One more: the outstanding proposal, believed.
		if len(data.X) != len(want)+1 || data.Y[len(want)] < math.Log(10)-1e-9 || data.Y[len(want)] > math.Log(100)+1e-9 {
			t.Errorf("%d examples, want %d and one belief: %v", len(data.X), len(want), data.Y)
		}
		if fits != 2 {
			t.Errorf("%d fits for 2 proposals", fits)
		}
	}
}

// Nothing is fitted during the initial design, which is over early if the space
// is small.
func TestBayesInitial(t *testing.T) {
	for _, c := range []struct{ size, initial, want int }{{100, 0, 10}, {100, 4, 4}, {12, 0, 4}, {3, 0, 2}} {
		var fits int
		var data assay.Data
		b := NewBayes(oneParam(c.size), BayesOptions{Learner: counting{model.KNN{}, &fits, &data}, Initial: c.initial})
		n := 0
		for ; fits == 0; n++ {
			p := mustAsk(t, b, 1)[0]
			mustTell(t, b, doneTrial(p, p.Config[0]+1))
		}
		if n-1 != c.want {
			t.Errorf("%d initial trials of %d, want %d", n-1, c.size, c.want)
		}
	}
}

type brokenLearner struct{ err error }

func (l brokenLearner) Fit(assay.Data) (assay.Predictor, error) { return nil, l.err }

func TestBayesLearnerErrors(t *testing.T) {
	few := NewBayes(oneParam(30), BayesOptions{Learner: brokenLearner{assay.ErrTooFew}, Initial: 2})
	n := 0
	for {
		ps, err := few.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		if err != nil {
			t.Fatalf("too few examples: %v", err)
		}
		n++
		mustTell(t, few, doneTrial(ps[0], 1))
	}
	if n != 30 {
		t.Errorf("%d proposals, want all 30 of the design", n)
	}
	bad := NewBayes(oneParam(30), BayesOptions{Learner: brokenLearner{assay.ErrBadData}, Initial: 2})
	for _, p := range mustAsk(t, bad, 2) {
		mustTell(t, bad, doneTrial(p, 1))
	}
	for range 2 { // and again: nothing changed
		if _, err := bad.Ask(1); !errors.Is(err, assay.ErrBadData) {
			t.Errorf("got %v, want the learner's error", err)
		}
	}
}

func TestBayesPanics(t *testing.T) {
	for name, opts := range map[string]BayesOptions{"no learner": {}, "negative": {Learner: model.KNN{}, Initial: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			NewBayes(oneParam(3), opts)
		}()
	}
}

// Each scale keeps the order, is finite, and is undone by its inverse.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(-1e6, 1e6)
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			value = rapid.Float64Range(1e-9, 1e9)
		case 1:
			value = rapid.Float64Range(-1e9, -1e-9)
		case 2:
			value = rapid.SampledFrom([]float64{-1e308, -1, -1e-300, 0, 0x1p-1074, 0x1p-1023, 1e-300, 1, 3, 1e308})
		}
		values := rapid.SliceOfN(value, 1, 20).Draw(t, "values")
		s := newScale(values)
		for _, a := range values {
			if !s.defined(a) {
				t.Fatalf("%v becomes %v by %+v", a, s.forward(a), s)
			}
			for _, b := range values {
				if a < b && s.forward(a) > s.forward(b) {
					t.Fatalf("%v < %v becomes %v > %v by %+v", a, b, s.forward(a), s.forward(b), s)
				}
			}
			if m := math.Abs(a); (m == 0 || m > 1e-100 && m < 1e100) && s.spread < 1e100 {
				// Halves of subnormal numbers are rounded.
				tolerance := 1e-6*(math.Abs(a)+math.Abs(s.center)) + 0x1p-1072
				if got := s.inverse(s.forward(a)); !(math.Abs(got-a) <= tolerance) {
					t.Fatalf("%v comes back as %v by %+v", a, got, s)
				}
			}
		}
	})
}

// A maximized metric, whose objective is negative, is searched as well as its
// reciprocal minimized: -log(-y) of -1/v is log v.
func TestBayesMaximizes(t *testing.T) {
	p := assaytest.Interaction()
	run := func(value func(v float64) float64) (configs []assay.Config) {
		b := NewBayes(p.Space, BayesOptions{Learner: model.Forest{Trees: 10}})
		for range 30 {
			q := mustAsk(t, b, 1)[0]
			configs = append(configs, q.Config)
			mustTell(t, b, doneTrial(q, value(p.Value(q.Config))))
		}
		return configs
	}
	// Powers of two, so that the logarithms agree to the last bit.
	low := run(func(v float64) float64 { return math.Exp2(math.Round(v)) })
	high := run(func(v float64) float64 { return -math.Exp2(-math.Round(v)) })
	for i := range low {
		if !low[i].Equal(high[i]) {
			t.Fatalf("proposal %d: %v and %v", i+1, low[i], high[i])
		}
	}
}

// Configurations that are visited at once, many or few, are no longer open, and no others.
func TestPoolVisits(t *testing.T) {
	for _, p := range assaytest.Problems() {
		if !p.Space.Indexed() {
			continue
		}
		n := p.Space.Size().N
		for _, many := range []int64{1, 3, 40, n} {
			pool := newPool(p.Space)
			want := map[int64]bool{}
			for k := range many {
				i := k * 7919 % n
				want[i] = true
				pool.visit(p.Space.At(i))
			}
			if got := pool.any(); got != (int64(len(want)) < n) {
				t.Errorf("%s: after %d visits something is open: %v", p.Name, many, got)
			}
			for i := range n {
				if pool.open(int(i)) == want[i] {
					t.Fatalf("%s: after %d visits configuration %d is open: %v", p.Name, many, i, !want[i])
				}
			}
		}
	}
}

// A pool row equals the result of Space.Encode, in every kind of space.
func TestPoolRows(t *testing.T) {
	for _, p := range assaytest.Problems() {
		if !p.Space.Indexed() {
			continue
		}
		pool := newPool(p.Space)
		row := make([]float64, pool.width)
		i := 0
		for c := range p.Space.All() {
			pool.expand(i, row)
			for k, x := range p.Space.Encode(c) {
				if row[k] != x {
					t.Fatalf("%s: %v is encoded as %v", p.Name, c, row)
				}
			}
			pool.visit(c)
			if pool.enter(); !pool.visited[i] {
				t.Fatalf("%s: %v cannot be visited", p.Name, c)
			}
			i++
		}
	}
}

// A trial that was withdrawn is ignored: no model sees it, as a failure or otherwise.
func TestBayesLearnsNothingFromWithdrawn(t *testing.T) {
	b := NewBayes(cube(2), BayesOptions{Learner: model.Forest{Trees: 5}, Seed: 3})
	for i := range 40 {
		p := mustAsk(t, b, 1)[0]
		trial := doneTrial(p, 2-p.Config[0])
		if i%2 == 1 {
			trial.State, trial.Value = assay.Withdrawn, math.Inf(1)
		}
		mustTell(t, b, trial)
	}
	if d := b.examples(); len(d.Y) != 20 {
		t.Errorf("got %d examples of 20 trials that ended and 20 that were withdrawn, want 20", len(d.Y))
	}
}
