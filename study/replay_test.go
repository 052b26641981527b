package study_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// prefix returns a store that holds the first n events of a study, and the rest of
// the last one's batch: the proposals of one Ask are recorded together.
func prefix(t testing.TB, whole assay.Store, n int) assay.Store {
	t.Helper()
	return kept(t, whole, n, all)
}

// all keeps every event.
func all(assay.Event) bool { return true }

// kept is [prefix] with those events only that keep is for.
func kept(t testing.TB, whole assay.Store, n int, keep func(assay.Event) bool) assay.Store {
	t.Helper()
	st := store.NewMem()
	if err := st.Create(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	var at assay.Position
	for e, err := range whole.Events(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n--; n < 0 && e.Batch >= 0 {
			break
		}
		if !keep(e) {
			continue
		}
		if at, err = st.Append(t.Context(), "s", at, e); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

// A process may die after any event. The next one ends with the same trials as
// if nothing had happened, and runs none again that had ended.
func TestResumeAfterEveryEvent(t *testing.T) {
	for _, parallel := range []int{1, 3} {
		inBubble(t, func(t *testing.T) { resumeAfterEveryEvent(t, parallel, all, nil) })
	}
}

// Studies that go on without the results on record, or with a searcher that is not where
// it was, do not pass.
func TestResumeControl(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		testbed.Fails(t, "a record without its results", func(t testing.TB) {
			resumeAfterEveryEvent(t, 1, func(e assay.Event) bool { return e.Told == nil }, nil)
		})
		testbed.Fails(t, "a searcher that goes on from elsewhere", func(t testing.TB) {
			resumeAfterEveryEvent(t, 1, all, func(s assay.Searcher, asked int) assay.Searcher {
				return &changed{inner: s, at: asked + 1}
			})
		})
	})
}

// resumeAfterEveryEvent resumes a study from the start of its record up to each event, as far as
// keep leaves it, with change applied to its searcher, which has to repeat so many proposals.
func resumeAfterEveryEvent(
	t testing.TB, parallel int, keep func(assay.Event) bool, change func(assay.Searcher, int) assay.Searcher,
) {
	t.Helper()
	whole := store.NewMem()
	begin := func(st assay.Store) *study.Study {
		s := newStudy(t, st, 12)
		if s.Parallel = parallel; parallel == 1 { // several that run begin anew, and may end in another order
			s.Searcher = &heedful{}
		}
		return s
	}
	want := mustRun(t, begin(whole))
	var events []assay.Event
	for e := range whole.Events(t.Context(), "s", 0) {
		events = append(events, e)
	}
	asked, ended := 0, 0
	for k, next := range events {
		s := begin(kept(t, whole, k, keep))
		if change != nil {
			s.Searcher = change(s.Searcher, asked)
		}
		got := mustRun(t, s)
		if g, w := configs(got.Trials), configs(want.Trials); !slices.Equal(g, w) {
			t.Errorf("killed after %d events: ended with %v, want %v", k, g, w)
		}
		if ran := len(s.Runner.(*fake).ran); ran+ended != 12 || got.Replayed != ended {
			t.Errorf("killed after %d events: %d trials on record, of which %d are known, and %d runs", k, ended, got.Replayed,
				ran)
		}
		if next.Told != nil {
			ended++
		}
		if next.Asked != nil {
			asked++
		}
	}
}

// heedful is a searcher whose proposals come from all that it was told.
type heedful struct {
	asked int64
	sum   float64
}

func (h *heedful) Ask(n int) (ps []assay.Proposal, err error) {
	for range n {
		h.asked++
		ps = append(ps, assay.Proposal{ID: h.asked, Config: assay.Config{1 + float64((7*h.asked+11*int64(h.sum))%40)}})
	}
	return ps, nil
}

func (h *heedful) Tell(ts ...assay.Trial) error {
	for _, t := range ts {
		h.sum += t.Value * float64(t.ID)
	}
	return nil
}

func TestResumeAfterCancel(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		want := mustRun(t, newStudy(t, store.NewMem(), 12))
		st := store.NewMem()
		ctx, cancel := context.WithTimeout(t.Context(), 77*time.Second)
		defer cancel()
		s := newStudy(t, st, 12)
		part, err := s.Run(ctx)
		if !errors.Is(err, study.ErrInterrupted) || part.EndedBy != "interrupt" || len(part.Trials) == 0 {
			t.Fatalf("got %v, ended by %q, %d trials", err, part.EndedBy, len(part.Trials))
		}
		got := mustRun(t, newStudy(t, st, 12))
		if g, w := configs(got.Trials), configs(want.Trials); !slices.Equal(g, w) {
			t.Errorf("resumed study ran %v, want %v", g, w)
		}
		if got.Spent < part.Spent {
			t.Errorf("spent %v, less than %v before", got.Spent, part.Spent)
		}
	})
}

func TestReplaySaysWhereTheAlgorithmChanged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		mustRun(t, newStudy(t, st, 6))
		s := newStudy(t, st, 12)
		s.Searcher = &changed{inner: search.NewRandom(s.Space, 1), at: 4}
		_, err := s.Run(t.Context())
		var e *study.ReplayError
		if !errors.As(err, &e) || e.Stored.ID != 4 || e.Proposals != 3 {
			t.Fatalf("got %v", err)
		}
		t.Log(err)
		if len(s.Runner.(*fake).ran) != 0 {
			t.Error("something was run")
		}
	})
}

// changed proposes something else at its at-th proposal.
type changed struct {
	inner assay.Searcher
	n, at int
}

func (c *changed) Ask(n int) ([]assay.Proposal, error) {
	ps, err := c.inner.Ask(n)
	if c.n++; c.n == c.at {
		ps[0].Config = assay.Config{41 - ps[0].Config[0]}
	}
	return ps, err
}

func (c *changed) Tell(ts ...assay.Trial) error { return c.inner.Tell(ts...) }
