package study

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// listed proposes the configurations of a list, and those that it is given first.
type listed struct {
	next  []assay.Config
	last  int64
	heard []assay.Trial
	err   error
}

func (s *listed) Ask(n int) (ps []assay.Proposal, err error) {
	if len(s.next) == 0 {
		return nil, assay.ErrDone
	}
	for ; n > 0 && len(s.next) > 0; n-- {
		s.last++
		ps = append(ps, assay.Proposal{ID: s.last, Config: s.next[0]})
		s.next = s.next[1:]
	}
	return ps, nil
}

func (s *listed) Tell(ts ...assay.Trial) error {
	s.heard = append(s.heard, ts...)
	return s.err
}

func (s *listed) Enqueue(configs []assay.Config) { s.next = append(slices.Clone(configs), s.next...) }

// away is where trials are that an asker let go of.
type away struct {
	running, leaving []int64
	over             map[int64]assay.State
	known            []assay.Config
}

func (a *away) runs(id int64) bool   { return slices.Contains(a.running, id) }
func (a *away) leaves(id int64) bool { return slices.Contains(a.leaving, id) }
func (a *away) state(id int64) (assay.State, bool) {
	s, ok := a.over[id]
	return s, ok
}
func (a *away) knows(c assay.Config) bool { return slices.ContainsFunc(a.known, c.Equal) }

// recorded returns the session of an empty study of a number from 1 to 9, in a store.
func recorded(t *testing.T, s *Study) *session {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	s.Name, s.Space, s.Store = "s", space, store.NewMem()
	if err := s.Store.Create(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	n := newSession(s)
	j, err := s.Journal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n.record.open(j)
	return n
}

// kinds returns the kinds of the events on record.
func kinds(t *testing.T, s *session) (all []string) {
	t.Helper()
	for e, err := range s.Store.Events(context.Background(), "s", 0) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Asked != nil:
			all = append(all, "asked")
		case e.Given != nil:
			all = append(all, "given")
		case e.Ordered != nil:
			all = append(all, "ordered")
		case e.Steered != nil:
			all = append(all, "steered")
		}
	}
	return all
}

// Proposals are on record before they are open, go in the order of their priorities, and a given configuration is owed
// until it runs, also beyond the budget.
func TestAsker(t *testing.T) {
	search := &listed{next: []assay.Config{{1}, {2}, {3}}}
	where := &away{known: []assay.Config{{8}}}
	a := newAsker(recorded(t, &Study{Searcher: search}), where)
	if done, err := a.ask(t.Context(), 2, false); done || err != nil || a.waiting() != 2 {
		t.Fatalf("done %v, %v, %d open", done, err, a.waiting())
	}
	if err := a.order(t.Context(), []int64{2}, 5, "ada"); err != nil || a.priorityOf(2) != 5 {
		t.Fatal(err)
	}
	if p, ok := a.next(); !ok || p.ID != 2 {
		t.Errorf("next is %v", p)
	}
	if err := a.give(t.Context(), []assay.Config{{7}, {8}, {1}}, "ada"); err != nil || a.owes() != 1 {
		t.Errorf("%v: %d are owed; of three given one runs elsewhere and one is open", err, a.owes())
	}
	if err := a.order(t.Context(), []int64{2}, 1, "ada"); assay.ClassOf(err) != assay.ClassNotFound {
		t.Errorf("a trial that is nowhere: %v", err)
	}
	where.over = map[int64]assay.State{2: assay.Done}
	if err := a.order(t.Context(), []int64{2}, 1, "ada"); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("a trial that has ended: %v", err)
	}
	if _, err := a.ask(t.Context(), 1, true); err != nil || a.owes() != 1 || a.waiting() != 2 {
		t.Errorf("%v: %d owed, %d open; what is owed is proposed, and waits", err, a.owes(), a.waiting())
	}
	if p := a.takeAll(); len(p) != 2 || p[1].Config[0] != 7 || a.owes() != 0 {
		t.Errorf("open are %v, %d owed", p, a.owes())
	}
	if want := []string{"asked", "asked", "ordered", "given", "asked"}; !slices.Equal(kinds(t, a.session), want) {
		t.Errorf("on record is %v, want %v", kinds(t, a.session), want)
	}
}

// The asker gives up an owed configuration after a few batches beyond the budget without it.
func TestAskerGivesUpHope(t *testing.T) {
	a := newAsker(recorded(t, &Study{Searcher: &listed{}}), &away{})
	a.gave([]assay.Config{{7}})
	for range mostOvertime {
		a.hope(false, true)
	}
	if a.hope(false, false); a.owes() != 1 {
		t.Error("given up too early")
	}
	if a.hope(false, true); a.owes() != 0 {
		t.Error("it hopes for ever")
	}
}

// A withdrawn trial is not open, the searcher gets it, and it can be restored once. An error of the searcher
// ends the session.
func TestAskerTakesBack(t *testing.T) {
	search := &listed{next: []assay.Config{{1}, {2}}}
	a := newAsker(recorded(t, &Study{Searcher: search}), &away{})
	if _, err := a.ask(t.Context(), 2, false); err != nil {
		t.Fatal(err)
	}
	p, _ := a.find(1)
	if err := a.takenBack(withdrawal{p, assay.Withdrawal{Trial: 1}}); err != nil || a.isOpen(1) || !a.isWithdrawn(1) {
		t.Errorf("%v: open %v, withdrawn %v", err, a.isOpen(1), a.isWithdrawn(1))
	}
	if len(search.heard) != 1 || search.heard[0].State != assay.Withdrawn {
		t.Errorf("the searcher heard %v", search.heard)
	}
	if given, err := a.restore(t.Context(), []int64{1}, "ada"); !given || err != nil || search.next[0][0] != 1 {
		t.Errorf("restored: %v, %v, next are %v", given, err, search.next)
	}
	if _, err := a.restore(t.Context(), []int64{1}, "ada"); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("restored twice: %v", err)
	}
	search.err = errors.New("broken")
	p, _ = a.find(2)
	err := a.takenBack(withdrawal{p, assay.Withdrawal{Trial: 2}})
	if err == nil || !errors.Is(a.record.failed(), search.err) {
		t.Errorf("%v; the session ends with %v", err, a.record.failed())
	}
}
