package prune

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// grid is a space of 10 by 8 points with a category.
func grid() *assay.Space {
	return must(assay.NewSpace([]assay.Param{
		{Name: "i", Kind: assay.Integer, Lo: 0, Hi: 9},
		{Name: "j", Kind: assay.Integer, Lo: 0, Hi: 7},
		{Name: "c", Kind: assay.Categorical, Levels: []string{"p", "q", "r"}},
	}))
}

// tell runs n trials of f.
func tell(t *testing.T, s assay.Searcher, n int, f func(assay.Config) float64) (told []assay.Trial) {
	t.Helper()
	for range n {
		ps, err := s.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			return told
		}
		if err != nil {
			t.Fatal(err)
		}
		trial := assay.Trial{Proposal: ps[0], State: assay.Done, Value: f(ps[0].Config)}
		if err := s.Tell(trial); err != nil {
			t.Fatal(err)
		}
		told = append(told, trial)
	}
	return told
}

// A similar earlier study shrinks the space to where it was good; the proposals
// keep to it; each cut names its study and its reason.
func TestPrunerCuts(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return 1 + math.Abs(c[0]-3) + math.Abs(c[1]-5) + 20*c[2] }
	k := NewKnowledge(space, testGoal, []Study{
		earlier("like", space, 240, 1, func(c assay.Config) float64 { return 3 * f(c) }),
		earlier("unlike", space, 240, 2, func(c assay.Config) float64 { return 100 - f(c) }),
	})
	p := must(New(search.NewRandom(space, 1), k, Options{Alpha: 0.8}))
	tell(t, p, 12, f)
	ps, err := p.Ask(1)
	if err != nil || len(ps) != 1 {
		t.Fatal(ps, err)
	}
	cuts := p.Cuts()
	if len(cuts) != 1 || cuts[0].Param != "c" || !slices.Equal(cuts[0].Values, []string{"q", "r"}) ||
		cuts[0].Study != "like" || cuts[0].Correlation < 0.99 || cuts[0].Restored {
		t.Fatalf("cuts %+v, want values q and r of c by the study like", cuts)
	}
	if cuts[0].Reason != "no earlier trial reached 80 % of the way from the worst to the best" || cuts[0].Alpha != 0.8 ||
		!(cuts[0].Threshold > 0) {
		t.Errorf("the cut does not say why: %+v", cuts[0])
	}
	for range 30 {
		ps, err := p.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		if ps[0].Config[2] != 0 {
			t.Fatalf("proposed %s, which is cut", space.Text(ps[0].Config))
		}
	}
}

func TestPrunerKeep(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return 1 + math.Abs(c[0]-3) + 20*c[2] }
	k := NewKnowledge(space, testGoal, []Study{earlier("like", space, 240, 1, f)})
	p := must(New(search.NewRandom(space, 1), k, Options{Alpha: 0.8, Keep: []Kept{{"c", "r"}}}))
	tell(t, p, 15, f)
	for _, c := range p.Cuts() {
		if slices.Contains(c.Values, "r") {
			t.Errorf("%v was to be kept", c)
		}
	}
	for _, bad := range []Kept{{"d", "r"}, {"c", "s"}} {
		if _, err := New(search.NewRandom(space, 1), k, Options{Keep: []Kept{bad}}); err == nil {
			t.Errorf("no error for %v", bad)
		}
	}
}

// The values that an earlier study removed are back if the running study contradicts it.
func TestPrunerRestores(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return 1 + c[0] + 20*c[2] }
	against := func(c assay.Config) float64 { return 100 - f(c) }
	k := NewKnowledge(space, testGoal, []Study{earlier("like", space, 240, 1, f)})
	p := must(New(search.NewRandom(space, 1), k, Options{Alpha: 0.8}))
	tell(t, p, 12, f)
	if _, err := p.Ask(1); err != nil || len(p.Cuts()) == 0 {
		t.Fatalf("nothing was cut: %v", err)
	}
	var trials []assay.Trial
	rng := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		c, _ := space.Draw(rng)
		trials = append(trials, assay.Trial{Proposal: assay.Proposal{Config: c}, State: assay.Done, Value: against(c)})
	}
	if err := p.Observe(trials...); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Ask(1); err != nil {
		t.Fatal(err)
	}
	cuts := p.Cuts()
	if last := cuts[len(cuts)-1]; !last.Restored || last.Correlation >= 0.5 {
		t.Errorf("the last cut is %+v, want what was removed to be back", last)
	}
	for c := range space.All() {
		if !p.Keeps(c) {
			t.Fatalf("%s is still out", space.Text(c))
		}
	}
}

