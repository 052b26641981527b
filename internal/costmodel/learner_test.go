package costmodel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
)

// alternatives are the alternatives of Table 1, one at a time, and our own.
func alternatives() map[string]Options {
	static := func(parts ...Part) []Part { return parts }
	return map[string]Options{
		"auto":             {},
		"auto, target":     {Target: 20, Regression: Pairs},
		"published":        {Published: &Published{}},
		"max":              {Published: &Published{Reference: Max}},
		"rand":             {Published: &Published{Reference: Rand}, Seed: 3},
		"improvement":      {Published: &Published{Traversal: Improvement}},
		"static order":     {Published: &Published{Traversal: Improvement, Predictors: static(Disk, Compute, Network)}},
		"dynamic":          {Published: &Published{Traversal: Dynamic}},
		"l2-i2":            {Published: &Published{Design: L2I2}},
		"lmax-imax":        {Published: &Published{Design: LMaxIMax}},
		"lmax-i2":          {Published: &Published{Design: LMaxI2}},
		"random test set":  {Published: &Published{Error: RandomSet}},
		"designed set":     {Published: &Published{Error: DesignedSet}},
		"target":           {Published: &Published{}, Target: 30, MinRuns: 4},
		"train on screens": {Published: &Published{TrainOnScreening: true, KnownDataFlow: true}},
	}
}

// timed gives the trials of a suite the measurements of a program: the value as its
// time where that can be one, with metrics.
type timed struct{ *ActiveLearner }

func (s timed) Tell(trials ...assay.Trial) error {
	trials = append([]assay.Trial(nil), trials...)
	for i := range trials {
		trials[i].Measurement = timedMeasurement(trials[i])
	}
	return s.ActiveLearner.Tell(trials...)
}

func (s timed) Observe(trials ...assay.Trial) error {
	trials = append([]assay.Trial(nil), trials...)
	for i := range trials {
		trials[i].Measurement = timedMeasurement(trials[i])
	}
	return s.ActiveLearner.Observe(trials...)
}

func timedMeasurement(t assay.Trial) assay.Measurement {
	v := min(math.Abs(t.Value), 1e9)
	m := assay.Measurement{Elapsed: time.Duration(v * 1e9 / 2)}
	if len(t.Config) > 0 {
		u := 0.5 + 0.4*math.Sin(float64(len(t.Config))+t.Config[0])
		m.Metrics = map[string]float64{
			"cpu": v / 2 * u, "data_flow": 1 + math.Abs(t.Config[0]), "network_time": v, "disk_time": 2 * u * v,
		}
	}
	return m
}

func TestActiveLearner(t *testing.T) {
	testbed.Long(t)
	for name, opts := range alternatives() {
		switch name {
		case "auto, target", "max", "rand", "static order", "target", "designed set", "train on screens":
			continue // they take the same steps, in other places
		}
		t.Run(name, func(t *testing.T) {
			suite := assaytest.SearcherOptions{
				NoRepeats: opts.Published == nil,
				Exhausts:  opts.Published == nil && opts.Target == 0 && (name != "auto" || testbed.IsSystem()), Trials: 5,
			}
			assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher { return timed{NewActiveLearner(s, opts)} }, suite)
		})
	}
	t.Run("no measurements", func(t *testing.T) {
		assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher { return NewActiveLearner(s, Options{}) },
			assaytest.SearcherOptions{Exhausts: true, Trials: 6})
		assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
			return NewActiveLearner(s, Options{Published: &Published{}})
		}, assaytest.SearcherOptions{Trials: 8})
	})
}

// A bench is a simulated program: time in seconds and metrics of an assignment.
type bench struct {
	space *assay.Space
	run   func(assay.Config) (assay.Measurement, bool)
}

