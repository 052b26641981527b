package setup

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
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

// A process that is killed in the midst of an import leaves a part of a study. It helps none, another import of that
// name is refused, and the same one goes on with it, whatever part it is.
func TestImportKilled(t *testing.T) {
	whole := memory(t)
	p, err := New(recorded(t, "old", 3, "search: grid\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Import(t.Context(), whole, "old"); err != nil {
		t.Fatal(err)
	}
	want := eventsOf(t, whole, "old")
	other, err := New(recorded(t, "old", 4, ""), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const batch = 50
	for n := 0; n < len(want); n += batch {
		s := memory(t)
		spec, err := whole.Spec(t.Context(), "old")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Create(t.Context(), "old", spec); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), "old", 0, want[:n]...); err != nil {
			t.Fatal(err)
		}
		if n == 2*batch {
			helped, _ := runStudy(t, s, recorded(t, "new", 1, "prior: auto\nbudget: {trials: 3}\n"), "", nil)
			if len(helped.Notes) != 1 || !strings.HasPrefix(helped.Notes[0], "no earlier study on record serves") {
				t.Errorf("half an import: notes %q", helped.Notes)
			}
			_, err := other.importIn(t.Context(), s, "old", batch)
			if assay.ClassOf(err) != assay.ClassConflict || !strings.Contains(err.Error(), "part of another import") {
				t.Errorf("another import: %v", err)
			}
		}
		if _, err := p.importIn(t.Context(), s, "old", batch); err != nil {
			t.Fatalf("killed behind %d events: %v", n, err)
		}
		if got := eventsOf(t, s, "old"); !slices.EqualFunc(got, want, assaytest.SameEvent) {
			t.Fatalf("killed behind %d events: %d events, want %d", n, len(got), len(want))
		}
		if _, err := p.importIn(t.Context(), s, "old", batch); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("a whole import again: %v", err)
		}
	}
	if len(want) < 4*batch {
		t.Errorf("only %d events", len(want))
	}
}

func eventsOf(t *testing.T, s *Store, study string) (all []assay.Event) {
	t.Helper()
	for e, err := range s.Events(t.Context(), study, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
