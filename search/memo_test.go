package search

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/model"
)

func smallBliss(s *assay.Space) *Bliss {
	b := NewBliss(s, BlissOptions{Pool: []assay.Learner{model.KNN{K: 2}, model.Forest{Trees: 3}}, Initial: 3, Measured: 2})
	b.bayes.draws, b.bayes.starts = 16, 1
	return b
}

// small are the spaces of the suite but the two large ones, in which a process costs
// much.
func small(s *assay.Space) bool { return len(s.Features()) < 12 }

// Long runs with many interruptions, alone and in wrappers, which need no memos:
// theirs are the calls that are repeated.
func TestResume(t *testing.T) {
	auto := func(s *assay.Space) assay.Searcher { return lightAuto(s, AutoOptions{Seed: 3, Initial: 4}) }
	bayes := func(s *assay.Space) assay.Searcher {
		return lightBayes(s, BayesOptions{Learner: model.Forest{Trees: 4}, Initial: 4})
	}
	member := func(s *assay.Space) assay.Config {
		c, _ := NewRandom(s, 99).draw()
		return c
	}
	for _, c := range []struct {
		name   string
		build  func(s *assay.Space) assay.Searcher
		trials int
		all    bool // spaces
	}{
		{"auto", auto, 40, false},
		{"bayes", bayes, 40, true},
		{"bliss", func(s *assay.Space) assay.Searcher { return smallBliss(s) }, 40, true},
		{"hint", func(s *assay.Space) assay.Searcher {
			a := lightAuto(s, AutoOptions{Seed: 3, Initial: 4})
			a.Hint(func(c assay.Config) float64 { return s.Unit(c)[0] })
			return a
		}, 30, false},
		{"cache", func(s *assay.Space) assay.Searcher { return Cache(bayes(s)) }, 40, false},
		{"first", func(s *assay.Space) assay.Searcher { return First(bayes(s), member(s)) }, 40, false},
		{"replicate", func(s *assay.Space) assay.Searcher { return Replicate(auto(s), 2, slices.Min) }, 60, false},
		{"adaptive", func(s *assay.Space) assay.Searcher { return Adaptive(auto(s), AdaptiveOptions{Max: 4}) }, 60, false},
		{"penalize", func(s *assay.Space) assay.Searcher { return Penalize(auto(s), 10) }, 30, false},
		{"all", func(s *assay.Space) assay.Searcher {
			return First(Replicate(Cache(Penalize(auto(s), 10)), 2, slices.Min), member(s))
		}, 40, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := assaytest.SearcherOptions{Trials: c.trials, Supports: small}
			if c.all {
				opts.Supports = nil
			}
			assaytest.TestResumer(t, c.build, opts)
		})
	}
}

// record runs s for n trials and returns them with its memos.
func record(t testing.TB, s assay.Resumer, n int, value func(assay.Config) float64) (trials []assay.Trial,
	memos [][]byte,
) {
	t.Helper()
	for range n {
		ps, err := s.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		memos = append(memos, s.Memo())
		tr := doneTrial(ps[0], value(ps[0].Config))
		if err := s.Tell(tr); err != nil {
			t.Fatal(err)
		}
		trials = append(trials, tr)
	}
	return trials, memos
}

