package stop_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/stop"
)

func TestPosteriorConformance(t *testing.T) {
	for name, opts := range map[string]stop.PosteriorOptions{
		"as built": {}, "eager": {After: 2, Level: 0.5}, "spared": {After: 3, Spare: 0.5, Margin: 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			space := integers(t, 4, 6)
			assaytest.TestStopper(t, func() assay.Stopper { return stop.NewPosterior(space, opts) })
		})
	}
}

// A run that will be slow by the trials is stopped at once, and one that may become
// the best goes on, until it has reached the best.
func TestPosteriorStops(t *testing.T) {
	rule := stop.NewPosterior(integers(t, 20, 20), stop.PosteriorOptions{})
	h := slices.DeleteFunc(finishedSlope(40, 1), func(t assay.Trial) bool { return t.Config[0] < 4 })
	best, _ := assay.Best(h)
	d := rule.Decide(h, runningAt(99, assay.Config{18, 3}, 1))
	if want := slope(assay.Config{18, 3}); !d.Stop || !(math.Abs(d.Predicted-want) <= 0.1*want) ||
		!strings.Contains(d.Reason, "the chance to end below") {
		t.Errorf("a run of %.0f s is not stopped after 1 s with the best at %.1f s: %+v", want, best.Value, d)
	}
	for _, at := range []float64{0, 1, 0.5 * best.Value} {
		if d := rule.Decide(h, runningAt(99, assay.Config{1, 3}, at)); d.Stop {
			t.Errorf("a run that ends at %.1f s is stopped after %v s, with the best at %.1f s: %+v",
				slope(assay.Config{1, 3}), at, best.Value, d)
		}
	}
	// Past half of the best little is left to save, and the chance of all runs is small.
	if d := rule.Decide(h, runningAt(99, assay.Config{18, 3}, 0.51*best.Value)); d.Stop || !(d.Predicted > best.Value) {
		t.Errorf("a run that is half done: %+v", d)
	}
	if d := rule.Decide(h, runningAt(99, assay.Config{1, 3}, best.Value)); !d.Stop ||
		!strings.Contains(d.Reason, "best is") {
		t.Errorf("a run at the best value: %+v", d)
	}
}

// Few trials are no evidence, however sure a model were of them. Neither are trials
// that a prediction stopped: however many they are, the rule goes on to wait.
func TestPosteriorWaitsForEvidence(t *testing.T) {
	rule := stop.NewPosterior(integers(t, 20, 20), stop.PosteriorOptions{After: 12})
	h := finishedSlope(12, 4)
	best, _ := assay.Best(h[:11])
	slow := runningAt(99, assay.Config{20, 20}, 0.1)
	if d := rule.Decide(h[:11], slow); d.Stop || !math.IsNaN(d.Predicted) {
		t.Errorf("after 11 trials: %+v", d)
	}
	if d := rule.Decide(h[:11], runningAt(99, assay.Config{20, 20}, best.Value)); !d.Stop {
		t.Errorf("after 11 trials a run at the best value goes on: %+v", d)
	}
	if d := rule.Decide(h, slow); !d.Stop {
		t.Errorf("after 12 trials: %+v", d)
	}
	early := slices.Clone(h[:11])
	for i := range int64(20) {
		tr := trial(50+i, assay.Censored, best.Value/2)
		tr.Config, tr.Decision = assay.Config{float64(i), 5}, &assay.Decision{Stop: true, Predicted: 1e6}
		early = append(early, tr)
	}
	if d := rule.Decide(early, slow); d.Stop || !math.IsNaN(d.Predicted) {
		t.Errorf("20 stops by prediction count as evidence: %+v", d)
	}
	tr := early[11]
	tr.Value = best.Value
	if d := rule.Decide(append(early[:11:11], tr), slow); !d.Stop {
		t.Errorf("a run that was stopped at the best value is no evidence: %+v", d)
	}
}

