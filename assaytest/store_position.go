package assaytest

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/assay-run/assay"
)

func testConflict(t *testing.T, s assay.Store, _ StoreOptions) {
	ctx := t.Context()
	want := fillStudy(t, s, "a", 5)
	noStoreErr(t, s.Create(ctx, "empty", nil))
	for _, c := range []struct {
		study string
		at    assay.Position
	}{
		{"a", 0},
		{"a", 4},
		{"a", 6},
		{"a", -1},
		{"a", math.MaxInt64},
		{"a", math.MinInt64},
		{"empty", 1},
		{"empty", -1},
	} {
		for _, events := range [][]assay.Event{{askedEvent(70)}, {askedEvent(70), askedEvent(71), askedEvent(72)}} {
			if _, err := s.Append(ctx, c.study, c.at, events...); !errors.Is(err, assay.ErrConflict) {
				t.Errorf("Append of %d events to %q at %d: got %v, want ErrConflict", len(events), c.study, c.at, err)
			}
		}
	}
	// Without events, a place is one of the record or it is not.
	for at, ok := range map[assay.Position]bool{-1: false, 0: true, 3: true, 5: true, 6: false} {
		end, err := s.Append(ctx, "a", at)
		if ok && (err != nil || end != at) || !ok && !errors.Is(err, assay.ErrConflict) {
			t.Errorf("Append of nothing at %d: got %d, %v", at, end, err)
		}
	}
	checkEvents(t, s, "a", want)
	checkEvents(t, s, "empty", nil)
	if class := assay.ClassOf(assay.ErrConflict); class != assay.ClassConflict {
		t.Errorf("ErrConflict has the class %v", class)
	}
}

func testAppendTwice(t *testing.T, s assay.Store, opts StoreOptions) {
	ctx := t.Context()
	noStoreErr(t, s.Create(ctx, "a", nil))
	first := append(oddEvents(), askedEvent(40))
	end := assay.Position(len(first))
	for range 2 {
		at, err := s.Append(ctx, "a", 0, first...)
		if err != nil || at != end {
			t.Fatalf("got %d, %v, want %d", at, err, end)
		}
	}
	checkEvents(t, s, "a", first)
	if opts.Reopen != nil {
		s = opts.Reopen(t, s)
	}
	if at, err := s.Append(ctx, "a", end, toldEvent(40, 1)); err != nil || at != end+1 {
		t.Fatalf("got %d, %v, want %d", at, err, end+1)
	}
	// The first call once more, its beginning and its end alone.
	for _, part := range []struct {
		at     assay.Position
		events []assay.Event
	}{{0, first}, {0, first[:1]}, {end - 1, first[end-1:]}} {
		at, err := s.Append(ctx, "a", part.at, part.events...)
		if want := part.at + assay.Position(len(part.events)); err != nil || at != want {
			t.Errorf("again, %d events at %d: got %d, %v, want %d", len(part.events), part.at, at, err, want)
		}
	}
	other := append([]assay.Event(nil), first...)
	other[len(other)-1] = askedEvent(41)
	later := toldEvent(40, 1)
	later.At = later.At.Add(1)
	for what, c := range map[string]struct {
		at     assay.Position
		events []assay.Event
	}{
		"another last event":      {0, other},
		"the events elsewhere":    {1, first[:1]},
		"another time":            {end, []assay.Event{later}},
		"more than there is":      {end, []assay.Event{toldEvent(40, 1), askedEvent(41)}},
		"another value":           {end, []assay.Event{toldEvent(40, 2)}},
		"another kind":            {end, []assay.Event{checked(toldEvent(40, 1))}},
		"the same behind the end": {end + 2, []assay.Event{toldEvent(40, 1)}},
	} {
		if _, err := s.Append(ctx, "a", c.at, c.events...); !errors.Is(err, assay.ErrConflict) {
			t.Errorf("%s: got %v, want ErrConflict", what, err)
		}
	}
	checkEvents(t, s, "a", append(first, toldEvent(40, 1)))
}

func testOneWins(t *testing.T, s assay.Store, _ StoreOptions) {
	ctx := t.Context()
	const writers, rounds = 6, 20
	noStoreErr(t, s.Create(ctx, "a", nil))
	var want []assay.Event
	for round := range rounds {
		at := assay.Position(2 * round)
		var mu sync.Mutex
		var winners []int64
		var wg sync.WaitGroup
		for w := range int64(writers) {
			id := int64(round)*writers + w + 1
			wg.Go(func() {
				end, err := s.Append(ctx, "a", at, askedEvent(id), toldEvent(id, 1))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && end == at+2:
					winners = append(winners, id)
				case !errors.Is(err, assay.ErrConflict):
					t.Errorf("got %d, %v, want ErrConflict", end, err)
				}
			})
		}
		wg.Wait()
		if len(winners) != 1 {
			t.Fatalf("round %d: %d of %d writers succeeded, want 1", round, len(winners), writers)
		}
		want = append(want, askedEvent(winners[0]), toldEvent(winners[0], 1))
	}
	checkEvents(t, s, "a", want)
}

func testAfter(t *testing.T, s assay.Store, _ StoreOptions) {
	const n = 700
	want := fillStudy(t, s, "a", n)
	for _, after := range []assay.Position{-1, 0, 1, 2, 255, 256, 257, 511, 512, 698, 699, 700, 701, math.MaxInt64} {
		got, err := collectPairs(s.Events(t.Context(), "a", after))
		noStoreErr(t, err)
		rest := want[min(max(after, 0), n):]
		if len(got) != len(rest) {
			t.Errorf("after %d: got %d events, want %d", after, len(got), len(rest))
			continue
		}
		for i := range got {
			if !SameEvent(got[i], rest[i]) {
				t.Fatalf("after %d: event %d: got %s, want %s", after, i, eventText(got[i]), eventText(rest[i]))
			}
		}
	}
	// An iterator that was made before an Append sees it.
	seq := s.Events(t.Context(), "a", n)
	if _, err := s.Append(t.Context(), "a", n, askedEvent(9999)); err != nil {
		t.Fatal(err)
	}
	got, err := collectPairs(seq)
	if err != nil || len(got) != 1 || !SameEvent(got[0], askedEvent(9999)) {
		t.Errorf("after an Append: got %d events, %v, want the one", len(got), err)
	}
}
