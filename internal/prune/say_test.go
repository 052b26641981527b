package prune

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/search"
)

// ours returns which of n proposals, told one by one with values of f, are not of the inner searcher.
func ours(t *testing.T, tr *Transfer, n int, f func(assay.Config) float64) (at []int) {
	t.Helper()
	for i := range n {
		made := tr.made
		tell(t, tr, 1, f)
		if tr.made > made {
			at = append(at, i+1)
		}
	}
	return at
}

// twoAlike returns a search with two earlier studies that are like the running one.
func twoAlike(judged bool) *Transfer {
	space := grid()
	f := bowl(space, 0.3)
	return NewTransfer(search.NewRandom(space, 1), NewKnowledge(space, testGoal, []Study{
		earlier("a", space, 200, 1, f), earlier("b", space, 200, 2, f),
	}), TransferOptions{Judged: judged})
}

// The first three proposals are of earlier studies, whatever is asked at once.
func TestTheFirstThree(t *testing.T) {
	f := bowl(grid(), 0.3)
	if got := ours(t, twoAlike(false), 4, f); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("proposals %v of four are of earlier studies, want the first three", got)
	}
	tr := twoAlike(false)
	if must(tr.Ask(8)); tr.made != 3 {
		t.Errorf("%d of eight that are asked at once are of earlier studies, want three", tr.made)
	}
}

// A contrary study keeps its vote if no study is judged: its hint stays, and it makes the first proposals.
func TestAContraryStudyIsHeard(t *testing.T) {
	space := grid()
	f := bowl(space, 0.3)
	s := &hinted{Searcher: search.NewRandom(space, 1)}
	tr := NewTransfer(s, NewKnowledge(space, testGoal, []Study{
		earlier("a", space, 1500, 1, func(c assay.Config) float64 { return 100 - f(c) }),
	}), TransferOptions{})
	was := s.h(space.At(0))
	if got := ours(t, tr, 20, f); len(got) < 3 || !slices.Equal(got[:3], []int{1, 2, 3}) {
		t.Errorf("proposals %v of 20 are of the study, want the first three among them", got)
	}
	if got := s.h(space.At(0)); got != was || got == meanHint {
		t.Errorf("hint %v after 20 trials, want %v as before", got, was)
	}
}

// One of the first three proposals is of earlier studies that are judged, whatever is asked at once.
func TestOneOfTheFirstThree(t *testing.T) {
	f := bowl(grid(), 0.3)
	build := func() *Transfer { return twoAlike(true) }
	if got := ours(t, build(), 3, f); !slices.Equal(got, []int{1}) {
		t.Errorf("proposals %v of three are of earlier studies, want the first", got)
	}
	tr := build()
	if must(tr.Ask(8)); tr.made != 1 {
		t.Errorf("%d of eight that are asked at once are of earlier studies, want one", tr.made)
	}
	// Two of the same values judge nothing, three of different ones do: then the rest of the first comes.
	tr = build()
	if got := ours(t, tr, 5, f); !slices.Equal(got, []int{1, 4, 5}) {
		t.Errorf("proposals %v of five are of studies that are alike, want 1, 4 and 5", got)
	}
}

// A study that orders the trials the other way has no vote once there are three: it proposes nothing more, and
// the model and the hint are without it.
func TestAContraryStudyIsSilent(t *testing.T) {
	space := grid()
	f := bowl(space, 0.3)
	contrary := func(c assay.Config) float64 { return 100 - f(c) }
	s := &hinted{Searcher: search.NewRandom(space, 1)}
	tr := NewTransfer(s, NewKnowledge(space, testGoal, []Study{earlier("a", space, 1500, 1, contrary)}),
		TransferOptions{Judged: true})
	good, bad := space.At(0), space.At(0)
	for c := range space.All() {
		if f(c) < f(good) {
			good = c
		}
		if f(c) > f(bad) {
			bad = c
		}
	}
	if !(s.h(good) > s.h(bad)) {
		t.Errorf("hint %v at the best and %v at the worst: the study is not heard at all", s.h(good), s.h(bad))
	}
	if got := ours(t, tr, 40, f); !slices.Equal(got, []int{1}) {
		t.Errorf("proposals %v of 40 are of a contrary study, want the first", got)
	}
	if s.h(good) != s.h(bad) || s.h(good) != meanHint {
		t.Errorf("hint %v at the best and %v at the worst, want %v", s.h(good), s.h(bad), meanHint)
	}
}

