package search

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/model"
)

// lightAuto is an Auto searcher that looks at few candidates.
func lightAuto(s *assay.Space, opts AutoOptions) *Auto {
	a := NewAuto(s, opts)
	a.bayes.draws, a.bayes.starts = 16, 1
	return a
}

func TestAutoConformance(t *testing.T) {
	assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
		return lightAuto(s, AutoOptions{Initial: 3})
	}, assaytest.SearcherOptions{Exhausts: true, Trials: 12})
}

// gridSpace has 21³ points.
func gridSpace(t testing.TB) *assay.Space {
	t.Helper()
	var ps []assay.Param
	for _, name := range []string{"a", "b", "c"} {
		ps = append(ps, assay.Param{Name: name, Kind: assay.Integer, Lo: 0, Hi: 20})
	}
	s, err := assay.NewSpace(ps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dish(c assay.Config) float64 {
	v := 1.0
	for i, x := range c {
		v += (x - 7) * (x - 7) * float64(i+1) / 100
	}
	return v
}

// stairs is constant almost everywhere, and falls where two of three are large.
func stairs(c assay.Config) float64 {
	v := 8.0
	for _, x := range c {
		if x > 16 {
			v /= 2
		}
	}
	if c[0] > 16 && c[1] < 3 {
		v *= 20
	}
	return v
}

// driveAuto runs a search and returns its trials.
func driveAuto(t testing.TB, s assay.Searcher, n int, value func(assay.Config) float64) []assay.Trial {
	t.Helper()
	var all []assay.Trial
	for range n {
		ps, err := s.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		tr := doneTrial(ps[0], value(ps[0].Config))
		if err := s.Tell(tr); err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	return all
}

// The parameters of the process are never older than a tenth of the trials, and
// it is asked every third time: where the objective is smooth its proposals
// alone are near the optimum.
func TestAutoProcess(t *testing.T) {
	s := gridSpace(t)
	a := NewAuto(s, AutoOptions{Seed: 1, Initial: 6})
	learned := 0
	var proposals []float64
	for range 36 {
		turn, before := a.turn, a.process.trials
		v := driveAuto(t, a, 1, dish)[0].Value
		if a.turn == turn || turn%3 != 1 { // of the design, or of another part
			continue
		}
		proposals = append(proposals, v)
		ended := a.bayes.ended - 1 // at the time of the proposal
		if a.process.trials != before {
			learned++
		}
		if a.process.fitted == nil || float64(ended) >= processRenewal*float64(a.process.trials) {
			t.Errorf("after %d trials the parameters are those of %d", ended, a.process.trials)
		}
	}
	if len(proposals) != 11 || learned < 3 || learned > 11 {
		t.Errorf("%d proposals of the process, learned %d times", len(proposals), learned)
	}
	if slices.Min(proposals) > 1.2 {
		t.Errorf("the proposals of the process are worth %v, the optimum is 1", proposals)
	}
}

// In a pool of more than the process scores, the shortlist has no configuration
// twice, and none that is visited or outside a limit.
func TestAutoShortlist(t *testing.T) {
	s := gridSpace(t) // of 9261
	a := NewAuto(s, AutoOptions{Seed: 1, Initial: 6})
	a.Narrow(func(c assay.Config) bool { return c[0] != 3 })
	driveAuto(t, a, 12, dish)
	b := a.bayes
	if err := b.fit(); err != nil {
		t.Fatal(err)
	}
	short := b.pool.shortlist(b, a.process.fitted.(model.MeanPredictor))
	if len(short) != processShort+processRandom {
		t.Errorf("%d configurations, want %d", len(short), processShort+processRandom)
	}
	seen := visited{}
	for _, i := range short {
		if c := s.At(int64(i)); !b.open(c) || !seen.add(c) {
			t.Errorf("%v is on the list", c)
		}
	}
}

// The models begin when half of the initial design has finished; where runs are
// stopped and two have finished, when all of it has been asked for.
func TestAutoBegins(t *testing.T) {
	for _, c := range []struct {
		name   string
		stop   bool
		design int
	}{{"all finish", false, 5}, {"all but two are stopped", true, 10}} {
		a := NewAuto(gridSpace(t), AutoOptions{Seed: 1, Initial: 10})
		n := 0
		for ; a.turn == 0; n++ {
			ps, err := a.Ask(1)
			if err != nil {
				t.Fatal(err)
			}
			tr := doneTrial(ps[0], dish(ps[0].Config))
			if c.stop && n >= 2 {
				tr.State, tr.Value = assay.Censored, 1
			}
			if err := a.Tell(tr); err != nil {
				t.Fatal(err)
			}
		}
		if n-1 != c.design {
			t.Errorf("%s: a design of %d, want %d", c.name, n-1, c.design)
		}
	}
}

// Every third proposal of a model is beside the best trial.
func TestAutoTurns(t *testing.T) {
	s := gridSpace(t)
	a := NewAuto(s, AutoOptions{Seed: 2, Initial: 6})
	best, value := assay.Config(nil), math.Inf(1)
	beside := 0
	for k := range 30 {
		turn := a.turn
		ps, err := a.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		c := ps[0].Config
		if k >= 3 && turn%3 == 2 && slices.ContainsFunc(s.Neighbours(best), c.Equal) {
			beside++
		}
		v := dish(c)
		if err := a.Tell(doneTrial(ps[0], v)); err != nil {
			t.Fatal(err)
		}
		if v < value {
			best, value = c, v
		}
	}
	if beside < 7 || beside > 9 { // 9 turns; all neighbours may be visited
		t.Errorf("%d proposals beside the best in 27, want about 9", beside)
	}
}

// Once all neighbours of the best trial are visited, the third part steps further along one parameter. After StepShort
// it has no proposal of its own.
func TestAutoStepsFurther(t *testing.T) {
	for _, short := range []bool{false, true} {
		s := gridSpace(t)
		a := lightAuto(s, AutoOptions{Seed: 3})
		if short {
			a.StepShort()
		}
		best := assay.Config{10, 10, 10}
		var trials []assay.Trial
		for i, c := range append(s.Neighbours(best), best) {
			trials = append(trials, doneTrial(assay.Proposal{ID: int64(i + 1), Config: c}, dish(c)))
			trials[i].Value += 10 * (1 - float64(i/6)) // the last one is the best
		}
		if err := a.Observe(trials...); err != nil {
			t.Fatal(err)
		}
		if err := a.bayes.fit(); err != nil {
			t.Fatal(err)
		}
		c, _ := a.besideBest()
		if short {
			if c != nil {
				t.Errorf("short: %v is beside the best, and all neighbours are visited", c)
			}
			continue
		}
		changed, step := 0, 0.0
		for i := range best {
			if c[i] != best[i] {
				changed, step = changed+1, math.Abs(c[i]-best[i])
			}
		}
		if changed != 1 || step < 2 {
			t.Errorf("%v differs from %v in %d parameters, by %v", c, best, changed, step)
		}
	}
}

// A line has each value of an ordered parameter, or up to 64 of them, and keeps conditions and relations.
func TestLines(t *testing.T) {
	s, err := assay.NewSpace([]assay.Param{
		{Name: "few", Kind: assay.Integer, Lo: 1, Hi: 5},
		{Name: "many", Kind: assay.Integer, Lo: 1, Hi: 1000, Log: true},
		{Name: "real", Kind: assay.Real, Lo: 0, Hi: 1},
		{Name: "kind", Kind: assay.Categorical, Levels: []string{"a", "b"}},
		{Name: "rest", Kind: assay.Integer, Lo: 0, Hi: 9, When: &assay.Relation{
			Params: []int{0}, Holds: func(c assay.Config) bool { return c[0] > 2 },
		}},
	}, assay.Relation{Params: []int{0, 2}, Holds: func(c assay.Config) bool { return c[0] != 4 || c[2] > 0.9 }})
	if err != nil {
		t.Fatal(err)
	}
	c := assay.Config{3, 30, 0.5, 0, 7}
	values := make([]map[float64]bool, s.Dim())
	for i := range values {
		values[i] = map[float64]bool{}
	}
	for _, v := range lines(s, c) {
		if !s.Contains(v) || v.Equal(c) {
			t.Errorf("%v is on the line", v)
		}
		for i := range v {
			if v[i] != c[i] {
				values[i][v[i]] = true
				break // the parameters after it may be out of force
			}
		}
	}
	// Among the 64 points of the logarithmic scale the first whole numbers come more than once.
	for i, want := range [][2]int{{3, 3}, {40, 64}, {64, 64}, {0, 0}, {9, 9}} {
		if n := len(values[i]); n < want[0] || n > want[1] {
			t.Errorf("%d values of %s on the line, want %v", n, s.Params[i].Name, want)
		}
	}
}

// On 6 seeds each it is far better than random search, with runs stopped at the
// best so far or not, and with a metric that is maximized.
func TestAutoFindsOptima(t *testing.T) {
	t.Parallel()
	testbed.Long(t)
	s := gridSpace(t)
	seeds, trials := testbed.Times(2, 6), 40
	for name, f := range map[string]func(assay.Config) float64{
		"dish": dish, "stairs": stairs,
		"maximized": func(c assay.Config) float64 { return -1 / dish(c) },
	} {
		var auto, random float64
		for seed := range uint64(seeds) {
			for k, sum := range []*float64{&auto, &random} {
				var searcher assay.Searcher = NewAuto(s, AutoOptions{Seed: seed})
				if k == 1 {
					searcher = NewRandom(s, seed)
				}
				best, _ := assay.Best(driveAuto(t, searcher, trials, f))
				*sum += math.Abs(best.Value) / float64(seeds)
			}
		}
		if name == "maximized" {
			auto, random = 1/auto, 1/random
		}
		t.Logf("%s: auto %.4f, random %.4f", name, auto, random)
		if !(auto-1 < 0.35*(random-1)) {
			t.Errorf("%s: auto %.4f, random %.4f", name, auto, random)
		}
	}
}

// Runs that are stopped at the best so far are learned from as at least so long.
func TestAutoCensored(t *testing.T) {
	s := gridSpace(t)
	a := NewAuto(s, AutoOptions{Seed: 3})
	best := math.Inf(1)
	for range 60 {
		ps, err := a.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		tr := doneTrial(ps[0], dish(ps[0].Config))
		if tr.Value >= best {
			tr.State, tr.Value = assay.Censored, best
		}
		best = min(best, tr.Value)
		if err := a.Tell(tr); err != nil {
			t.Fatal(err)
		}
	}
	if best > 1.1 {
		t.Errorf("found %v, the optimum is 1", best)
	}
}

// BenchmarkAuto measures one ask and tell after n trials of 25 parameters, over
// the three parts. Goals: 25 ms at 100, 40 ms at 1,000, 60 ms at 10,000; and 200 MB held at 10,000.
func BenchmarkAuto(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			before := held()
			s := mixedSpace()
			var trials []assay.Trial
			r := NewRandom(s, 1)
			for range n {
				c, _ := r.draw()
				trials = append(trials, doneTrial(assay.Proposal{Config: c}, mixedValue(s, c)))
			}
			a := NewAuto(s, AutoOptions{Seed: 1})
			if err := a.Observe(trials...); err != nil {
				b.Fatal(err)
			}
			// The first three turns decide between the models, which happens
			// once in n/4 trials.
			driveAuto(b, a, 3, func(c assay.Config) float64 { return mixedValue(s, c) })
			var spent time.Duration
			for b.Loop() {
				before := cpuTime()
				driveAuto(b, a, 1, func(c assay.Config) float64 { return mixedValue(s, c) })
				spent += cpuTime() - before
			}
			b.ReportMetric(spent.Seconds()*1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric((held()-before)/1e6, "MB")
			runtime.KeepAlive(a)
		})
	}
}

// A stopped run is in the training set of `auto` with the time at which it was stopped, marked as
// censored: neither left out nor taken for a run that ended then.
func TestAutoLearnsFromStoppedRuns(t *testing.T) {
	s := gridSpace(t)
	a := NewAuto(s, AutoOptions{Seed: 1, Initial: 4})
	trials := driveAuto(t, a, 4, dish)
	for range 3 {
		ps, err := a.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		tr := doneTrial(ps[0], 0.5)
		tr.State = assay.Censored
		if err := a.Tell(tr); err != nil {
			t.Fatal(err)
		}
		trials = append(trials, tr)
	}
	b := a.bayes
	if err := b.fit(); err != nil {
		t.Fatal(err)
	}
	d := b.examples()
	if len(d.Y) != len(trials) || len(d.Censored) != len(trials) {
		t.Fatalf("%d examples, %d of them marked, of %d trials", len(d.Y), len(d.Censored), len(trials))
	}
	for i, tr := range trials {
		want := tr.State == assay.Censored
		if d.Censored[i] != want || !(math.Abs(b.scale.inverse(d.Y[i])-tr.Value) <= 1e-9*tr.Value) {
			t.Errorf("trial %d (%v, %v): censored %v with %v", i, tr.State, tr.Value, d.Censored[i], b.scale.inverse(d.Y[i]))
		}
	}
}

// constant predicts the same of everything.
type constant float64

func (c constant) Predict([]float64) assay.Prediction {
	return assay.Prediction{Mean: float64(c), Std: 1}
}

// The process is fitted to the best half of the earlier trials that it has room for, and to the latest;
// a stopped run counts as the forest expects it to end, where that is later than it was stopped.
func TestProcessSeesTheBestAndTheLatest(t *testing.T) {
	const n = 300
	var d assay.Data
	for i := range n {
		// The outcomes fall and rise again: the best of the earlier ones are in the middle.
		d.X = append(d.X, []float64{float64(i)})
		d.Y = append(d.Y, math.Abs(float64(i-120)))
		d.Censored = append(d.Censored, i >= 110 && i < 115) // stopped at 6 to 10, among the best
	}
	got := processData(d, constant(1000), nil)
	if len(got.Y) != processExamples || len(got.X) != processExamples || len(got.Censored) != processExamples {
		t.Fatalf("%d examples, want %d", len(got.Y), processExamples)
	}
	var seen []float64
	for _, x := range got.X {
		seen = append(seen, x[0])
	}
	slices.Sort(seen)
	var want []float64
	// Without the five that are expected to end at 1000, the fifty nearest to 120 are 93 to 147.
	for i := 93; i < 148; i++ {
		if i < 110 || i >= 115 {
			want = append(want, float64(i))
		}
	}
	for i := n - processExamples/2; i < n; i++ {
		want = append(want, float64(i))
	}
	if !slices.Equal(seen, want) {
		t.Errorf("examples %v, want %v", seen, want)
	}
	// A forest that expects nothing more of a stopped run leaves it at when it was stopped.
	got = processData(d, constant(0), nil)
	stopped := 0
	for _, c := range got.Censored {
		if c {
			stopped++
		}
	}
	if stopped != 5 {
		t.Errorf("%d stopped runs among the examples, want the 5 that are among the best", stopped)
	}
	// All are seen if there is room for all.
	few := d.Rows([]int{5, 110, 7})
	if got := processData(few, constant(0), nil); len(got.Y) != 3 {
		t.Errorf("%d of 3 examples", len(got.Y))
	}
}

// On a plateau a tiny improvement is nearly sure. It wins against a large one that is unlikely if every improvement
// counts.
func TestWorth(t *testing.T) {
	sure, unlikely := assay.Prediction{Mean: -0.001, Std: 0.001}, assay.Prediction{Mean: 3, Std: 0.7}
	b := Bayes{spreadOf: 1}
	if b.improvement(sure) <= b.improvement(unlikely) {
		t.Error("every improvement counts, and the sure one does not win")
	}
	b.worth = 1
	if b.improvement(sure) >= b.improvement(unlikely) {
		t.Error("large improvements count, and the sure one wins")
	}
}

// Every improvement counts for all parts. After CountLarge large ones alone count for the first part.
func TestAutoWorth(t *testing.T) {
	for _, large := range []bool{false, true} {
		space := mixedSpace()
		value := func(c assay.Config) float64 { return mixedValue(space, c) }
		a := lightAuto(space, AutoOptions{Seed: 1})
		want := [3]float64{}
		if large {
			a.CountLarge()
			want[0] = 1
		}
		proposing := false
		var seen [3]map[float64]bool
		for i := range seen {
			seen[i] = map[float64]bool{}
		}
		a.Narrow(func(assay.Config) bool { // is called for candidates
			if proposing {
				seen[a.turn%3][a.bayes.worth] = true
			}
			return true
		})
		driveAuto(t, a, 6, value)
		proposing = true
		driveAuto(t, a, 9, value)
		for turn, worth := range want {
			if len(seen[turn]) != 1 || !seen[turn][worth] {
				t.Errorf("large %v: improvements count from %v on for part %d, want %v", large, seen[turn], turn+1, worth)
			}
		}
	}
}
