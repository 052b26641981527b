package search

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/testbed"
)

func TestAdaptiveConformance(t *testing.T) {
	for name, build := range map[string]func(s *assay.Space) assay.Searcher{
		"random": func(s *assay.Space) assay.Searcher {
			return Adaptive(NewRandom(s, 1), AdaptiveOptions{Min: 2, Max: 4})
		},
		"pro": func(s *assay.Space) assay.Searcher {
			return Adaptive(NewPRO(s, SimplexOptions{Remember: true}), AdaptiveOptions{})
		},
		"median": func(s *assay.Space) assay.Searcher {
			return Adaptive(NewSobol(s, 1), AdaptiveOptions{Min: 4, Max: 6, Reduce: stats.Median, Settled: Shift(0.9)})
		},
	} {
		t.Run(name, func(t *testing.T) { assaytest.TestSearcher(t, build, light(assaytest.SearcherOptions{})) })
	}
}

func TestPrecedence(t *testing.T) {
	inf := math.Inf(1)
	rule := Precedence(1.0 / 8)
	for _, c := range []struct {
		low, high []float64
		want      bool
	}{
		{[]float64{1, 2}, []float64{3, 4}, false},                         // 1/6
		{[]float64{1, 2, 3}, []float64{4, 5, 9}, true},                    // 1/20
		{[]float64{1, 2, 9}, []float64{4, 5, 9}, false},                   // 1/5
		{[]float64{9, 2, 1, 3}, []float64{5, 4, 9, 9}, true},              // 4/56
		{[]float64{1, 2, 3}, []float64{4, 5}, true},                       // 1/10
		{[]float64{1, 2, 3, 4, 5, 6, 7, 9, 9, 9}, []float64{8, 8}, false}, // 120/792
		{[]float64{1, 2, 3, 4, 5, 6, 7, 7, 9, 9}, []float64{8, 8}, true},  // 45/495
		{[]float64{1, 1, 1}, []float64{inf, inf}, true},
		{[]float64{4, 4}, []float64{4, 4}, true}, // no noise, no difference
		{[]float64{4, 4, 4}, []float64{4, 4, 5}, false},
	} {
		if got := rule(c.low, c.high); got != c.want {
			t.Errorf("%v, %v: settled %v, want %v", c.low, c.high, got, c.want)
		}
	}
}

// The probability of the rule is the probability of a random order of equal values.
func TestPrecedenceProbability(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const draws = 200_000
	hits := 0
	for range draws {
		order := rng.Perm(7) // places of 4 and 3 runs
		if slices.Min(order[4:]) >= 3 {
			hits++
		}
	}
	want := 4.0 / 35 // C(4,3)/C(7,3)
	if got := float64(hits) / draws; !(math.Abs(got-want) <= 0.003) {
		t.Fatalf("the simulation has %v, want %v", got, want)
	}
	for _, c := range []struct {
		alpha float64
		want  bool
	}{{want * 1.001, true}, {want * 0.999, false}} {
		if got := Precedence(c.alpha)([]float64{1, 2, 3, 9}, []float64{4, 5, 6}); got != c.want {
			t.Errorf("alpha %v: settled %v", c.alpha, got)
		}
	}
}

// A candidate that is clearly worse has few runs, those that are close have more,
// interleaved, up to Max.
func TestAdaptiveRunsWhereInDoubt(t *testing.T) {
	inner := &script{configs: []float64{1, 2, 3}}
	a := Adaptive(inner, AdaptiveOptions{Min: 2, Max: 5})
	values := map[float64][]float64{1: {10, 13, 10.5, 10.2, 10.4}, 2: {50, 51, 49}, 3: {10.3, 12, 10.6, 10.8, 10.7}}
	var order []float64
	for len(inner.told) == 0 {
		ps := mustAsk(t, a, 6)
		if len(ps) == 0 {
			t.Fatal("nothing to run")
		}
		for _, p := range ps {
			x := p.Config[0]
			order = append(order, x)
			mustTell(t, a, doneTrial(p, values[x][0]))
			values[x] = values[x][1:]
		}
	}
	// After 3 runs 2 is settled; 1 has 10 and 10.2 below the 10.3 of 3, no more.
	if want := []float64{1, 2, 3, 1, 2, 3, 2, 3, 1, 3, 1, 3, 1}; !slices.Equal(order, want) {
		t.Errorf("got runs %v, want %v", order, want)
	}
	for i, want := range []float64{10, 49, 10.3} {
		if got := inner.told[i]; got.Value != want || got.ID != int64(i+1) {
			t.Errorf("inner was told trial %d with %v, want %v", got.ID, got.Value, want)
		}
	}
}

