package store

import (
	"os"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func openJSONL(t *testing.T) *JSONL {
	t.Helper()
	s, err := OpenJSONL(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJSONL(t *testing.T) {
	reopen := func(t *testing.T, s assay.Store) assay.Store {
		again, err := OpenJSONL(s.(*JSONL).dir)
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
	open := func(t *testing.T) assay.Store { return openJSONL(t) }
	assaytest.TestStore(t, open, assaytest.StoreOptions{Reopen: reopen})
}

func TestJSONLProjects(t *testing.T) {
	assaytest.TestProjector(t, func(t *testing.T) assaytest.ProjectingStore { return openJSONL(t) })
}

// A line that was cut short is no event, and the next Append takes its place.
func TestJSONLTorn(t *testing.T) {
	s := openJSONL(t)
	if err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(s.path("a"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`[{"at":"2024-05`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	end := assay.Event{Ended: &assay.End{By: "search"}}
	if n, err := s.Append(t.Context(), "a", 0, end, end); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if sum, err := s.Summary(t.Context(), "a"); err != nil || sum.Events != 2 {
		t.Errorf("got %+v, %v", sum, err)
	}
}
