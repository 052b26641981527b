package search

import (
	"errors"
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/testbed"
	"pgregory.net/rapid"
)

// movers are the searchers of this file's tests.
var movers = []struct {
	name string
	make func(s *assay.Space, seed uint64) assay.Searcher
}{
	{"pso", func(s *assay.Space, seed uint64) assay.Searcher { return NewPSO(s, PSOOptions{Seed: seed}) }},
	{"sa", func(s *assay.Space, seed uint64) assay.Searcher { return NewAnneal(s, AnnealOptions{Seed: seed}) }},
	{"grasp", func(s *assay.Space, seed uint64) assay.Searcher { return NewGRASP(s, GRASPOptions{Seed: seed}) }},
	{"gps", func(s *assay.Space, seed uint64) assay.Searcher { return NewGPS(s, GPSOptions{Seed: seed}) }},
}

func TestMoverConformance(t *testing.T) {
	opts := assaytest.SearcherOptions{Exhausts: true, Trials: 24}
	for _, m := range movers {
		build := func(s *assay.Space) assay.Searcher { return m.make(s, 3) }
		t.Run(m.name, func(t *testing.T) {
			assaytest.TestSearcher(t, build, light(opts))
			assaytest.TestNarrower(t, build, light(opts))
		})
	}
}

// On the problems of assaytest, every mover finds the best of the unimodal ones
// or comes within some of it in 150 trials, in all of 4 seeds.
func TestMoversFindTheBottom(t *testing.T) {
	worst := map[string]float64{"bowl": 1.05, "valley": 3, "interaction": 3.6, "constrained": 1.12, "table": 1.05}
	for _, p := range assaytest.Problems() {
		for _, m := range movers {
			for seed := range uint64(4) {
				s := m.make(p.Space, seed)
				best := math.Inf(1)
				for range 50 {
					ps, err := s.Ask(3)
					if errors.Is(err, assay.ErrDone) {
						break
					}
					for _, q := range ps {
						tr := p.Trial(q)
						best = min(best, tr.Value)
						mustTell(t, s, tr)
					}
				}
				if best/p.Optimum > worst[p.Name] {
					t.Errorf("%s on %s, seed %d: %.3f of the optimum, want at most %v", m.name, p.Name, seed,
						best/p.Optimum, worst[p.Name])
				}
			}
		}
	}
}

// In random finite spaces with relations, any order of results and failures:
// every configuration once, then ErrDone.
func TestMoversExhaust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var params []assay.Param
		for i := range rapid.IntRange(1, 3).Draw(t, "parameters") {
			p := assay.Param{Name: string(rune('a' + i)), Kind: assay.Integer, Hi: float64(rapid.IntRange(0, 4).Draw(t, "hi"))}
			if rapid.Bool().Draw(t, "categorical") {
				p = assay.Param{Name: p.Name, Kind: assay.Categorical, Levels: []string{"x", "y", "z"}}
			}
			params = append(params, p)
		}
		mod := float64(rapid.IntRange(2, 5).Draw(t, "modulus"))
		rel := assay.Relation{Text: "hash", Params: []int{0, len(params) - 1}, Holds: func(c assay.Config) bool {
			return math.Mod(3*c[0]+c[len(c)-1], mod) != 1
		}}
		space, err := assay.NewSpace(params, rel)
		if err != nil {
			t.Skip("no configuration is admissible")
		}
		m := rapid.SampledFrom(movers).Draw(t, "searcher")
		s := m.make(space, rapid.Uint64().Draw(t, "seed"))
		var out []assay.Proposal
		seen := visited{}
		for calls := 0; ; calls++ {
			if calls > 10_000 {
				t.Fatalf("%s does not end", m.name)
			}
			ps, err := s.Ask(rapid.IntRange(1, 6).Draw(t, "n"))
			if errors.Is(err, assay.ErrDone) {
				break
			}
			for _, p := range ps {
				if !space.Contains(p.Config) || !seen.add(p.Config) {
					t.Fatalf("%s proposes %v again, or it is not admissible", m.name, p.Config)
				}
			}
			for out = append(out, ps...); len(out) > 0 && (len(ps) == 0 || rapid.Bool().Draw(t, "tell")); {
				i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
				tr := assay.Trial{Proposal: out[i], State: assay.Done, Value: float64(rapid.IntRange(-3, 3).Draw(t, "value"))}
				if rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
					tr.State, tr.Value = assay.Failed, math.Inf(1)
				}
				if err := s.Tell(tr); err != nil {
					t.Fatal(err)
				}
				out = append(out[:i:i], out[i+1:]...)
				ps = []assay.Proposal{{}}
			}
		}
		if int64(len(seen)) != space.Size().N {
			t.Fatalf("%s: %d of %v configurations", m.name, len(seen), space.Size())
		}
	})
}

