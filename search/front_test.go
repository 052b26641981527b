package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/testbed"
)

// lightFront looks at few candidates.
func lightFront(s *assay.Space) *Front {
	f := NewFront(s, FrontOptions{Initial: 3})
	f.bayes.draws, f.bayes.starts = 16, 1
	return f
}

// several gives trials without values more objectives, which follow from the configuration and the value.
type several struct {
	assay.Searcher
	n int
}

func (s several) Unwrap() assay.Searcher { return s.Searcher }

func (s several) Tell(trials ...assay.Trial) error { return s.Searcher.Tell(s.valued(trials)...) }

func (s several) Observe(trials ...assay.Trial) error {
	return s.Searcher.(assay.Observer).Observe(s.valued(trials)...)
}

func (s several) valued(trials []assay.Trial) []assay.Trial {
	all := make([]assay.Trial, len(trials))
	for i, t := range trials {
		t.Values = []float64{t.Value}
		for k := 1; k < s.n; k++ {
			x := float64(k)
			for j, y := range t.Config {
				x -= y * float64(j+k)
			}
			t.Values = append(t.Values, x)
		}
		all[i] = t
	}
	return all
}

func TestFrontConformance(t *testing.T) {
	testbed.Long(t)
	t.Run("one", func(t *testing.T) {
		assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher { return lightFront(s) },
			light(assaytest.SearcherOptions{Exhausts: true, Trials: 10}))
		assaytest.TestNarrower(t, func(s *assay.Space) assay.Searcher { return lightFront(s) },
			light(assaytest.SearcherOptions{Exhausts: true, Trials: 10}))
	})
	t.Run("two", func(t *testing.T) {
		assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher { return several{lightFront(s), 2} },
			light(assaytest.SearcherOptions{Exhausts: true, Trials: 10}))
	})
}

func TestFrontOfThreeConformance(t *testing.T) {
	assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher { return several{lightFront(s), 3} },
		light(assaytest.SearcherOptions{Exhausts: true, Trials: 8}))
}

func TestNSGA2Conformance(t *testing.T) {
	for n := range 3 {
		assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
			return several{NewNSGA2(s, NSGA2Options{Population: 6, Seed: 3}), n + 1}
		}, light(assaytest.SearcherOptions{Exhausts: true}))
	}
	assaytest.TestNarrower(t, func(s *assay.Space) assay.Searcher { return NewNSGA2(s, NSGA2Options{}) },
		light(assaytest.SearcherOptions{Exhausts: true}))
}

func randomPoints(rng *rand.Rand, n, d int) [][]float64 {
	ps := make([][]float64, n)
	for i := range ps {
		for range d {
			ps[i] = append(ps[i], math.Floor(10*rng.Float64())/10)
		}
	}
	return ps
}

// The improvement by a point that is certain is the growth of the hypervolume.
func TestVolumeOfACertainPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		d := 2 + rng.IntN(2)
		ps, ref := randomPoints(rng, rng.IntN(10), d), make([]float64, d)
		for j := range ref {
			ref[j] = 0.5 + rng.Float64()/2
		}
		v := newVolume(ps, ref, scalesOf(shiftedScale, d))
		y := randomPoints(rng, 1, d)[0]
		want := stats.Hypervolume(append(ps[:len(ps):len(ps)], y), ref) - stats.Hypervolume(ps, ref)
		if got := v.expected(y, make([]float64, d)); !(math.Abs(got-want) <= 1e-12) {
			t.Fatalf("%v beside %v within %v: %v, want %v", y, ps, ref, got, want)
		}
	}
}