// The similar one of two studies proposes alone, and a study that the first trials contradicted proposes
// again when later ones support it.
func TestSayIsJudgedWithEachTrial(t *testing.T) {
	space := line(8)
	like := outcomes(space, 1, 2, 3, 4, 5, 6, 7, 8)
	unlike := outcomes(space, 8, 7, 6, 5, 4, 3, 2, 1)
	b := newBase(NewKnowledge(space, testGoal, []Study{unlike, like}), NoSurrogate)
	b.judges = true
	learn := func(x, value float64) {
		b.learn(assay.Trial{Proposal: assay.Proposal{Config: assay.Config{x}}, State: assay.Done, Value: value})
	}
	steps := []struct {
		x, value float64
		want     []int
	}{
		{0, 1, []int{0, 1}}, // one and two trials judge nothing
		{1, 2, []int{0, 1}},
		{2, 3, []int{1}},
		{7, 0.5, []int{0}}, // -0.2 and 0.2
		{6, 100, []int{}},  // 0: neither is positive
		{5, 90, []int{1}},  // 0.14
		{4, 80, []int{1}},
	}
	for i, s := range steps {
		learn(s.x, s.value)
		if got := b.voices(); !slices.Equal(got, s.want) && len(got)+len(s.want) > 0 {
			t.Errorf("after %d trials: %v have a say, want %v", i+1, got, s.want)
		}
		if again := b.voices(); !slices.Equal(again, b.said) {
			t.Errorf("asked again: %v", again)
		}
	}
	if tr := b.nearest(b.outcomes(), 2); !slices.Equal(tr, []int{1}) {
		t.Errorf("a blend is of %v, want the study that counts", tr)
	}
}

// Outcomes that are all equal are no judgement against anybody: nothing is known of the order.
func TestEqualOutcomesGiveNobodyASay(t *testing.T) {
	space := line(5)
	b := newBase(NewKnowledge(space, testGoal, []Study{outcomes(space, 1, 2, 3, 4, 5)}), NoSurrogate)
	b.judges = true
	for x := range 4 {
		b.learn(assay.Trial{
			Proposal: assay.Proposal{Config: assay.Config{float64(x)}}, State: assay.Failed,
			Value: math.Inf(1),
		})
		if got := b.voices(); len(got) != 1 {
			t.Errorf("%d failures: %v have a say, want all: nothing has finished", x+1, got)
		}
	}
	b.learn(assay.Trial{Proposal: assay.Proposal{Config: assay.Config{4}}, State: assay.Done, Value: 3})
	if got := b.voices(); len(got) != 0 {
		t.Errorf("%v have a say, want none: failures count as the worst, which is the only outcome", got)
	}
}

// A searcher whose hint changes with the trials makes the same proposals when it is resumed.
func TestChangingHintsAreResumed(t *testing.T) {
	t.Parallel()
	small := func(s *assay.Space) bool { return len(s.Features()) < 12 }
	build := func(space *assay.Space) assay.Searcher {
		k := NewKnowledge(space, testGoal, []Study{
			earlier("a", space, 30, 1, bowl(space, 0.1)), earlier("b", space, 30, 2, bowl(space, 0.9)),
		})
		return search.Cache(NewTransfer(search.NewAuto(space, search.AutoOptions{Seed: 1, Initial: 4}), k,
			TransferOptions{Seed: 1, Judged: true}))
	}
	assaytest.TestResumer(t, build, assaytest.SearcherOptions{Trials: 24, Supports: small})
}

// A judged study that is not alike costs little, after few trials and after many.
func TestUnlikeStudiesCostLittle(t *testing.T) {
	t.Parallel()
	space := grid()
	f := bowl(space, 0.3)
	unlike := func(c assay.Config) float64 { return 100 - f(c) }
	mean := func(n int, k *Knowledge) float64 {
		return bestAfter(t, n, f, func(seed uint64) assay.Searcher {
			inner := search.NewRandom(space, seed)
			if k == nil {
				return inner
			}
			return NewTransfer(inner, k, TransferOptions{Seed: seed, Judged: true})
		})
	}
	k := NewKnowledge(space, testGoal, []Study{earlier("a", space, 200, 1, unlike)})
	// All that it costs is one trial.
	for _, n := range []int{6, 20} {
		if with, fewer := mean(n, k), mean(n-1, nil); with > fewer {
			t.Errorf("best of %d is %v with an unlike study, and %v of one trial less without", n, with, fewer)
		}
	}
	var none *Transfer
	if none = NewTransfer(search.NewRandom(space, 1), NewKnowledge(space, testGoal, nil),
		TransferOptions{}); none.made != 0 {
		t.Error("proposals of no study")
	}
	if _, err := none.Ask(1); err != nil && !errors.Is(err, assay.ErrDone) {
		t.Error(err)
	}
}