// Points learned outside of the limit attract no more, and do again once the limit is lifted.
func TestMoversForgetNothing(t *testing.T) {
	space := intSpace(t, 2, 40)
	f := bowl(35, 5)
	for _, m := range movers {
		s := m.make(space, 5)
		run := func(n int) (beyond int) {
			for range n {
				for _, p := range mustAsk(t, s, 1) {
					if p.Config[0] > 30 {
						beyond++
					}
					mustTell(t, s, doneTrial(p, f(p.Config)))
				}
			}
			return beyond
		}
		run(60)
		s.(assay.Narrower).Narrow(func(c assay.Config) bool { return c[0] < 10 })
		run(40)
		s.(assay.Narrower).Narrow(nil)
		if n := run(120); n < 45 { // a quarter of the space would be 30
			t.Errorf("%s: %d of 120 trials are beyond 30 after the limit c[0] < 10 was lifted, want more than 45", m.name, n)
		}
	}
}

// moverTables are those on which movers are judged: the small and middle ones.
func moverTables(all bool) []tableSource {
	if all {
		return append(append([]tableSource(nil), tableSources...), heldOut...)
	}
	return []tableSource{tableSources[0], tableSources[1], tableSources[7], heldOut[0], heldOut[1], heldOut[7]}
}

// With equal trials every mover is better than random search without
// replacement: log(best/optimum) of the same table and seed, by the signed-rank
// test at 5 %, since differences on some tables are a thousand times those on
// others. The interval of their mean is printed beside it: that is ruled by the
// few tables with the widest ranges, and not above 0 for all. With ASSAY_SOAK=1
// on all tables, 20 seeds.
func TestMoversQuality(t *testing.T) {
	testbed.System(t)
	folder := testbed.Data(t)
	soak := testbed.IsSystem()
	seeds := uint64(6)
	if soak {
		seeds = 20
	}
	for _, trials := range []int{50, 100} {
		gain := map[string][]float64{}
		mean := map[string]float64{}
		sources := moverTables(soak)
		for _, src := range sources {
			tab := readTable(t, folder, src)
			line := map[string]float64{}
			for seed := range seeds {
				r := regret(t, tab, NewRandom(tab.space, seed), trials)
				line["random"] += r / float64(seeds)
				for _, m := range movers {
					x := regret(t, tab, m.make(tab.space, seed), trials)
					line[m.name] += x / float64(seeds)
					gain[m.name] = append(gain[m.name], r-x)
				}
			}
			text := ""
			for _, name := range []string{"random", "pso", "sa", "grasp", "gps"} {
				mean[name] += line[name] / float64(len(sources))
				text += " " + name + " " + percent(line[name])
			}
			t.Logf("%3d trials, %-60.60s %5d:%s", trials, tab.name, tab.space.Size().N, text)
		}
		t.Logf("%3d trials, %d tables: random %s", trials, len(sources), percent(mean["random"]))
		for _, m := range movers {
			e := stats.MeanInterval(gain[m.name], 0.95)
			t.Logf("%3d trials, %d tables: %-6s %s, gain in log(best/optimum) %.4f [%.4f, %.4f]", trials,
				len(sources), m.name, percent(mean[m.name]), e.Value, e.Low, e.High)
			better, worse := 0, 0
			for _, g := range gain[m.name] {
				switch {
				case g > 0:
					better++
				case g < 0:
					worse++
				}
			}
			w := stats.WilcoxonSignedRank(gain[m.name])
			t.Logf("%3d trials, %d tables: %-6s better in %d, worse in %d, p %.2g", trials, len(sources), m.name,
				better, worse, w.P)
			// Above its mean, the statistic speaks for the mover.
			if n := float64(better + worse); !(w.P < 0.05 && w.Statistic > n*(n+1)/4) {
				t.Errorf("%d trials: %s is not better than random search: p %.3f", trials, m.name, w.P)
			}
		}
	}
}

func percent(l float64) string { return assay.FormatNumber(math.Round(1000*math.Expm1(l))/10) + " %" }

// Another level is any but the one that there is, each as often; of one level there is no other.
func TestOtherLevel(t *testing.T) {
	levels := []string{"p", "q", "r", "s"}
	g := newGround(intSpace(t, 1, 1), 5, 1)
	for n := 1; n <= 4; n++ {
		for x := range n {
			var count [4]int
			for range 1200 {
				count[int(g.otherLevel(assay.Param{Kind: assay.Categorical, Levels: levels[:n]}, float64(x)))]++
			}
			for l, got := range count {
				want := 0
				switch {
				case n == 1 && l == 0:
					want = 1200
				case l < n && l != x:
					want = 1200 / (n - 1)
				}
				if got < want-want/5 && n > 2 || got > want+want/5 || n <= 2 && got != want {
					t.Errorf("of %d levels, but %d, level %d comes %d times of 1200, want about %d", n, x, l, got, want)
				}
			}
		}
	}
}