// The expected improvement is the mean over draws, within five standard errors.
func TestVolumeExpected(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		d := 2 + rng.IntN(2)
		ps, ref := randomPoints(rng, 6, d), make([]float64, d)
		mean, std := randomPoints(rng, 1, d)[0], make([]float64, d)
		for j := range ref {
			ref[j], std[j] = 1, 0.05+0.3*rng.Float64()
		}
		base := stats.Hypervolume(ps, ref)
		const draws = 4000
		var sum, squares float64
		y := make([]float64, d)
		for range draws {
			for j := range y {
				y[j] = mean[j] + std[j]*rng.NormFloat64()
			}
			x := stats.Hypervolume(append(ps[:len(ps):len(ps)], y), ref) - base
			sum, squares = sum+x, squares+x*x
		}
		want := sum / draws
		tolerance := 5*math.Sqrt(max(squares/draws-want*want, 0)/draws) + 1e-9
		if got := newVolume(ps, ref, scalesOf(shiftedScale, d)).expected(mean, std); !(math.Abs(got-want) <= tolerance) {
			t.Errorf("N(%v, %v) beside %v: %v, by drawing %v ± %v", mean, std, ps, got, want, tolerance)
		}
	}
}

func scalesOf(k scaleKind, d int) (all []scaleKind) {
	for range d {
		all = append(all, k)
	}
	return all
}

// The shortfall of an objective on a logarithmic scale is the shortfall of the objective itself.
func TestShortfall(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, kind := range []scaleKind{logScale, mirrorScale, arsinhScale} {
		value := func(y float64) float64 {
			switch kind {
			case logScale:
				return math.Exp(y)
			case mirrorScale:
				return -math.Exp(-y)
			}
			return y
		}
		for range 10 {
			at, mean, std := rng.NormFloat64(), rng.NormFloat64(), 0.1+0.4*rng.Float64()
			const draws = 20_000
			var sum, squares float64
			for range draws {
				x := max(value(at)-value(mean+std*rng.NormFloat64()), 0)
				sum, squares = sum+x, squares+x*x
			}
			want := sum / draws
			tolerance := 5*math.Sqrt(max(squares/draws-want*want, 0)/draws) + 1e-6
			if got := shortfall(kind, at, mean, std); !(math.Abs(got-want) <= tolerance) {
				t.Errorf("scale %d at %v, N(%v, %v): %v, by drawing %v ± %v", kind, at, mean, std, got, want, tolerance)
			}
			if got, want := shortfall(kind, at, mean, 0), max(value(at)-value(mean), 0); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("scale %d at %v, certainly %v: %v, want %v", kind, at, mean, got, want)
			}
		}
		if x := shortfall(kind, math.Inf(-1), 0, 1); x != 0 {
			t.Errorf("below everything: %v", x)
		}
	}
}

// twoDishes is a problem whose front is known: all between two corners of a plane of the space.
func twoDishes(c assay.Config) []float64 {
	a := (c[0]-3)*(c[0]-3) + (c[1]-3)*(c[1]-3) + c[2]*c[2]
	b := (c[0]-15)*(c[0]-15) + (c[1]-15)*(c[1]-15) + c[2]*c[2]
	return []float64{1 + a, 1 + b}
}

// found returns the hypervolume of the points that a searcher finds in n trials.
func found(t *testing.T, s assay.Searcher, n int) float64 {
	t.Helper()
	var ps [][]float64
	for len(ps) < n {
		asked, err := s.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		v := twoDishes(asked[0].Config)
		ps = append(ps, v)
		if err := s.Tell(assay.Trial{Proposal: asked[0], State: assay.Done, Value: v[0], Values: v}); err != nil {
			t.Fatal(err)
		}
	}
	return stats.Hypervolume(ps, []float64{300, 300})
}

// The front is found better than by chance, and the models find it better than the baseline.
func TestFrontIsFound(t *testing.T) {
	testbed.Long(t)
	var random, genetic, front float64
	for seed := range uint64(3) {
		random += found(t, NewRandom(gridSpace(t), seed), 40)
		genetic += found(t, NewNSGA2(gridSpace(t), NSGA2Options{Population: 10, Seed: seed}), 40)
		front += found(t, NewFront(gridSpace(t), FrontOptions{Seed: seed}), 40)
	}
	if !(random < genetic && genetic < front) {
		t.Errorf("hypervolumes: random %.0f, nsga2 %.0f, front %.0f", random, genetic, front)
	}
}

