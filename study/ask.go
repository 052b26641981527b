package study

import (
	"context"
	"errors"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// An asker has the searcher, and its proposals that do not run: the part of the loop that chooses the next run.
type asker struct {
	*session
	away whereabouts
	// open are on record and not started: by priority, the greatest first, then in the order in which they were asked.
	open      []assay.Proposal
	pending   pending
	cuts      int           // on record
	priority  map[int64]int // of trials, 0 for those that it lacks
	withdrawn map[int64]bool
	discarded map[int64]Discard // of withdrawn, those that can be restored
	recalled  recalled
}

// whereabouts has the state of the trials that the asker let go of.
type whereabouts interface {
	runs(id int64) bool                      // for the first time
	leaves(id int64) bool                    // it is being withdrawn
	state(id int64) (s assay.State, ok bool) // of a trial that has ended
	knows(c assay.Config) bool               // it runs, or has ended
}

// recalled is the state of a record that is being read.
type recalled struct {
	over     map[int64]bool
	discards []Discard // in the order of the withdrawals
	restored []int64
}

func newAsker(s *session, away whereabouts) *asker {
	return &asker{
		session: s, away: away, priority: map[int64]int{}, withdrawn: map[int64]bool{}, discarded: map[int64]Discard{},
		pending: pending{proposed: map[int64]bool{}}, recalled: recalled{over: map[int64]bool{}},
	}
}

// read takes in an event of the record.
func (a *asker) read(e assay.Event) {
	switch {
	case e.Asked != nil:
		a.open = append(a.open, *e.Asked)
		a.proposed(*e.Asked)
	case e.Told != nil:
		a.recalled.over[e.Told.ID] = true
	case e.Withdrawn != nil:
		a.recalled.over[e.Withdrawn.Trial] = true
		if !a.withdrawn[e.Withdrawn.Trial] {
			a.withdrawn[e.Withdrawn.Trial] = true
			a.recalled.discards = append(a.recalled.discards, Discard{Withdrawal: *e.Withdrawn, At: e.At})
		}
	case e.Given != nil:
		a.recalled.restored = append(a.recalled.restored, e.Given.Restores...)
		a.gave(e.Given.Configs)
	case e.Ordered != nil:
		a.rank(e.Ordered.Trial, e.Ordered.Priority)
	case e.Pruned != nil:
		a.cuts++
	}
}

// resume leaves the proposals open that neither ended nor were withdrawn, at the end of the record.
func (a *asker) resume() {
	a.recallDiscards(a.recalled.discards, a.recalled.restored)
	over := a.recalled.over
	// Without its capacity: a long record has many that are over.
	a.open = slices.Clone(slices.DeleteFunc(a.open, func(p assay.Proposal) bool { return over[p.ID] }))
	a.recalled = recalled{}
}

// next takes the proposal that is to run next.
func (a *asker) next() (p assay.Proposal, ok bool) {
	if len(a.open) == 0 {
		return p, false
	}
	p = a.open[0]
	a.open = a.open[1:]
	return p, true
}

// attached takes the open trials with a run that has begun and is alive, or has ended unseen: even a paused session
// takes their results.
func (a *asker) attached() (all []assay.Proposal) {
	a.open = slices.DeleteFunc(a.open, func(p assay.Proposal) bool {
		begun := a.record.begun(p.ID)
		if begun {
			all = append(all, p)
		}
		return begun
	})
	return all
}

// takeAll takes all that is open.
func (a *asker) takeAll() []assay.Proposal {
	open := a.open
	a.open = nil
	return open
}

// waiting returns how many proposals are open.
func (a *asker) waiting() int { return len(a.open) }

// tell passes trials that are on record to the searcher.
func (a *asker) tell(trials ...assay.Trial) error {
	for _, t := range trials {
		if err := a.Searcher.Tell(t); err != nil {
			return err
		}
	}
	return nil
}

// tellRedone passes a run that takes the place of another to the searcher.
func (a *asker) tellRedone(t assay.Trial) error { return search.Redone(a.Searcher, t) }

// ask asks the searcher for n proposals at once and records them as one batch before they are open. It returns done
// if the search is done; there are no proposals either if the search waits for a trial that runs. full is true if the
// budget of trials has no room.
//
// The searcher is asked for as many as there is room for, so that repetitions can be interleaved and the points of
// one poll run side by side. The events record the number, so that a replay makes the same calls.
//
// Cuts come before the proposals in the record, since the searcher made them before it proposed.
func (a *asker) ask(ctx context.Context, n int, full bool) (done bool, err error) {
	ps, err := a.Searcher.Ask(n)
	if errors.Is(err, assay.ErrDone) {
		return true, nil
	}
	if err != nil || len(ps) == 0 {
		return false, err
	}
	if err := a.record.append(ctx, append(a.newCuts(), search.Asked(a.Searcher, n, ps)...)...); err != nil {
		return false, err
	}
	a.open = append(a.open, ps...)
	a.hope(a.proposed(ps...), full)
	return false, nil
}

// newCuts returns the events of the cuts of the space since the last call.
func (a *asker) newCuts() (events []assay.Event) {
	if a.Cuts == nil {
		return nil
	}
	all := a.Cuts()
	for ; a.cuts < len(all); a.cuts++ {
		events = append(events, assay.Event{Pruned: &all[a.cuts]})
	}
	return events
}

// priorityOf returns the priority of a trial.
func (a *asker) priorityOf(id int64) int { return a.priority[id] }

// isWithdrawn reports whether a trial was withdrawn.
func (a *asker) isWithdrawn(id int64) bool { return a.withdrawn[id] }