// A smaller space that is used up does not end the search.
func TestPrunerExhausted(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return 1 + c[0]*c[0] + 20*c[2] }
	k := NewKnowledge(space, testGoal, []Study{earlier("like", space, 2000, 1, f)})
	p := must(New(search.NewRandom(space, 1), k, Options{Alpha: 0.95}))
	seen := map[string]bool{}
	for _, trial := range tell(t, p, 1000, f) {
		seen[trial.Config.Key()] = true
	}
	if int64(len(seen)) != space.Size().N {
		t.Errorf("%d of %d configurations were proposed", len(seen), space.Size().N)
	}
	if cuts := p.Cuts(); len(cuts) < 2 || !cuts[len(cuts)-1].Restored {
		t.Errorf("cuts %+v, want them to end with a return", cuts)
	}
}

// The best trial's values and the values never tried stay, whatever the outcomes of the
// earlier and the running studies. The log adds up to the values that are left.
func TestPrunerInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := grid()
		surface := func(name string) func(assay.Config) float64 {
			w := rapid.SliceOfN(rapid.Float64Range(-5, 5), 3, 3).Draw(t, name)
			return func(c assay.Config) float64 { return w[0]*c[0] + w[1]*c[1] + w[2]*c[2]*c[2] }
		}
		a, b := surface("a"), surface("b")
		studies := []Study{
			earlier("a", space, rapid.IntRange(0, 80).Draw(t, "trials a"), 1, a),
			earlier("b", space, rapid.IntRange(0, 80).Draw(t, "trials b"), 2, b),
		}
		p := must(New(search.NewRandom(space, 3), NewKnowledge(space, testGoal, studies),
			Options{Alpha: rapid.Float64Range(0.01, 0.99).Draw(t, "alpha"), Least: 1}))
		running := surface("running")
		var told []assay.Trial
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			ps, err := p.Ask(1)
			if err != nil {
				t.Fatal(err)
			}
			trial := assay.Trial{Proposal: ps[0], State: assay.Done, Value: running(ps[0].Config)}
			if err := p.Tell(trial); err != nil {
				t.Fatal(err)
			}
			told = append(told, trial)
		}
		if _, err := p.Ask(1); err != nil {
			t.Fatal(err)
		}
		if best, ok := assay.Best(told); ok && !p.Keeps(best.Config) {
			t.Fatalf("the best trial %s is cut", space.Text(best.Config))
		}
		out := map[[2]string]bool{}
		for _, c := range p.Cuts() {
			s := studies[slices.Index([]string{"a", "b"}, c.Study)]
			i := space.Index(c.Param)
			for _, v := range c.Values {
				key := [2]string{c.Param, v}
				if out[key] == !c.Restored {
					t.Fatalf("%v is cut twice, or is back twice: %+v", key, p.Cuts())
				}
				out[key] = !c.Restored
				tried := false
				for _, trial := range s.Trials {
					if space.Params[i].Text(trial.Config[i]) == v {
						tried = true
						if trial.Value <= c.Threshold && !c.Restored {
							t.Fatalf("%v is cut though a trial reached %v", key, trial.Value)
						}
					}
				}
				if !tried {
					t.Fatalf("%v is cut though it was never tried", key)
				}
			}
		}
		for c := range space.All() {
			gone := false
			for i, q := range space.Params {
				gone = gone || out[[2]string{q.Name, q.Text(c[i])}]
			}
			if gone == p.Keeps(c) {
				t.Fatalf("%s: the log says %v", space.Text(c), !gone)
			}
		}
	})
}
