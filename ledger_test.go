package assay

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ended(id int64) Trial { return Trial{Proposal: Proposal{ID: id}, State: Done} }

func TestLedger(t *testing.T) {
	var l Ledger[string]
	if err := l.Check(ended(1)); err == nil {
		t.Error("a trial can be told before any proposal")
	}
	for i, name := range []string{"a", "b", "c"} {
		if p := l.Propose(Config{float64(i)}, name); p.ID != int64(i+1) || p.Config[0] != float64(i) {
			t.Errorf("proposal %v", p)
		}
	}
	for name, trials := range map[string][]Trial{
		"not asked": {ended(1), ended(4)}, "zero": {ended(0)}, "negative": {ended(-1)}, "huge": {ended(math.MaxInt64)},
		"twice in one call": {ended(2), ended(2)}, "running": {ended(1), {Proposal: Proposal{ID: 2}, State: Running}},
	} {
		if _, err := l.Settle(trials...); err == nil || l.Len() != 3 {
			t.Errorf("%s: %v, %d outstanding", name, err, l.Len())
		}
	}
	if about, err := l.Settle(ended(3), ended(1)); err != nil || !slices.Equal(about, []string{"c", "a"}) {
		t.Errorf("settled %v, %v", about, err)
	}
	if err := l.Check(ended(3)); err == nil {
		t.Error("a trial can be told twice")
	}
	if l.About(2) != "b" || l.About(3) != "" || l.Len() != 1 || l.Last() != 3 {
		t.Errorf("outstanding: %q, %q, %d up to %d", l.About(2), l.About(3), l.Len(), l.Last())
	}
	if about, err := l.Settle(); err != nil || len(about) != 0 {
		t.Errorf("no trials: %v, %v", about, err)
	}
}

// The ledger holds the outstanding proposals in their order, whatever is proposed and told, in
// any order.
func TestLedgerHoldsWhatIsOutstanding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Ledger[int64]
		var want []int64
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			if len(want) == 0 || rapid.Bool().Draw(t, "ask") {
				p := l.Propose(nil, 0)
				l.Enter(p, 10*p.ID)
				want = append(want, p.ID)
				continue
			}
			i := rapid.IntRange(0, len(want)-1).Draw(t, "told")
			about, err := l.Settle(ended(want[i]))
			if err != nil || about[0] != 10*want[i] {
				t.Fatalf("trial %d: %v, %v", want[i], about, err)
			}
			want = slices.Delete(want, i, i+1)
		}
		var got []int64
		for id := range l.Outstanding() {
			got = append(got, id)
		}
		if !slices.Equal(got, want) || l.Len() != len(want) {
			t.Fatalf("outstanding %v, want %v", got, want)
		}
	})
}

func TestCheckObserved(t *testing.T) {
	s, err := NewSpace([]Param{{Name: "x", Kind: Real, Lo: 0, Hi: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		trial Trial
		ok    bool
	}{
		"member":          {Trial{Proposal: Proposal{Config: Config{0.5}}, State: Failed}, true},
		"outside":         {Trial{Proposal: Proposal{Config: Config{5}}, State: Done}, true},
		"running":         {Trial{Proposal: Proposal{Config: Config{0.5}}, State: Running}, false},
		"two coordinates": {Trial{Proposal: Proposal{Config: Config{0.5, 0.5}}, State: Done}, false},
		"none":            {Trial{State: Done}, false},
	} {
		if err := s.CheckObserved(ended2(), c.trial); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ended2() Trial { return Trial{Proposal: Proposal{Config: Config{0}}, State: Done} }

// A member that was read from text has the key of the one that the space makes.
func TestSpaceMember(t *testing.T) {
	params := []Param{{Name: "x", Kind: Real, Lo: 0, Hi: 0.9, Step: 0.1}, {Name: "y", Kind: Real, Lo: 0, Hi: 1}}
	s, err := NewSpace(params)
	if err != nil {
		t.Fatal(err)
	}
	third := params[0].At(3)
	off := Config{math.Nextafter(third, 1), 0.123}
	got, ok := s.Member(off)
	if !ok || got[0] != third || got[1] != 0.123 {
		t.Errorf("got %v, %v", got, ok)
	}
	if off[0] == third {
		t.Error("the argument was changed")
	}
	if _, ok := s.Member(Config{0.35, 0.5}); ok {
		t.Error("between two values is a member")
	}
	listed, err := NewList(params, []Config{{third, 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float64]bool{third: true, params[0].At(2): false} {
		if _, ok := listed.Member(Config{x, 0.5}); ok != want {
			t.Errorf("%v of a list: %v", x, ok)
		}
	}
}