// A limit that comes and goes is repeated too: a call that ended with ErrDone
// because of it ends so again.
func TestResumeNarrowed(t *testing.T) {
	space := gridSpace(t)
	keep := func(c assay.Config) bool { return c[0] == 4 && c[1] == 4 && c[2] < 3 }
	run := func(a *Auto) (got []assay.Config, memos [][]byte) {
		ask := func(n int) {
			ps, err := a.Ask(n)
			if err != nil && err != assay.ErrDone {
				t.Fatal(err)
			}
			if m := a.Memo(); m != nil {
				memos = append(memos, m)
			}
			got = append(got, nil) // the end of a call
			for _, p := range ps {
				got = append(got, p.Config)
				mustTell(t, a, doneTrial(p, dish(p.Config)))
			}
		}
		for range 4 {
			ask(2)
		}
		a.Narrow(keep)
		ask(2)
		ask(2)
		ask(1) // all three are proposed
		a.Narrow(nil)
		ask(3)
		return got, memos
	}
	build := func() *Auto { return lightAuto(space, AutoOptions{Seed: 1, Initial: 4}) }
	one := build()
	want, memos := run(one)
	two := build()
	if err := two.Recall(memos); err != nil {
		t.Fatal(err)
	}
	got, again := run(two)
	if len(again) > 0 {
		t.Errorf("%d new memos while the calls are repeated", len(again))
	}
	a, b := mustAsk(t, one, 3), mustAsk(t, two, 3)
	for i := range a {
		want, got = append(want, a[i].Config), append(got, b[i].Config)
	}
	if !slices.EqualFunc(want, got, assay.Config.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The proposals of a searcher that wrote no memos are computed again, and the first new memo stands for them too.
func TestResumeOldRecord(t *testing.T) {
	build := func() *Auto { return lightAuto(gridSpace(t), AutoOptions{Seed: 1, Initial: 4}) }
	one := build()
	trials, _ := record(t, one, 20, dish)
	replayed := func(memos [][]byte) *Auto {
		a := build()
		if err := a.Recall(memos); err != nil {
			t.Fatal(err)
		}
		for _, tr := range trials {
			if p := mustAsk(t, a, 1)[0]; !p.Config.Equal(tr.Config) {
				t.Fatalf("proposal %d is %v, want %v", p.ID, p.Config, tr.Config)
			}
			mustTell(t, a, tr)
		}
		return a
	}
	two := replayed(nil)
	more, memos := record(t, two, 5, dish)
	if trials = append(trials, more...); len(memos[0]) < 20*20 {
		t.Errorf("the first memo has %d bytes", len(memos[0]))
	}
	three := replayed(memos)
	if three.process.noted == 0 {
		t.Error("the process was computed")
	}
	if a, b := mustAsk(t, two, 1)[0], mustAsk(t, three, 1)[0]; !a.Config.Equal(b.Config) {
		t.Errorf("resumed: %v, want %v", b.Config, a.Config)
	}
}

// Memos of another seed, space, kind or option are refused, and memos of the same are not.
func TestRecallRefuses(t *testing.T) {
	space := gridSpace(t)
	ps := slices.Clone(space.Params)
	ps[1].Hi = 21
	larger, err := assay.NewSpace(ps)
	if err != nil {
		t.Fatal(err)
	}
	_, memos := record(t, NewAuto(space, AutoOptions{Seed: 1, Initial: 4}), 3, dish)
	forest := func(trees int) assay.Learner { return model.Impute(model.Forest{Trees: trees}, 2) }
	_, ofBayes := record(t, NewBayes(space, BayesOptions{Learner: forest(4), Initial: 4}), 3, dish)
	for _, c := range []struct {
		name  string
		s     assay.Resumer
		memos [][]byte
		ok    bool
	}{
		{"same", NewAuto(space, AutoOptions{Seed: 1, Initial: 4}), memos, true},
		{"another seed", NewAuto(space, AutoOptions{Seed: 2, Initial: 4}), memos, false},
		{"another design", NewAuto(space, AutoOptions{Seed: 1, Initial: 5}), memos, false},
		{"another space", NewAuto(larger, AutoOptions{Seed: 1, Initial: 4}), memos, false},
		{"another kind", NewAuto(space, AutoOptions{Seed: 1, Initial: 4}), ofBayes, false},
		{"same learner", NewBayes(space, BayesOptions{Learner: forest(4), Initial: 4}), ofBayes, true},
		{"another learner", NewBayes(space, BayesOptions{Learner: forest(5), Initial: 4}), ofBayes, false},
		{"out of order", NewAuto(space, AutoOptions{Seed: 1, Initial: 4}), [][]byte{memos[1], memos[0]}, false},
		{"twice", NewAuto(space, AutoOptions{Seed: 1, Initial: 4}), [][]byte{memos[0], memos[0]}, false},
	} {
		if err := c.s.Recall(c.memos); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		// After an error nothing is recalled.
		if !c.ok {
			if p := mustAsk(t, c.s, 1); c.s.Memo() == nil || len(p) != 1 {
				t.Errorf("%s: nothing is computed", c.name)
			}
		}
	}
	late := NewAuto(space, AutoOptions{Seed: 1, Initial: 4})
	mustAsk(t, late, 1)
	if late.Recall(memos) == nil {
		t.Error("memos can be recalled after an Ask")
	}
}

// Some hundred bytes a proposal, also where the kernel has many parameters.
func TestMemoIsSmall(t *testing.T) {
	for _, p := range assaytest.Problems() {
		a := lightAuto(p.Space, AutoOptions{Initial: 4})
		_, memos := record(t, a, 30, p.Value)
		var all int
		for _, m := range memos {
			all += len(m)
		}
		if mean := all / len(memos); mean > 400 {
			t.Errorf("%s: %d bytes a proposal", p.Name, mean)
		}
	}
}

// Recall returns for any memo, and a searcher that took one can be asked.
func FuzzRecall(f *testing.F) {
	problem := assaytest.Interaction()
	build := func() *Auto { return lightAuto(problem.Space, AutoOptions{Initial: 3}) }
	_, memos := record(f, build(), 12, problem.Value)
	for _, m := range memos {
		f.Add(m)
	}
	f.Add([]byte(strings.Replace(string(memos[0]), `"after":0`, `"after":9007199254740993`, 1)))
	f.Add([]byte(strings.Replace(string(memos[0]), `"steps"`, `"calls":[2,-1],"steps"`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := build()
		if a.Recall([][]byte{data}) != nil {
			return
		}
		for range 4 {
			ps, err := a.Ask(2)
			if err != nil {
				return
			}
			for _, p := range ps {
				mustTell(t, a, doneTrial(p, problem.Value(p.Config)))
			}
		}
	})
}

// The content of a memo comes from outside, and is checked.
func TestRecallChecks(t *testing.T) {
	_, memos := record(t, lightAuto(gridSpace(t), AutoOptions{Initial: 3}), 12, dish)
	at := slices.IndexFunc(memos, func(m []byte) bool { return strings.Contains(string(m), "kernel") })
	if at < 0 {
		t.Fatal("no memo has a kernel")
	}
	for name, change := range map[string]func(m *memo[bayesStep, autoState]){
		"nothing":                       func(*memo[bayesStep, autoState]) {},
		"version":                       func(m *memo[bayesStep, autoState]) { m.Version = 2 },
		"no steps":                      func(m *memo[bayesStep, autoState]) { m.Steps = nil },
		"a step outside of the space":   func(m *memo[bayesStep, autoState]) { m.Steps[0].Config[1] = 21 },
		"a step of another dimension":   func(m *memo[bayesStep, autoState]) { m.Steps[0].Config = assay.Config{1} },
		"a negative start":              func(m *memo[bayesStep, autoState]) { m.After = -1 },
		"an enormous start":             func(m *memo[bayesStep, autoState]) { m.After = math.MaxInt64 },
		"more calls than steps":         func(m *memo[bayesStep, autoState]) { m.Calls = []int{1, 1} },
		"an empty call":                 func(m *memo[bayesStep, autoState]) { m.Calls = []int{0, 1} },
		"no random state":               func(m *memo[bayesStep, autoState]) { m.State.Random = nil },
		"a random state of other bytes": func(m *memo[bayesStep, autoState]) { m.State.Random = make([]byte, 20) },
		"a negative turn":               func(m *memo[bayesStep, autoState]) { m.State.Turn = -1 },
		"a kernel of other features":    func(m *memo[bayesStep, autoState]) { m.State.Kernel = m.State.Kernel[:3] },
		"an enormous kernel":            func(m *memo[bayesStep, autoState]) { m.State.Kernel[0] = 1e10 },
	} {
		t.Run(name, func(t *testing.T) {
			var m memo[bayesStep, autoState]
			if err := json.Unmarshal(memos[at], &m); err != nil {
				t.Fatal(err)
			}
			change(&m)
			data, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			err = lightAuto(gridSpace(t), AutoOptions{Initial: 3}).Recall([][]byte{data})
			if (err == nil) != (name == "nothing") {
				t.Errorf("Recall: %v", err)
			}
		})
	}
}

// A kernel of other features than the data's, because the hint is another, is learned anew.
func TestRecallWithoutTheHint(t *testing.T) {
	hinted := lightAuto(gridSpace(t), AutoOptions{Initial: 3})
	hinted.Hint(func(c assay.Config) float64 { return c[0] })
	trials, memos := record(t, hinted, 12, dish)
	a := lightAuto(gridSpace(t), AutoOptions{Initial: 3})
	if err := a.Recall(memos); err != nil {
		t.Fatal(err)
	}
	for _, tr := range trials {
		mustAsk(t, a, 1)
		mustTell(t, a, tr)
	}
	driveAuto(t, a, 6, dish)
}

// Recalling and repeating 1,000 trials of auto.
func BenchmarkResumeAuto(b *testing.B) {
	space := gridSpace(b)
	one := lightAuto(space, AutoOptions{Seed: 1})
	trials, memos := record(b, one, 60, dish)
	// The rest would take minutes to compute: only its recall matters.
	rest := NewRandom(space, 5)
	for len(trials) < 1000 {
		c, _ := rest.draw()
		if one.bayes.visited.has(c) {
			continue
		}
		var m memo[bayesStep, autoState]
		if err := json.Unmarshal(memos[len(memos)-1], &m); err != nil {
			b.Fatal(err)
		}
		p := assay.Proposal{ID: int64(len(trials)) + 1, Config: c}
		m.After, m.Steps = int64(len(trials)), []bayesStep{{Config: c, Lie: assay.Finite(1.2345678901)}}
		data, err := json.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		trials, memos = append(trials, doneTrial(p, dish(c))), append(memos, data)
	}
	for b.Loop() {
		a := NewAuto(space, AutoOptions{Seed: 1})
		if err := a.Recall(memos); err != nil {
			b.Fatal(err)
		}
		for _, tr := range trials {
			ps, err := a.Ask(1)
			if err != nil || !ps[0].Config.Equal(tr.Config) {
				b.Fatal(ps, err)
			}
			if err := a.Tell(tr); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// 10,000 trials of the searcher that computes the least, which has no memos.
func BenchmarkReplayRandom(b *testing.B) {
	space := gridSpace(b)
	for b.Loop() {
		s := NewRandom(space, 1)
		for range min(10_000, space.Size().N) {
			ps, err := s.Ask(1)
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Tell(doneTrial(ps[0], 1)); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A number of a memo is refused, with its place, where a search could not go on with it.
func TestValidNumbers(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 10.5, -10.5} {
		if err := validNumbers([]float64{10, x, x}, 10); err == nil || err.Error() != fmt.Sprintf("number 2 is %v", x) {
			t.Errorf("of %v: got %v", x, err)
		}
	}
	if err := validNumbers([]float64{10, -10, 0}, 10); err != nil {
		t.Error(err)
	}
}

// A call that is recalled ends where it ended, also if it is asked for in parts: the next call may depend
// on trials that were told in between.
func TestRecallKeepsCallsApart(t *testing.T) {
	build := func() *Auto { return lightAuto(gridSpace(t), AutoOptions{Seed: 1, Initial: 4}) }
	one := build()
	var want []assay.Config
	for _, n := range []int{4, 3} {
		for _, p := range mustAsk(t, one, n) {
			want = append(want, p.Config)
		}
	}
	memos := [][]byte{one.Memo()} // of both calls
	two := build()
	if err := two.Recall(memos); err != nil {
		t.Fatal(err)
	}
	var got []assay.Config
	for _, c := range []struct{ ask, want int }{{1, 1}, {2, 2}, {5, 1}, {2, 2}, {5, 1}} {
		ps := mustAsk(t, two, c.ask)
		if len(ps) != c.want {
			t.Errorf("after %d of calls with 4 and 3, %d were asked for and %d came, want %d", len(got), c.ask, len(ps), c.want)
		}
		for _, p := range ps {
			got = append(got, p.Config)
		}
	}
	if !slices.EqualFunc(got, want, assay.Config.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Memos that overlap are named with their proposals.
func TestRecallNamesOverlaps(t *testing.T) {
	build := func() *Auto { return lightAuto(gridSpace(t), AutoOptions{Seed: 1, Initial: 4}) }
	_, memos := record(t, build(), 3, dish)
	err := build().Recall([][]byte{memos[0], memos[1], memos[1]})
	if want := "memo 3 of 3: it covers proposals from 2 on, and another one proposals up to 2"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
