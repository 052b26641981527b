package search

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

// A worse configuration is accepted with the probability exp(-Δ/(T·s)), s the
// difference of the quartiles; a better one always, one that failed never.
// Reference: Kirkpatrick, Gelatt and Vecchi 1983, p. 672
func TestAnnealAccepts(t *testing.T) {
	s := NewAnneal(cube(1), AnnealOptions{Seed: 7})
	for _, v := range []float64{10, 12, 14, 16, 18} {
		s.note(v)
	}
	for _, c := range []struct{ temperature, value, want float64 }{
		{0.5, 11, math.Exp(-1 / (0.5 * 4))},
		{0.1, 11, math.Exp(-1 / (0.1 * 4))},
		{0.5, 14, math.Exp(-4 / (0.5 * 4))},
		{0.5, 10, 1},
		{0.1, 9, 1},
		{10, math.Inf(1), 0},
	} {
		accepted := 0
		for range 10_000 {
			ch := chain{at: vertex{assay.Config{0.5}, 10}, t: c.temperature}
			s.decide(&ch, vertex{assay.Config{0.6}, c.value})
			if ch.at.at[0] == 0.6 {
				accepted++
			}
		}
		// Four standard deviations of a share of 10,000.
		if got := float64(accepted) / 10_000; !(math.Abs(got-c.want) <= 4*math.Sqrt(c.want*(1-c.want)/10_000)) {
			t.Errorf("T %v, from 10 to %v: accepted %v, want %v", c.temperature, c.value, got, c.want)
		}
	}
}

// The temperature falls by the factor with each trial of the chain, and a cold
// chain begins again hot.
func TestAnnealCools(t *testing.T) {
	s := NewAnneal(cube(2), AnnealOptions{Chains: 1, Initial: 3, Hot: 1, Cold: 0.4, Cooling: 0.5})
	for range 3 {
		mustTell(t, s, doneTrial(mustAsk(t, s, 1)[0], 1))
	}
	for _, want := range []float64{0.5, 0.25, 0.5, 0.25} {
		mustTell(t, s, doneTrial(mustAsk(t, s, 1)[0], 2))
		if got := s.chains[0].t; got != want {
			t.Errorf("the temperature is %v, want %v", got, want)
		}
	}
}

// A step is to another configuration that is admissible, mostly in one
// parameter, and narrower when it is colder.
func TestAnnealSteps(t *testing.T) {
	params := append(cube(2).Params, assay.Param{
		Name: "k", Kind: assay.Categorical,
		Levels: []string{"x", "y", "z"},
	}, assay.Param{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 64})
	space, err := assay.NewSpace(params, assay.Relation{
		Text: "a + b <= 1.5", Params: []int{0, 1},
		Holds: func(c assay.Config) bool { return c[0]+c[1] <= 1.5 },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewAnneal(space, AnnealOptions{Seed: 3})
	var width [2]float64
	for k, temperature := range []float64{s.opts.Hot, s.opts.Cold} {
		one := 0
		for range 4000 {
			c, _ := space.Draw(s.rng.Rand)
			x := s.step(c, temperature)
			if !space.Contains(x) {
				t.Fatalf("a step to %v", x)
			}
			width[k] += math.Abs(x[3]-c[3]) / 4000
			changed := 0
			for i := range c {
				if x[i] != c[i] {
					changed++
				}
			}
			if changed == 1 {
				one++
			}
		}
		if share := float64(one) / 4000; share < 0.5 || share > 0.7 {
			t.Errorf("temperature %v: %v of the steps change one parameter, want about 0.6", temperature, share)
		}
	}
	if !(width[0] > 3*width[1] && width[1] > 0) {
		t.Errorf("mean widths %v hot and %v cold", width[0], width[1])
	}
}

// No unit and no offset of the objective changes the proposals: of annealing;
// the other movers read nothing but the order of values.
func TestMoversInvariance(t *testing.T) {
	space := intSpace(t, 3, 15)
	rapid.Check(t, func(t *rapid.T) {
		seed, m := rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom(movers).Draw(t, "searcher")
		f := func(c assay.Config) float64 { return math.Mod(7*c[0]+3*c[1]*c[2]+c[2], 17) }
		g := func(c assay.Config) float64 { return 1024 + 8*f(c) }
		if m.name != "sa" {
			g = func(c assay.Config) float64 { return math.Exp(f(c)) }
		}
		one, two := m.make(space, seed), m.make(space, seed)
		for range 15 {
			ps, _ := one.Ask(2)
			qs, _ := two.Ask(2)
			if len(ps) != len(qs) {
				t.Fatalf("%s: %d and %d proposals", m.name, len(ps), len(qs))
			}
			for i := range ps {
				if !ps[i].Config.Equal(qs[i].Config) {
					t.Fatalf("%s: proposal %d is %v and %v", m.name, ps[i].ID, ps[i].Config, qs[i].Config)
				}
				if one.Tell(doneTrial(ps[i], f(ps[i].Config))) != nil || two.Tell(doneTrial(qs[i], g(qs[i].Config))) != nil {
					t.Fatal("cannot be told")
				}
			}
		}
	})
}
