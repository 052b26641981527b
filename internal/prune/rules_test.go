package prune

import (
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// Shares are from 0 to below 1, numbers of trials at least 0; 0 stands for the default of each.
func TestOptionsOutOfRange(t *testing.T) {
	space := line(10)
	k := NewKnowledge(space, testGoal, nil)
	panics := func(f func()) (did bool) {
		defer func() { did = recover() != nil }()
		f()
		return false
	}
	nan := math.NaN()
	for _, tt := range []struct {
		opts Options
		bad  bool
	}{
		{Options{}, false},
		{Options{Alpha: 0.99, MaxAlpha: 0.99, Threshold: 0.99, Least: 1}, false},
		{Options{Alpha: 1}, true},
		{Options{Alpha: -0.1}, true},
		{Options{Alpha: nan}, true},
		{Options{MaxAlpha: 1}, true},
		{Options{MaxAlpha: -0.1}, true},
		{Options{Threshold: 1}, true},
		{Options{Threshold: -0.1}, true},
		{Options{Threshold: nan}, true},
		{Options{Least: -1}, true},
	} {
		if got := panics(func() { _, _ = New(search.NewRandom(space, 1), k, tt.opts) }); got != tt.bad {
			t.Errorf("%+v: panics %v", tt.opts, got)
		}
	}
	for first, bad := range map[int]bool{-1: true, 0: false, 1: false} {
		if got := panics(func() { NewTransfer(search.NewRandom(space, 1), k, TransferOptions{First: first}) }); got != bad {
			t.Errorf("%d first proposals: panics %v", first, got)
		}
	}
}

// A space of up to maxTable configurations is kept as a table, a larger one and a continuum is not.
func TestTableOfTransfer(t *testing.T) {
	reals := must(assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Real, Lo: 0, Hi: 1}}))
	for _, tt := range []struct {
		space *assay.Space
		want  int
	}{{line(10), 10}, {line(maxTable), maxTable}, {line(maxTable + 1), 0}, {reals, 0}} {
		if got := len(transferOf(tt.space).table); got != tt.want {
			t.Errorf("a table of %d configurations, want %d", got, tt.want)
		}
	}
}

// A number that is no surrogate has a name all the same.
func TestNamesOfSurrogates(t *testing.T) {
	for i, name := range slices.Concat([]string{"none"}, SurrogateNames()) {
		if i > 0 && name == "none" {
			continue
		}
		s, err := ParseSurrogate(name)
		if err != nil || s.String() != name {
			t.Errorf("%s is read as %v, %v", name, s, err)
		}
	}
	if got := Surrogate(len(surrogates)).String(); got == "" || got[:9] != "Surrogate" {
		t.Errorf("one beyond the last is %q", got)
	}
}

// Observed trials are checked as told ones are, before any of them counts.
func TestTransferObservesMembers(t *testing.T) {
	tr := transferOf(line(10))
	good := assay.Trial{Proposal: assay.Proposal{ID: 1, Config: assay.Config{3}}, State: assay.Done, Value: 4}
	bad := good
	bad.Config = assay.Config{1, 2}
	if err := tr.Observe(good, bad); err == nil {
		t.Error("a configuration of two parameters is observed in a space of one")
	}
	if tr.visited[good.Config.Key()] {
		t.Error("a trial of a refused batch counts")
	}
	if err := tr.Observe(good); err != nil || !tr.visited[good.Config.Key()] {
		t.Errorf("a good one: %v, visited %v", err, tr.visited)
	}
}

// Memos are recalled before the first proposal.
func TestTransferRecallsFirst(t *testing.T) {
	tr := transferOf(line(10), outcomes(line(10), 1, 2, 3))
	if err := tr.Recall(nil); err != nil {
		t.Errorf("nothing to recall: %v", err)
	}
	tr.propose(assay.Config{2}, 0)
	if err := tr.Recall(nil); err == nil {
		t.Error("memos are recalled after a proposal")
	}
}

// When the wrapped search has nothing left and nothing is ours the error is its own.
func TestTransferEndsWithInner(t *testing.T) {
	space := line(3)
	tr := transferOf(space)
	n := 0
	for ; n < 10; n++ {
		ps, err := tr.Ask(1)
		if err != nil {
			if err != assay.ErrDone {
				t.Errorf("after %d proposals: %v", n, err)
			}
			break
		}
		if len(ps) == 0 {
			t.Fatalf("no proposal and no error after %d", n)
		}
		if err := tr.Tell(assay.Trial{Proposal: ps[0], State: assay.Done, Value: ps[0].Config[0] + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("%d proposals of a space of 3", n)
	}
}