// A run that was stopped early stays out of the front, and its surroundings are not sought.
func TestFrontOfStoppedRuns(t *testing.T) {
	f := NewFront(gridSpace(t), FrontOptions{Seed: 1})
	for range 30 {
		asked, err := f.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		v := twoDishes(asked[0].Config)
		trial := assay.Trial{Proposal: asked[0], State: assay.Done, Value: v[0], Values: v}
		if v[0] > 100 && v[1] > 100 {
			trial.State, trial.Values = assay.Censored, []float64{100, 100}
			trial.Value = 100
		}
		if err := f.Tell(trial); err != nil {
			t.Fatal(err)
		}
	}
	v, err := f.look()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.front {
		if x := twoDishes(c); x[0] > 100 && x[1] > 100 {
			t.Errorf("%v is in the front, at %v", c, x)
		}
	}
}

func TestValues(t *testing.T) {
	goal := assay.Goal{Metric: "elapsed", Others: []assay.Objective{{Metric: "fps", Maximize: true}}}
	inner := &told{}
	s := Values(inner, goal)
	measured := assay.Measurement{Metrics: map[string]float64{"elapsed": 2, "fps": 30}}
	trial := assay.Trial{State: assay.Done, Value: 2, Measurement: measured}
	lacking := assay.Trial{State: assay.Done, Value: 2}
	if err := s.Tell(trial, lacking); err != nil {
		t.Fatal(err)
	}
	if v := inner.trials[0].Values; len(v) != 2 || v[0] != 2 || v[1] != -30 {
		t.Errorf("values %v", v)
	}
	if inner.trials[1].State != assay.Failed {
		t.Errorf("without a metric it is %v", inner.trials[1].State)
	}
	if trial.Values != nil {
		t.Error("the caller's trial was changed")
	}
}

// told keeps the trials that it is told.
type told struct {
	ask    []assay.Proposal
	trials []assay.Trial
}

func (s *told) Ask(int) ([]assay.Proposal, error) {
	ps := s.ask
	if s.ask = nil; ps == nil {
		return nil, assay.ErrDone
	}
	return ps, nil
}

func (s *told) Tell(trials ...assay.Trial) error {
	s.trials = append(s.trials, trials...)
	return nil
}

// The estimate of repeated runs is taken of each objective.
func TestReplicateOfSeveral(t *testing.T) {
	inner := &told{ask: []assay.Proposal{{ID: 1, Config: assay.Config{1, 2, 3}}}}
	s := Replicate(inner, 2, slices.Min)
	ps, err := s.Ask(2)
	if err != nil || len(ps) != 2 {
		t.Fatalf("%v, %v", ps, err)
	}
	for i, v := range [][]float64{{1, 9}, {3, 4}} {
		if err := s.Tell(assay.Trial{Proposal: ps[i], State: assay.Done, Value: v[0], Values: v}); err != nil {
			t.Fatal(err)
		}
	}
	if v := inner.trials[0].Values; !slices.Equal(v, []float64{1, 4}) {
		t.Errorf("the least of each: %v", v)
	}
}

// A trial that failed, broke a limit or lacks the objective is an example of the worst value. A stopped trial is one of
// more than its value.
func TestFrontExamples(t *testing.T) {
	f := &Front{bayes: &Bayes{trials: []example{
		{state: assay.Done},
		{state: assay.Done},
		{state: assay.Done},
		{state: assay.Failed},
		{state: assay.Infeasible},
		{state: assay.Censored},
	}}, values: [][]float64{{0, 1}, {0, 3}, {0}, {0, 2}, {0, 2}, {0, 2}}}
	d := f.examples(1, []float64{1, 3}, scale{})
	for i, want := range []float64{1, 3, 3, 3, 3, 2} {
		if d.Y[i] != (scale{}).forward(want) || d.Censored[i] != (i == 5) {
			t.Errorf("trial %d: %v, censored %v, want %v", i+1, d.Y[i], d.Censored[i], want)
		}
	}
}