// The best is run again beside a challenger. Its earlier value stands, so the
// challenger's value is shifted to keep the order that was found.
func TestAdaptiveShifts(t *testing.T) {
	inner := &waiting{script: script{configs: []float64{1, 2}}, step: 1}
	a := Adaptive(inner, AdaptiveOptions{Min: 2, Max: 5})
	values := map[float64][]float64{1: {12, 13, 10, 10.1, 10.2}, 2: {11, 11.5, 11.2, 11.3, 11.4}}
	for len(inner.told) < 2 {
		p := mustAsk(t, a, 1)[0]
		x := p.Config[0]
		mustTell(t, a, doneTrial(p, values[x][0]))
		values[x] = values[x][1:]
	}
	if inner.told[0].Value != 12 || inner.told[1].Value != 13 {
		t.Errorf("inner was told %v and %v, want 12 and 11 + 2", inner.told[0].Value, inner.told[1].Value)
	}
}

// Asked for one run at a time, several configurations race each other, interleaved,
// and one that is settled drops out.
func TestAdaptiveRacesOneByOne(t *testing.T) {
	inner := &script{configs: []float64{1, 3, 2, 4}}
	a := Adaptive(inner, AdaptiveOptions{Min: 3, Max: 6})
	values := map[float64][]float64{
		1: {10.3, 10.4, 10.2, 10, 10.5, 10.3, 10.1}, 2: {50, 51, 49},
		3: {10.2, 10.4, 10.6, 10.7, 10.8, 10.9}, 4: {9, 9, 9, 9, 9, 9},
	}
	var order []float64
	for len(inner.told) == 0 {
		ps := mustAsk(t, a, 1)
		if len(ps) != 1 {
			t.Fatalf("got %v", ps)
		}
		x := ps[0].Config[0]
		order = append(order, x)
		mustTell(t, a, doneTrial(ps[0], values[x][len(values[x])-1]))
		values[x] = values[x][:len(values[x])-1]
	}
	if !slices.Equal(order, []float64{1, 3, 1, 3, 1, 3}) {
		t.Errorf("got runs %v", order)
	}
	if len(inner.told) != 2 {
		t.Errorf("inner was told %d trials, want the 2 of the race", len(inner.told))
	}
	// The next race is of the other two and the best: 2 drops out, 4 is better.
	order = nil
	for len(inner.told) < 4 {
		p := mustAsk(t, a, 1)[0]
		x := p.Config[0]
		order = append(order, x)
		mustTell(t, a, doneTrial(p, values[x][len(values[x])-1]))
		values[x] = values[x][:len(values[x])-1]
	}
	if !slices.Equal(order[:6], []float64{2, 4, 2, 4, 2, 4}) || slices.Contains(order[6:], 2) {
		t.Errorf("got runs %v in the second race", order)
	}
}

// With more room than points each point is run K = ⌊n/points⌋ times at once, at least
// Min and at most Max times; the further runs come when there is room.
// Reference: Tabatabaee et al. 2005, section 5.2
func TestAdaptiveUsesTheRoom(t *testing.T) {
	for _, c := range []struct{ room, step, max, want int }{
		{64, 6, 20, 10},
		{64, 6, 8, 8},
		{12, 6, 20, 2},
		{11, 6, 20, 2},
		{17, 6, 20, 2},
		{18, 6, 20, 3},
		{1, 6, 20, 2},
		{5, 1, 20, 5},
	} {
		inner := &waiting{script: script{configs: []float64{1, 2, 3, 4, 5, 6}}, step: c.step}
		a := Adaptive(inner, AdaptiveOptions{Max: c.max, Settled: func(low, high []float64) bool { return true }})
		runs := map[float64]int{}
		first := mustAsk(t, a, c.room)
		if want := min(c.room, c.want*c.step); len(first) != want {
			t.Errorf("%+v: %d runs at once, want %d", c, len(first), want)
		}
		for len(inner.told) == 0 {
			if len(first) == 0 {
				first = mustAsk(t, a, c.room)
			}
			p := first[0]
			first = first[1:]
			runs[p.Config[0]]++
			mustTell(t, a, doneTrial(p, p.Config[0]))
		}
		for x, n := range runs {
			if n != c.want {
				t.Errorf("%+v: %v is run %d times, want %d", c, x, n, c.want)
			}
		}
	}
}

// Spare processors are used for replicates: 6 points on 64 processors make 10.
// Reference: Tabatabaee et al. 2005, section 5.2
func TestAdaptiveSpareProcessors(t *testing.T) {
	a := Adaptive(NewPRO(intSpace(t, 3, 100), SimplexOptions{}), AdaptiveOptions{Max: 20})
	ps := mustAsk(t, a, 64)
	count := map[string]int{}
	for _, p := range ps {
		count[p.Config.Key()]++
	}
	for k, n := range count {
		if n != 10 {
			t.Errorf("configuration %q is run %d times, want 10", k, n)
		}
	}
	if len(count) != 6 {
		t.Errorf("got %d configurations, want 6", len(count))
	}
}

