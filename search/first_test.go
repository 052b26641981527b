package search

import (
	"errors"
	"testing"

	"github.com/assay-run/assay"
)

func TestFirst(t *testing.T) {
	inner := &script{configs: []float64{5, 6}}
	mine := assay.Config{1}
	f := First(inner, mine, assay.Config{2}, assay.Config{1})
	mine[0] = 9 // First has its own copy
	ps := mustAsk(t, f, 3)
	var got []float64
	for i, p := range ps {
		if p.ID != int64(i+1) {
			t.Errorf("proposal %d has ID %d", i, p.ID)
		}
		got = append(got, p.Config[0])
	}
	if len(got) != 3 || got[0] != 1 || got[1] != 2 || got[2] != 5 {
		t.Fatalf("proposed %v, want 1, 2 and 5", got)
	}
	mustTell(t, f, doneTrial(ps[2], 50), doneTrial(ps[0], 10))
	if len(inner.told) != 1 || inner.told[0].ID != 1 || inner.told[0].Value != 50 {
		t.Errorf("inner was told %+v, want its own proposal 1", inner.told)
	}
	if len(inner.seen) != 1 || inner.seen[0].Config[0] != 1 || inner.seen[0].Value != 10 {
		t.Errorf("inner observed %+v, want the trial at 1", inner.seen)
	}
	if _, ok := assay.As[assay.Observer](f); !ok {
		t.Error("First of an Observer is none")
	}
	if _, ok := assay.As[assay.Observer](First(&loop{})); ok {
		t.Error("First of a searcher that is no Observer is one")
	}
}

// The defaults are not proposed again by a searcher that avoids repeats.
func TestFirstAvoidsRepeats(t *testing.T) {
	s := oneParam(6)
	f := First(NewRandom(s, 1), assay.Config{2}, assay.Config{4})
	seen := visited{}
	n := 0
	for {
		ps, err := f.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		if !seen.add(ps[0].Config) {
			t.Errorf("%v twice", ps[0].Config)
		}
		mustTell(t, f, doneTrial(ps[0], 1))
	}
	if n != 6 {
		t.Errorf("%d proposals, want 6", n)
	}
}

func TestFirstInnerError(t *testing.T) {
	f := First(failing{}, assay.Config{1})
	if ps := mustAsk(t, f, 2); len(ps) != 1 {
		t.Errorf("got %v, want the one configuration", ps)
	}
	if _, err := f.Ask(1); err == nil || err.Error() != "broken" {
		t.Errorf("got %v, want the error of inner", err)
	}
}
