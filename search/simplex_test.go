package search

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"pgregory.net/rapid"
)

// directSearches are the constructors of this file's subjects.
var directSearches = []struct {
	name string
	make func(*assay.Space, SimplexOptions) assay.Searcher
}{
	{"pro", func(s *assay.Space, o SimplexOptions) assay.Searcher { return NewPRO(s, o) }},
	{"sro", func(s *assay.Space, o SimplexOptions) assay.Searcher { return NewSRO(s, o) }},
	{"nm", func(s *assay.Space, o SimplexOptions) assay.Searcher { return NewNelderMead(s, o) }},
}

func TestDirectConformance(t *testing.T) {
	for _, d := range directSearches {
		for name, opts := range map[string]SimplexOptions{
			"once": {}, "restarts": {Restarts: -1, Seed: 3}, "minimal": {Minimal: true, Size: 1, Restarts: 2},
		} {
			t.Run(d.name+" "+name, func(t *testing.T) {
				assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher { return d.make(s, opts) },
					assaytest.SearcherOptions{Trials: 40})
			})
			t.Run(d.name+" "+name+" remembering", func(t *testing.T) {
				opts.Remember = true
				assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher { return Cache(d.make(s, opts)) },
					light(assaytest.SearcherOptions{NoRepeats: true, Trials: 40}))
			})
		}
	}
}

// intSpace returns a space of n integers 0..hi.
func intSpace(t testing.TB, n int, hi float64) *assay.Space {
	t.Helper()
	ps := make([]assay.Param, n)
	for i := range ps {
		ps[i] = assay.Param{Name: string(rune('a' + i)), Kind: assay.Integer, Hi: hi}
	}
	s, err := assay.NewSpace(ps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drive runs s on f, asking for batch points at a time, until it is done or has
// had limit trials. It returns the trials.
func drive(t *testing.T, s assay.Searcher, f func(assay.Config) float64, batch, limit int) []assay.Trial {
	t.Helper()
	var all []assay.Trial
	for len(all) < limit {
		ps, err := s.Ask(batch)
		if err == assay.ErrDone {
			return all
		}
		if err != nil || len(ps) == 0 {
			t.Fatalf("after %d trials: %d proposals, %v", len(all), len(ps), err)
		}
		for _, p := range ps {
			all = append(all, doneTrial(p, f(p.Config)))
			mustTell(t, s, all[len(all)-1])
		}
	}
	return all
}

// bowl is a convex quadratic function around center.
func bowl(center ...float64) func(assay.Config) float64 {
	return func(c assay.Config) float64 {
		v := 1.0
		for i, x := range c {
			v += (x - center[i]) * (x - center[i])
		}
		return v
	}
}

// Every search ends, without restarts, at a local minimum, whatever the function.
// Reference: Tabatabaee et al. 2005, section 3.2.2
func TestDirectEndsAtLocalMinimum(t *testing.T) {
	for _, d := range directSearches {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				dim := rapid.IntRange(1, 3).Draw(rt, "dim")
				space := intSpace(t, dim, 12)
				values := map[string]float64{}
				seed := rapid.Uint64().Draw(rt, "seed")
				rough := rapid.Float64Range(0, 4).Draw(rt, "roughness")
				f := func(c assay.Config) float64 {
					if v, ok := values[c.Key()]; ok {
						return v
					}
					h := seed
					v := 0.0
					for _, x := range c {
						h = (h ^ uint64(x+1)) * 0x9e3779b97f4a7c15
						h ^= h >> 29
						v += math.Abs(x - 4)
					}
					v += rough * float64(h%1000) / 1000
					values[c.Key()] = v
					return v
				}
				batch := rapid.IntRange(1, 8).Draw(rt, "batch")
				minimal := rapid.Bool().Draw(rt, "minimal")
				s := d.make(space, SimplexOptions{Minimal: minimal, Seed: seed})
				trials := drive(t, s, f, batch, 5000)
				if len(trials) >= 5000 {
					rt.Fatalf("no end after %d trials", len(trials))
				}
				// It ended at one of several that are equally good.
				best, _ := assay.Best(trials)
				minimum := func(tr assay.Trial) bool {
					return tr.Value == best.Value && !slices.ContainsFunc(space.Neighbours(tr.Config), func(n assay.Config) bool {
						return f(n) < best.Value
					})
				}
				if !slices.ContainsFunc(trials, minimum) {
					rt.Fatalf("of %v, with %v, and what is as good a neighbour is better", best.Config, best.Value)
				}
			})
		})
	}
}