// Trials that were stopped by predictions change no later one.
func TestPosteriorLearnsNothingFromItsOwnStops(t *testing.T) {
	rule := func() *stop.Posterior { return stop.NewPosterior(integers(t, 20, 20), stop.PosteriorOptions{}) }
	h := finishedSlope(25, 3)
	best, _ := assay.Best(h)
	at := runningAt(99, assay.Config{best.Config[0], 7}, best.Value/2)
	with := func(state assay.State, value float64) float64 {
		tr := trial(50, state, value)
		tr.Config, tr.Decision = assay.Config{best.Config[0], 8}, &assay.Decision{Predicted: 1e6}
		return rule().Chance(append(slices.Clone(h), tr), at)
	}
	plain := rule().Chance(h, at)
	if !(plain > 0.01 && plain < 0.99) {
		t.Fatalf("the chance is %v", plain)
	}
	if got := with(assay.Censored, 0.9*best.Value); got != plain {
		t.Errorf("one that was stopped below the best changes the chance from %v to %v", plain, got)
	}
	// One that reached the best is known to be worse than that, not to end there.
	censored, exact := with(assay.Censored, 1.001*best.Value), with(assay.Done, 1.001*best.Value)
	if !(censored < 0.9*exact) {
		t.Errorf("the chance is %v beside a run that came to the best, %v beside one that ended there", censored, exact)
	}
	if got := with(assay.Failed, math.Inf(1)); got != plain {
		t.Errorf("a failed one changes the chance from %v to %v", plain, got)
	}
	if got := with(assay.Infeasible, 1e-3); !(got < plain) {
		t.Errorf("one that broke a limit, nearby and fast, changes the chance from %v to %v", plain, got)
	}
}

// The chance falls with the time that has passed, and is true of outcomes: as many of the runs whose
// values the rule does not know become the best as it predicts.
func TestPosteriorChance(t *testing.T) {
	space := integers(t, 20, 20)
	said, became, runs := 0.0, 0, 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		value := func(c assay.Config) float64 {
			return 10 * math.Exp(0.5*math.Sin(c[0]/3+float64(seed))+0.02*c[1]+0.15*rng.NormFloat64())
		}
		var h []assay.Trial
		for i := range 12 {
			c := assay.Config{float64(rng.IntN(21)), float64(rng.IntN(21))}
			tr := trial(int64(i+1), assay.Done, value(c))
			tr.Config = c
			h = append(h, tr)
		}
		best, _ := assay.Best(h)
		rule := stop.NewPosterior(space, stop.PosteriorOptions{After: 12})
		for range 200 {
			c := assay.Config{float64(rng.IntN(21)), float64(rng.IntN(21))}
			y, last, first := value(c), 1.0, 0.0
			for _, at := range []float64{0, 0.5, 0.8, 0.95, 1} {
				p := rule.Chance(h, runningAt(99, c, at*best.Value))
				if !(p <= last+1e-12 && p >= 0) {
					t.Fatalf("the chance is %v at %v of the best, before %v", p, at, last)
				}
				switch at { // that it has not ended yet is part of the chance
				case 0:
					first = p
				case 0.95:
					if first > 0.2 && !(p < 0.8*first) {
						t.Fatalf("the chance is %v at the start and %v at 0.95 of the best", first, p)
					}
				}
				if last = p; at == 0.5 && y > at*best.Value {
					said, runs = said+p, runs+1
					if y < best.Value {
						became++
					}
				}
			}
			if last != 0 {
				t.Fatalf("at the best value the chance is %v", last)
			}
		}
	}
	if share, want := float64(became)/float64(runs), said/float64(runs); share > 1.5*want ||
		want > 1.5*share || share < 0.03 {
		t.Errorf("%.3f of %d runs became the best, the rule said %.3f", share, runs, want)
	}
}

// A process that is wrong about its own examples is less sure of others: one value among
// alike ones that is far off keeps runs going that would be stopped without it.
func TestPosteriorDoubtsItself(t *testing.T) {
	space := integers(t, 20, 20)
	var h []assay.Trial
	for i := range 24 {
		tr := trial(int64(i+1), assay.Done, 100+float64(i%3))
		tr.Config = assay.Config{float64(i % 5), float64(i / 5)}
		h = append(h, tr)
	}
	h[0].Value = 95
	rule := stop.NewPosterior(space, stop.PosteriorOptions{})
	near := runningAt(99, assay.Config{2, 2}, 1)
	sure := rule.Chance(h, near)
	h[14].Value = 1000 // far above the best: as a value it makes the others no faster
	if doubt := rule.Chance(h, near); !(doubt > 2*sure) {
		t.Errorf("the chance is %v with an outlier, %v without", doubt, sure)
	}
}