// A candidate that failed every time is not run more often.
func TestAdaptiveFailures(t *testing.T) {
	inner := &script{configs: []float64{1, 2}}
	a := Adaptive(inner, AdaptiveOptions{Min: 2, Max: 9})
	for _, p := range mustAsk(t, a, 4) {
		trial := doneTrial(p, 3)
		if p.Config[0] == 1 {
			trial.State, trial.Value = assay.Failed, math.Inf(1)
		}
		mustTell(t, a, trial)
	}
	if len(inner.told) != 2 || inner.told[0].State != assay.Failed || inner.told[1].Value != 3 {
		t.Errorf("inner was told %v", inner.told)
	}
}

// warmSeries returns the recorded forks of micro-benchmarks that are long enough to
// draw from, by benchmark.
func warmSeries(t *testing.T) map[string][][]float64 {
	t.Helper()
	all := testbed.WarmRuns(t)
	for name, forks := range all {
		all[name] = slices.DeleteFunc(forks, func(x []float64) bool { return len(x) < 100 })
		if len(all[name]) == 0 {
			delete(all, name)
		}
	}
	return all
}

// A duel draws runs of two configurations that are 5 % apart, and returns whether the better one is
// found, by how many runs.
func duel(rng *rand.Rand, x []float64, s func(inner assay.Searcher) assay.Searcher) (right bool, runs int) {
	inner := &script{configs: []float64{0, 1}}
	w := s(inner)
	for len(inner.told) < 2 {
		ps, err := w.Ask(2)
		if err != nil {
			panic(err)
		}
		for _, p := range ps {
			runs++
			if err := w.Tell(doneTrial(p, x[rng.IntN(len(x))]*(1+0.05*p.Config[0]))); err != nil {
				panic(err)
			}
		}
	}
	value := map[int64]float64{}
	for _, t := range inner.told {
		value[t.ID] = t.Value
	}
	return value[1] < value[2], runs
}

// Real run times of 20 programs: which of two configurations that are 5 % apart
// is better? On the heavy-tailed series the minimum of 3 runs is right at least
// as often as their median and their mean; and adaptive K is right in 95 % with
// fewer runs than the least fixed K which is, of up to 20.
func TestNoiseOfRealPrograms(t *testing.T) {
	duels := 150 // of each program: the standard error over 20 is 0.4 points
	if os.Getenv("ASSAY_SOAK") == "1" {
		duels = 2000
	}
	series := warmSeries(t)
	var names, heavy []string
	for name, forks := range series {
		names = append(names, name)
		if d := stats.DiagnoseTail(slices.Concat(forks...)); d.Kind == stats.TailHeavy || d.Kind == stats.TailNoMean {
			heavy = append(heavy, name)
		}
	}
	slices.Sort(names)
	slices.Sort(heavy)
	measure := func(names []string, s func(assay.Searcher) assay.Searcher) (share, runs float64) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, name := range names {
			for i := range duels {
				forks := series[name]
				right, n := duel(rng, forks[i%len(forks)], s)
				if right {
					share += 1 / float64(len(names)*duels)
				}
				runs += float64(n) / float64(len(names)*duels)
			}
		}
		return share, runs
	}
	fixed := func(k int, reduce func([]float64) float64) func(assay.Searcher) assay.Searcher {
		return func(inner assay.Searcher) assay.Searcher { return Replicate(inner, k, reduce) }
	}
	lowest, _ := measure(heavy, fixed(3, slices.Min))
	middle, _ := measure(heavy, fixed(3, stats.Median))
	average, _ := measure(heavy, fixed(3, mean))
	t.Logf("%d heavy-tailed series of %d, 3 runs: minimum right in %.3f, median %.3f, mean %.3f", len(heavy),
		len(names), lowest, middle, average)
	if lowest < middle || lowest < average || len(heavy) < 5 {
		t.Errorf("the minimum is right less often")
	}
	share, need := 0.0, 0.0
	for k := 2; share < 0.95 && k < 20; k++ {
		share, need = measure(names, fixed(k, slices.Min))
		t.Logf("K = %2d: right in %.3f with %.1f runs", k, share, need)
	}
	share, runs := measure(names, func(inner assay.Searcher) assay.Searcher {
		return Adaptive(inner, AdaptiveOptions{})
	})
	t.Logf("adaptive: right in %.3f with %.1f runs", share, runs)
	if share < 0.95 || runs >= need {
		t.Errorf("adaptive K is right in %.3f with %.1f runs, want 0.95 with fewer than %.1f", share, runs, need)
	}
}