// On a smooth bowl the minimum itself is found; in continuous spaces up to Close.
func TestDirectFindsMinimum(t *testing.T) {
	reals := must(assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Real, Lo: -10, Hi: 10}, {Name: "y", Kind: assay.Real, Lo: 0.01, Hi: 100, Log: true},
	}))
	for _, d := range directSearches {
		trials := drive(t, d.make(intSpace(t, 3, 100), SimplexOptions{}), bowl(80, 13, 41), 6, 3000)
		if best, _ := assay.Best(trials); best.Value != 1 {
			t.Errorf("%s: integers: got %v with %v after %d trials", d.name, best.Config, best.Value, len(trials))
		}
		f := func(c assay.Config) float64 {
			u := reals.Unit(c)
			return math.Pow(u[0]-0.81, 2) + math.Pow(u[1]-0.27, 2)
		}
		trials = drive(t, d.make(reals, SimplexOptions{}), f, 4, 3000)
		if best, _ := assay.Best(trials); best.Value > 2*0.01*0.01 {
			t.Errorf("%s: reals: got %v with %v after %d trials", d.name, best.Config, best.Value, len(trials))
		}
	}
}

// The initial simplex has 2N vertices Π(c ± b_i·e_i) with b_i = 0.1·(u_i - l_i),
// or N+1 with c.
// Reference: section 3.2.3 and 6.1
func TestInitialSimplex(t *testing.T) {
	space := intSpace(t, 2, 100)
	for _, c := range []struct {
		opts SimplexOptions
		want []assay.Config
	}{
		{SimplexOptions{}, []assay.Config{{60, 50}, {40, 50}, {50, 60}, {50, 40}}},
		{SimplexOptions{Minimal: true}, []assay.Config{{50, 50}, {60, 50}, {50, 60}}},
		{SimplexOptions{Size: 0.5, Center: assay.Config{0, 90}}, []assay.Config{{25, 90}, {0, 100}, {0, 65}}},
		{SimplexOptions{Size: 0.001}, []assay.Config{{51, 50}, {49, 50}, {50, 51}, {50, 49}}},
	} {
		ps := mustAsk(t, NewPRO(space, c.opts), 10)
		got := make([]assay.Config, len(ps))
		for i, p := range ps {
			got[i] = p.Config
		}
		if !slices.EqualFunc(got, c.want, assay.Config.Equal) {
			t.Errorf("%+v: got %v, want %v", c.opts, got, c.want)
		}
	}
}

// Switches and categories have no direction: the vertices of the initial simplex
// differ in many of them at once, opposite ones in every switch.
func TestInitialSimplexOfSwitches(t *testing.T) {
	ps := make([]assay.Param, 6)
	for i := range ps {
		ps[i] = assay.Param{Name: string(rune('a' + i)), Kind: assay.Switch, Levels: []string{"off", "on"}}
	}
	p := NewPRO(must(assay.NewSpace(ps)), SimplexOptions{Seed: 4})
	vs := p.initial(assay.Config{0, 0, 0, 0, 0, 0})
	if len(vs) < 7 {
		t.Fatalf("got %d vertices, want at least 7", len(vs))
	}
	for i := range 6 {
		var on int
		for _, v := range vs {
			on += int(v[i])
		}
		if on < 2 || on > len(vs)-2 {
			t.Errorf("switch %d is on at %d of %d vertices", i, on, len(vs))
		}
	}
}

