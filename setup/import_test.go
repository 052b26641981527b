package setup

import (
	"testing"

	"github.com/assay-run/assay"
)

// An imported table is a study with every recorded run, which can help others.
func TestImport(t *testing.T) {
	s := memory(t)
	p, err := New(recorded(t, "old", 3, "search: grid\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	trials, err := p.Import(t.Context(), s, "old")
	if err != nil || len(trials) != 8*6*3 {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	if p.Definition.Search.Name != "grid" {
		t.Errorf("the definition was changed: %+v", p.Definition.Search)
	}
	sum, err := s.Summary(t.Context(), "old")
	if err != nil || sum.Counts[assay.Done] != 144 {
		t.Errorf("on record: %+v, %v", sum, err)
	}
	if _, err := p.Import(t.Context(), s, "old"); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("a name that is taken: %v", err)
	}
	helped, _ := runStudy(t, s, recorded(t, "new", 1, "prior: auto\nbudget: {trials: 3}\n"), "", nil)
	if len(helped.Notes) != 1 || helped.Notes[0] != `study "old" helps` {
		t.Errorf("notes %q", helped.Notes)
	}
	p, err = New(define(t, "f.yaml", nine), Options{Runner: &fakeRunner{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Import(t.Context(), s, "nine"); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("an import without a table: %v", err)
	}
}
