package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/spec"
)

// recorded returns the definition of a study of a table of 8 × 6 × 3 rows, with the times
// of a made-up program on a machine that is so much slower.
func recorded(t testing.TB, name string, slower float64, more string) *spec.Study {
	t.Helper()
	dir := t.TempDir()
	rows := "a,b,c,t\n"
	for a := range 8 {
		for b := range 6 {
			for i, c := range []string{"p", "q", "r"} {
				rows += fmt.Sprintf("%d,%d,%s,%g\n", a, b, c, slower*(2+float64((a-2)*(a-2)+(b-4)*(b-4)+6*i*i)))
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	return define(t, filepath.Join(dir, name+".yaml"),
		"replay: {file: t.csv, parameters: [a, b, c], metrics: {elapsed: t}}\nstop: none\n"+more)
}

// Earlier studies help a new one, are fixed when it begins, and go on helping it.
func TestHelpedStudy(t *testing.T) {
	s := memory(t)
	runStudy(t, s, recorded(t, "old", 3, "search: grid\n"), "", nil)
	runStudy(t, s, recorded(t, "short", 3, "search: grid\nbudget: {trials: 1}\n"), "", nil)
	const asks = "prior: {use: [old, size], alpha: 0.7}\n"
	size := recorded(t, "size", 1, "objective: {maximize: elapsed}\nbudget: {trials: 3}\n")
	runStudy(t, s, size, "", nil)

	helped, n := runStudy(t, s, recorded(t, "new", 1, asks+"budget: {trials: 12}\n"), "", nil)
	if n != 12 || len(helped.Notes) != 2 || !strings.Contains(helped.Notes[0], `not used: study "size"`) ||
		helped.Notes[1] != `study "old" helps` {
		t.Errorf("%d trials, notes %q", n, helped.Notes)
	}
	def, err := s.Definition(t.Context(), "new")
	if err != nil || len(def.Prior.Resolved) != 1 || def.Prior.Resolved[0].Name != "old" ||
		def.Prior.Resolved[0].Trials != 144 {
		t.Fatalf("on record: %+v, %v", def.Prior, err)
	}
	cuts := 0
	for e, err := range s.Events(t.Context(), "new", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Pruned != nil {
			cuts++
		}
	}
	if cuts == 0 {
		t.Error("nothing was pruned")
	}
	// With more on record, it goes on with those that it began with.
	runStudy(t, s, recorded(t, "later", 2, "search: grid\n"), "", nil)
	again, n := runStudy(t, s, recorded(t, "new", 1, asks+"budget: {trials: 20}\n"), "", nil)
	if !again.Resumed || n != 20 || len(again.Notes) != 0 {
		t.Errorf("resumed %v, %d trials, notes %q", again.Resumed, n, again.Notes)
	}
	if def.Prior.Resolved[0].Name != "old" {
		t.Errorf("it goes on with %+v", def.Prior.Resolved)
	}
	// A searcher that cannot leave out values gets the expectations alone.
	limited, _ := runStudy(t, s, recorded(t, "grown", 1, "prior: old\nsearch: pso\nbudget: {trials: 2}\n"), "", nil)
	if p := limited.Problem; len(limited.Notes) == 0 {
		t.Errorf("searcher %s: no notes", p.Definition.Search.Name)
	}
	// Alone, it is not helped.
	p, err := New(recorded(t, "alone", 1, asks), Options{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := p.Study(t.Context(), s, "")
	if err != nil || len(alone.Notes) != 0 || alone.Cuts != nil {
		t.Errorf("alone: %v, notes %q", err, alone.Notes)
	}
	// It cannot be repeated without the study that helped it.
	if err := s.Remove(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	if p, err = New(recorded(t, "new", 1, asks), Options{}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Study(t.Context(), s, "")
	if assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(),
		`helped by study "old", which is gone`) {
		t.Errorf("what helped is gone: %v", err)
	}
}

// A new study begins with three proposals of an earlier one. A study that began when the earlier one had to prove its
// worth first goes on so: one of the three is of the earlier study.
func TestPriorOfAnOldStudy(t *testing.T) {
	s := memory(t)
	runStudy(t, s, recorded(t, "old", 3, "search: grid\n"), "", nil)
	runStudy(t, s, recorded(t, "new", 1, "prior: old\nbudget: {trials: 1}\n"), "", nil)
	def, err := s.Definition(t.Context(), "new")
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range []int{1, 1, 3} {
		p, err := New(recorded(t, "new", 1, "prior: old\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.searchers = version
		searcher, _, _, err := p.helped(t.Context(), s, claim{name: "new", helpers: def.Prior.Resolved})
		if err != nil {
			t.Fatal(err)
		}
		proposed, err := searcher.Ask(3)
		if err != nil {
			t.Fatal(err)
		}
		good := 0
		for _, one := range proposed {
			if c := one.Config; (c[0]-2)*(c[0]-2)+(c[1]-4)*(c[1]-4)+6*c[2]*c[2] <= 1 {
				good++ // one of the five best of the earlier study
			}
		}
		if good != want {
			t.Errorf("version %d: %d of three proposals are of the earlier study, want %d", version, good, want)
		}
	}
}

// A study that began when the third part of auto made single steps alone goes on so.
func TestStepsOfAnOldStudy(t *testing.T) {
	var made [4]string
	for version := range made {
		p, err := New(recorded(t, "new", 1, ""), Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.searchers = version
		searcher, err := p.searcher(nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			proposed, err := searcher.Ask(1)
			if err != nil {
				t.Fatal(err)
			}
			made[version] += fmt.Sprintln(proposed[0].Config)
			trial := assay.Trial{Proposal: proposed[0], State: assay.Done, Value: 1 + proposed[0].Config[0]}
			if err := searcher.Tell(trial); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made[2] != made[0] {
		t.Error("a study of version 2 does not go on as one of version 0")
	}
	if made[3] == made[2] {
		t.Error("a study of today makes the proposals of version 2")
	}
}

// An error in the prior names its place in the file.
func TestPriorFlaws(t *testing.T) {
	p, err := New(recorded(t, "new", 1, "prior: nobody\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := memory(t)
	_, err = p.Study(t.Context(), s, "")
	if assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(),
		"new.yaml:3:8: --prior nobody: no such study") {
		t.Errorf("a study that there is not: %v", err)
	}
	if _, err := s.Spec(t.Context(), "new"); err == nil {
		t.Error("the study was made")
	}
}

// A study file has the words of package prune.
func TestPriorWords(t *testing.T) {
	if got := spec.PriorSurrogates(); !slices.Equal(got, prune.SurrogateNames()) {
		t.Errorf("surrogates %q, want %q", got, prune.SurrogateNames())
	}
	for _, word := range spec.PriorRules() {
		if r, err := prune.ParseRule(word); err != nil || r.String() != word {
			t.Errorf("rule %s is %v, %v", word, r, err)
		}
	}
}

// The earlier studies prune and do nothing else with the published rule: until there
// are trials to compare, the proposals are the searcher's alone.
func TestHelpedAsPublished(t *testing.T) {
	s := memory(t)
	runStudy(t, s, recorded(t, "old", 3, "search: grid\n"), "", nil)
	first := func(name, more string) (firsts []string, cuts int) {
		t.Helper()
		_, _ = runStudy(t, s, recorded(t, name, 1, "search: {name: pso, seed: 4}\nbudget: {trials: 12}\n"+more), "", nil)
		for e, err := range s.Events(t.Context(), name, 0) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Told != nil && len(firsts) < 3:
				firsts = append(firsts, e.Told.Config.Key())
			case e.Pruned != nil:
				cuts++
				if e.Pruned.Alpha != 0.7 || e.Pruned.Restored {
					t.Errorf("%s: cut %+v", name, e.Pruned)
				}
			}
		}
		return firsts, cuts
	}
	alone, _ := first("alone", "")
	for _, surrogate := range spec.PriorSurrogates() {
		got, cuts := first(surrogate, "prior: {use: old, alpha: 0.7, rule: published, surrogate: "+surrogate+"}\n")
		if !slices.Equal(got, alone) || cuts == 0 {
			t.Errorf("%s: the first are %q with %d cuts, want %q and some", surrogate, got, cuts, alone)
		}
	}
	p, err := New(recorded(t, "fixed", 1, "search: nimo\nprior: {use: old, rule: published}\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Study(t.Context(), s, "")
	if assay.ClassOf(err) != assay.ClassUsage ||
		!strings.Contains(err.Error(), "fixed.yaml:4:25: prior.rule published: the searcher nimo cannot") {
		t.Errorf("a searcher that cannot be narrowed: %v", err)
	}
}