// prefetcher is a program of two attributes, compute bound or not, that prefetches: stalls
// are the part of the rtt that its computing does not hide.
func prefetcher(t testing.TB) bench {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"451", "797", "930", "996", "1396"}},
		{Name: "rtt", Kind: assay.Ordinal, Levels: []string{"0", "0.0036", "0.0072", "0.0108", "0.0144", "0.018"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	attrs := attributesOf(space, nil)
	return bench{space, func(c assay.Config) (assay.Measurement, bool) {
		const units = 1e5
		cpu, rtt := attrs[0].number(c[0]), attrs[1].number(c[1])
		a, n, d := 10/cpu, max(rtt/2-0.1*10/cpu, 0.02*rtt), 0.001
		return assay.Measurement{
			Elapsed: time.Duration(units * (a + n + d) * 1e9),
			Metrics: map[string]float64{"cpu": units * a, "data_flow": units, "network_time": n * units, "disk_time": d * units},
		}, true
	}}
}

// drive runs the learner to its end, or for so many trials.
func drive(t testing.TB, b bench, l assay.Searcher, most int) (asked []assay.Config) {
	t.Helper()
	for len(asked) < most {
		ps, err := l.Ask(1)
		if err == assay.ErrDone {
			break
		}
		if err != nil || len(ps) == 0 {
			t.Fatal(err)
		}
		m, ok := b.run(ps[0].Config)
		tr := assay.Trial{Proposal: ps[0], State: assay.Done, Measurement: m}
		if !ok {
			tr.State, tr.Value = assay.Failed, math.Inf(1)
		}
		if err := l.Tell(tr); err != nil {
			t.Fatal(err)
		}
		asked = append(asked, ps[0].Config)
	}
	return asked
}

func trueError(b bench, m *Model) float64 {
	var sum, n float64
	for c := range b.space.All() {
		if x, ok := b.run(c); ok {
			sum += math.Abs(m.Predict(c).Seconds/x.Elapsed.Seconds() - 1)
			n++
		}
	}
	return 100 * sum / n
}

// Every alternative learns the prefetching program to the accuracy of its way: linear
// functions of the published defaults to 10 %, smooth ones to 3 %, with 18 runs of 30 at most.
func TestAlternativesConverge(t *testing.T) {
	b := prefetcher(t)
	for name, opts := range alternatives() {
		l := NewActiveLearner(b.space, opts)
		drive(t, b, l, 18)
		m, err := l.Model()
		if err != nil {
			t.Fatal(err)
		}
		limit := 10.0
		if opts.Published == nil && opts.Target == 0 {
			limit = 3
		} else if opts.Target > 0 {
			limit = opts.Target
		}
		if e := trueError(b, m); !(e <= limit) {
			t.Errorf("%s: MAPE %.1f after %d trials, want %v at most", name, e, len(l.Progress()), limit)
		}
	}
}

// The stop rule has two parts: the error and the number of runs.
// Reference: Algorithm 1, step 4
func TestStopRule(t *testing.T) {
	b := prefetcher(t)
	for _, pub := range []*Published{nil, {}, {Error: RandomSet}} {
		for _, least := range []int{4, 7} {
			l := NewActiveLearner(b.space, Options{Target: 25, MinRuns: least, Published: pub})
			drive(t, b, l, 30)
			steps := l.Progress()
			last := steps[len(steps)-1]
			if !l.Converged() || last.Error >= 25 || last.Runs < least {
				t.Errorf("%v, least %d: ended at %+v", pub, least, last)
			}
			for _, s := range steps[:len(steps)-1] {
				if s.Error < 25 && s.Runs >= least {
					t.Errorf("%v, least %d: did not end at %+v", pub, least, s)
				}
			}
		}
	}
	if l := NewActiveLearner(b.space, Options{}); len(drive(t, b, l, 99)) != 30 || l.Converged() {
		t.Error("without a target the learner must run every assignment")
	}
}

// A program that dies below 256M of memory: its failed runs are no fast ones, the model predicts
// where it fails, and the learner does not go on running it there.
func TestProgramThatDies(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "cpu", Kind: assay.Real, Lo: 1, Hi: 4, Step: 0.5},
		{Name: "memory", Kind: assay.Ordinal, Levels: []string{"64M", "128M", "256M", "512M", "1G"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := bench{space, func(c assay.Config) (assay.Measurement, bool) {
		if c[1] < 2 {
			return assay.Measurement{Elapsed: time.Second, Signal: "SIGKILL"}, false
		}
		return assay.Measurement{Elapsed: time.Duration(1e11 / c[0])}, true
	}}
	for _, pub := range []*Published{nil, {}} {
		l := NewActiveLearner(space, Options{Published: pub})
		failed := 0
		for _, c := range drive(t, b, l, 12) {
			if c[1] < 2 {
				failed++
			}
		}
		m, err := l.Model()
		if err != nil {
			t.Fatal(err)
		}
		if e := trueError(b, m); e > 12 {
			t.Errorf("%v: MAPE %.1f where it runs", pub, e)
		}
		if pub == nil && failed > 3 {
			t.Errorf("%d of 12 runs failed", failed)
		}
		for c := range space.All() {
			if p := m.Predict(c); failed > 0 && (c[1] == 0) != (p.Fails > 0.5) && c[1] != 1 {
				t.Errorf("%v: fails with %v at %s", pub, p.Fails, space.Text(c))
			}
		}
	}
}

// A wide batch is worth nearly as much as as many runs one after the other.
func TestBatches(t *testing.T) {
	b := prefetcher(t)
	l := NewActiveLearner(b.space, Options{})
	for range 2 {
		ps, err := l.Ask(4)
		if err != nil || len(ps) != 4 {
			t.Fatal(ps, err)
		}
		for _, p := range ps {
			m, _ := b.run(p.Config)
			if err := l.Tell(assay.Trial{Proposal: p, State: assay.Done, Measurement: m}); err != nil {
				t.Fatal(err)
			}
		}
	}
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	if e := trueError(b, m); e > 5 {
		t.Errorf("MAPE %.1f after two batches of 4", e)
	}
}

// noisy returns the bench with log-normal noise.
func (b bench) noisy(seed uint64, deviation float64) bench {
	rng := rand.New(rand.NewPCG(seed, 0))
	return bench{b.space, func(c assay.Config) (assay.Measurement, bool) {
		m, ok := b.run(c)
		m.Elapsed = time.Duration(float64(m.Elapsed) * math.Exp(deviation*rng.NormFloat64()))
		return m, ok
	}}
}