func TestPosteriorSpare(t *testing.T) {
	h := finishedSlope(40, 5)
	best, _ := assay.Best(h)
	rule := stop.NewPosterior(integers(t, 20, 20), stop.PosteriorOptions{Spare: 0.2, Seed: 7})
	spared := 0
	for id := int64(100); id < 600; id++ {
		d := rule.Decide(h, runningAt(id, assay.Config{20, 20}, best.Value/2))
		if d.Stop {
			continue
		}
		if spared++; !strings.HasPrefix(d.Reason, "spared: after ") {
			t.Fatalf("got reason %q", d.Reason)
		}
		if d = rule.Decide(h, runningAt(id, assay.Config{20, 20}, best.Value)); !d.Stop ||
			!strings.Contains(d.Reason, "spared") {
			t.Fatalf("a spared run at the best value: %+v", d)
		}
	}
	if spared < 64 || spared > 136 { // 100 ± 4 standard deviations
		t.Errorf("%d of 500 trials were spared, want about 100", spared)
	}
}

// A computation for one history must not leak into the decisions about another.
func TestPosteriorMemoChangesNothing(t *testing.T) {
	space := integers(t, 20, 20)
	all := finishedSlope(60, 6)
	for i := range all {
		if i%7 == 3 {
			all[i].State = assay.Infeasible
		}
		if i%5 == 2 {
			all[i].State = assay.Censored
		}
	}
	opts := stop.PosteriorOptions{After: 3, Level: 0.2}
	old := stop.NewPosterior(space, opts)
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, 20).Draw(t, "from")
		h := all[from:rapid.IntRange(from, len(all)).Draw(t, "to")]
		c := assay.Config{float64(rapid.IntRange(0, 20).Draw(t, "a")), 3}
		r := runningAt(99, c, rapid.Float64Range(0, 60).Draw(t, "value"))
		a, b := old.Decide(h, r), stop.NewPosterior(space, opts).Decide(h, r)
		if a.Stop != b.Stop || a.Reason != b.Reason || math.Float64bits(a.Predicted) != math.Float64bits(b.Predicted) {
			t.Fatalf("decided %+v, a new rule %+v", a, b)
		}
	})
}

func TestPosteriorPanics(t *testing.T) {
	for _, o := range []stop.PosteriorOptions{
		{Level: 1}, {Level: -0.1}, {Spare: 1}, {Spare: math.NaN()}, {After: -1}, {Margin: -1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is accepted", o)
				}
			}()
			stop.NewPosterior(integers(t, 2, 2), o)
		}()
	}
}

// The time that a stop saves is worth little if half of a small space has been tried: the run
// may have been one of the last that are better.
func TestPosteriorStopsNothingWhenLittleIsLeft(t *testing.T) {
	space := integers(t, 9, 3) // 40 configurations
	var h []assay.Trial
	for i := range 20 {
		c := assay.Config{float64(i % 10), float64(i / 10)}
		tr := trial(int64(i+1), assay.Done, slope(c))
		tr.Config = c
		h = append(h, tr)
	}
	rule := stop.NewPosterior(space, stop.PosteriorOptions{After: 5})
	slow := runningAt(99, assay.Config{9, 3}, 0.1)
	if d := rule.Decide(h[:19], slow); !d.Stop {
		t.Errorf("with 21 of 40 left: %+v", d)
	}
	if d := rule.Decide(h, slow); d.Stop || !math.IsNaN(d.Predicted) {
		t.Errorf("with 20 of 40 left: %+v", d)
	}
	if d := rule.Decide(h, runningAt(99, assay.Config{9, 3}, 10)); !d.Stop {
		t.Errorf("with 20 of 40 left a run at the best value goes on: %+v", d)
	}
}

// There is no prediction if the best value is not positive, and nothing is stopped by one.
func TestPosteriorNeedsAPositiveBest(t *testing.T) {
	rule := stop.NewPosterior(integers(t, 20, 20), stop.PosteriorOptions{})
	for _, best := range []float64{0, -1} {
		h := finishedSlope(40, 1)
		h[7].Value = best
		if d := rule.Decide(h, runningAt(99, assay.Config{18, 3}, best-1)); d.Stop || !math.IsNaN(d.Predicted) {
			t.Errorf("with the best at %v: %+v", best, d)
		}
		if c := rule.Chance(h, runningAt(99, assay.Config{18, 3}, best-1)); !math.IsNaN(c) {
			t.Errorf("with the best at %v the chance is %v", best, c)
		}
	}
}