// A best configuration that was observed is the centre, and is not run again.
func TestObservedCenter(t *testing.T) {
	for _, d := range directSearches {
		s := d.make(intSpace(t, 2, 100), SimplexOptions{})
		at := func(x, y, v float64) assay.Trial {
			return assay.Trial{Proposal: assay.Proposal{Config: assay.Config{x, y}}, State: assay.Done, Value: v}
		}
		if err := s.(assay.Observer).Observe(at(10, 20, 7), at(80, 70, 3), at(1, 1, 9)); err != nil {
			t.Fatal(err)
		}
		for _, p := range mustAsk(t, s, 10) {
			if p.Config.Equal(assay.Config{80, 70}) || math.Abs(p.Config[0]-80)+math.Abs(p.Config[1]-70) != 10 {
				t.Errorf("%s: proposes %v, want points at distance 10 of 80, 70", d.name, p.Config)
			}
		}
	}
}

// After a local minimum the search goes on elsewhere, until the space is spent.
func TestDirectRestarts(t *testing.T) {
	space := intSpace(t, 2, 30)
	// Two valleys; the one near the centre is the worse one.
	f := func(c assay.Config) float64 {
		return math.Min(5+math.Hypot(c[0]-15, c[1]-15), 3*math.Hypot(c[0]-2, c[1]-28))
	}
	for _, d := range directSearches {
		once, _ := assay.Best(drive(t, d.make(space, SimplexOptions{}), f, 1, 5000))
		if once.Value != 5 {
			t.Errorf("%s: one descent ends with %v, want 5", d.name, once.Value)
		}
		again, _ := assay.Best(drive(t, d.make(space, SimplexOptions{Restarts: -1, Remember: true}), f, 1, 5000))
		if again.Value != 0 {
			t.Errorf("%s: with restarts it ends with %v, want 0", d.name, again.Value)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A run that ended is remembered, and a run that broke a limit has the worst value. A run that was stopped or failed
// is not remembered. Nothing is remembered without Remember.
func TestWhatIsRemembered(t *testing.T) {
	c := assay.Config{3, 4}
	trial := func(state assay.State) assay.Trial {
		return assay.Trial{Proposal: assay.Proposal{ID: 1, Config: c}, State: state, Value: 7}
	}
	for state, want := range map[assay.State]float64{
		assay.Done: 7, assay.Infeasible: math.Inf(1), assay.Censored: math.NaN(), assay.Failed: math.NaN(),
	} {
		s := NewPRO(intSpace(t, 2, 9), SimplexOptions{Remember: true})
		s.remember(c, trial(state))
		if got, ok := s.memory[c.Key()]; ok == math.IsNaN(want) || ok && got != want {
			t.Errorf("%v: remembers %v, %v, want %v", state, got, ok, want)
		}
	}
	s := NewPRO(intSpace(t, 2, 9), SimplexOptions{})
	if s.remember(c, trial(assay.Done)); len(s.memory) != 0 {
		t.Errorf("remembers %v without being told to", s.memory)
	}
}

// On a plain without slopes each simplex ends at once: with two restarts there are three, and no more.
func TestRestartsAreCounted(t *testing.T) {
	for _, restarts := range []int{0, 2} {
		s := NewPRO(intSpace(t, 2, 100), SimplexOptions{Restarts: restarts})
		n := 0
		for ; n < 1000; n++ {
			ps, err := s.Ask(1)
			if err == assay.ErrDone {
				break
			}
			if len(ps) > 0 {
				mustTell(t, s, doneTrial(ps[0], 1))
			}
		}
		if n == 1000 || s.restarts != restarts {
			t.Errorf("%d restarts after %d proposals, want %d and an end", s.restarts, n, restarts)
		}
	}
}
