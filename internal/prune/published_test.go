package prune

import (
	"errors"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// Algorithm 1 as printed removes a value for one bad trial, a value of the running
// study's best trial too, and gives nothing back. The guarded rule does neither.
func TestPublishedRule(t *testing.T) {
	space := line(8)
	// Six of eight values have one earlier trial each; the best running trial is at 3, where the
	// earlier study has one bad outcome.
	k := func() *Knowledge { return NewKnowledge(space, testGoal, []Study{outcomes(space, 1, 2, 3, 10, 9, 8)}) }
	running := done(map[int]float64{0: 2, 1: 3, 2: 4, 4: 9, 5: 8.5})
	best := done(map[int]float64{3: 1})
	for _, rule := range []Rule{Guarded, Published} {
		p := must(New(search.NewRandom(space, 1), k(), Options{Alpha: 0.6, Rule: rule}))
		if err := p.Observe(running...); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Ask(1); err != nil {
			t.Fatal(err)
		}
		var gone []string
		for _, c := range p.Cuts() {
			gone = append(gone, c.Values...)
		}
		if want := map[Rule][]string{Guarded: nil, Published: {"3", "4", "5"}}[rule]; !slices.Equal(gone, want) {
			t.Errorf("%v removes %v, want %v", rule, gone, want)
		}
		// The best trial is where it was cut, and the studies are no longer alike.
		if err := p.Observe(best...); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Ask(1); err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Cuts() {
			if c.Restored {
				t.Errorf("%v gives back %v", rule, c)
			}
		}
	}
}

// As printed, a value goes though the running study's best trial has it.
func TestPublishedExemptsNothing(t *testing.T) {
	space := line(8)
	running := done(map[int]float64{0: 2, 1: 3, 2: 4, 3: 1, 4: 9, 5: 8.5})
	for rule, want := range map[Rule][]string{Guarded: {"4", "5"}, Published: {"3", "4", "5"}} {
		k := NewKnowledge(space, testGoal, []Study{outcomes(space, 1, 2, 3, 6, 9, 10)})
		p := must(New(search.NewRandom(space, 1), k, Options{Alpha: 0.6, Rule: rule, Least: 1, Threshold: 0.3}))
		if err := p.Observe(slices.Repeat(running, 4)...); err != nil { // beyond chance
			t.Fatal(err)
		}
		if _, err := p.Ask(1); err != nil {
			t.Fatal(err)
		}
		if cuts := p.Cuts(); len(cuts) != 1 || !slices.Equal(cuts[0].Values, want) {
			t.Errorf("%v removes %+v, want %v", rule, cuts, want)
		}
	}
}

// As printed, the least correlation is all that decides whether a study prunes; the
// guarded rule wants it to be positive beyond chance, which three trials cannot show.
func TestPublishedNeedsNoCertainty(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return 1 + c[0] + 20*c[2] }
	for _, rule := range []Rule{Guarded, Published} {
		k := NewKnowledge(space, testGoal, []Study{earlier("like", space, 240, 1, f)})
		p := must(New(search.NewRandom(space, 1), k, Options{Alpha: 0.8, Rule: rule, Surrogate: Linear}))
		var trials []assay.Trial
		for i, c := range []assay.Config{{0, 0, 0}, {4, 1, 1}, {9, 7, 2}} {
			trials = append(trials, assay.Trial{
				Proposal: assay.Proposal{ID: int64(i + 1), Config: c}, State: assay.Done, Value: f(c),
			})
		}
		if err := p.Observe(trials...); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Ask(1); err != nil {
			t.Fatal(err)
		}
		if cut := len(p.Cuts()) > 0; cut != (rule == Published) {
			t.Errorf("%v: cuts %v after three trials", rule, p.Cuts())
		}
	}
}

// When nothing is left, the search as printed ends; values to keep stay in any case.
func TestPublishedEnds(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return 1 + c[0]*c[0] + 20*c[2] }
	k := NewKnowledge(space, testGoal, []Study{earlier("like", space, 2000, 1, f)})
	p := must(New(search.NewRandom(space, 1), k, Options{Alpha: 0.95, Rule: Published, Keep: []Kept{{"i", "9"}}}))
	told := tell(t, p, 1000, f)
	if n := int64(len(told)); n >= space.Size().N || n == 0 {
		t.Errorf("%d of %d configurations were run", n, space.Size().N)
	}
	nines := 0
	for _, trial := range told {
		if trial.Config[0] == 9 && trial.Config[2] == 0 {
			nines++
		}
	}
	if nines != 8 {
		t.Errorf("%d configurations with the value that is kept, want 8", nines)
	}
}

func TestParseRule(t *testing.T) {
	for _, r := range []Rule{Guarded, Published} {
		if got, err := ParseRule(r.String()); err != nil || got != r {
			t.Errorf("%v is read as %v, %v", r, got, err)
		}
	}
	if _, err := ParseRule("printed"); err == nil {
		t.Error("printed is a rule")
	}
	if r, err := ParseRule(""); err != nil || r != Guarded {
		t.Errorf("no name is %v, %v", r, err)
	}
}

// Two studies, one after the other the most similar, may together leave nothing: the
// search ends, and the searcher inside is never limited to nothing.
func TestPublishedLeavesNothing(t *testing.T) {
	space := line(6)
	k := NewKnowledge(space, testGoal, []Study{
		{Name: "low", Params: space.Params, Goal: testGoal, Trials: outcomes(space, 1, 2, 3, 20, 21, 22).Trials},
		{Name: "high", Params: space.Params, Goal: testGoal, Trials: outcomes(space, 22, 21, 20, 3, 2, 1).Trials},
	})
	inner := &narrowed{Searcher: search.NewRandom(space, 1), space: space}
	p := must(New(inner, k, Options{Alpha: 0.6, Rule: Published}))
	if err := p.Observe(done(map[int]float64{0: 1, 2: 3, 3: 20, 5: 22})...); err != nil {
		t.Fatal(err)
	}
	if ps, err := p.Ask(1); err != nil || ps[0].Config[0] > 2 {
		t.Fatalf("%v, %v, want one of the lower half", ps, err)
	}
	if err := p.Observe(slices.Repeat(done(map[int]float64{0: 99, 1: 98, 2: 90, 3: 3, 4: 2, 5: 1}), 9)...); err != nil {
		t.Fatal(err)
	}
	if ps, err := p.Ask(1); !errors.Is(err, assay.ErrDone) {
		t.Errorf("%v, %v, want the end", ps, err)
	}
	if inner.bad != 0 || inner.calls == 0 {
		t.Errorf("%d of %d limits leave nothing", inner.bad, inner.calls)
	}
}

// narrowed counts the limits that leave nothing of its space.
type narrowed struct {
	assay.Searcher
	space      *assay.Space
	calls, bad int
}

func (n *narrowed) Narrow(keep func(assay.Config) bool) {
	n.calls++
	left := false
	for c := range n.space.All() {
		left = left || keep == nil || keep(c)
	}
	if !left {
		n.bad++
	}
	n.Searcher.(assay.Narrower).Narrow(keep)
}
