package study

import (
	"cmp"
	"context"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// give records configurations that a person gave and hands them to the searcher.
func (a *asker) give(ctx context.Context, configs []assay.Config, by string) error {
	giver, ok := assay.As[assay.Enqueuer](a.Searcher)
	if !ok {
		return assay.Errorf(assay.ClassUsage, "the search of study %q takes no configurations", a.Name)
	}
	batch, err := NewBatch(a.Space, configs, by)
	if err != nil {
		return err
	}
	if err := a.record.append(ctx, assay.Event{Given: batch}); err != nil {
		return err
	}
	a.handOver(giver, batch.Configs)
	return nil
}

// handOver has the searcher propose configurations that a person wants, which are on record.
func (a *asker) handOver(to assay.Enqueuer, configs []assay.Config) {
	to.Enqueue(configs)
	a.gave(configs)
}

// order records the priority of trials that have not ended.
func (a *asker) order(ctx context.Context, trials []int64, priority int, by string) error {
	if err := a.unended(trials); err != nil {
		return err
	}
	events := make([]assay.Event, len(trials))
	for i, id := range trials {
		events[i].Ordered = &assay.Order{Trial: id, Priority: priority, By: by}
	}
	if len(events) == 0 {
		return nil
	}
	if err := a.record.append(ctx, events...); err != nil {
		return err
	}
	for _, id := range trials {
		a.rank(id, priority)
	}
	return nil
}

// rank gives a trial a priority, and the open ones their order.
func (a *asker) rank(trial int64, priority int) {
	a.priority[trial] = priority
	slices.SortFunc(a.open, func(p, q assay.Proposal) int {
		return cmp.Or(cmp.Compare(a.priority[q.ID], a.priority[p.ID]), cmp.Compare(p.ID, q.ID))
	})
}

// unended returns an error unless all trials wait or run.
func (a *asker) unended(trials []int64) error {
	for _, id := range trials {
		if a.isOpen(id) || a.away.runs(id) {
			continue
		}
		if state, ended := a.away.state(id); ended {
			return assay.Errorf(assay.ClassConflict, "trial %d has ended: %v", id, state)
		}
		if a.withdrawn[id] {
			return assay.Errorf(assay.ClassConflict, "trial %d was withdrawn", id)
		}
		return assay.Errorf(assay.ClassNotFound, "study %q has no trial %d", a.Name, id)
	}
	return nil
}

// find returns an open proposal.
func (a *asker) find(id int64) (p assay.Proposal, ok bool) {
	if i := slices.IndexFunc(a.open, func(p assay.Proposal) bool { return p.ID == id }); i >= 0 {
		return a.open[i], true
	}
	return p, false
}

func (a *asker) isOpen(id int64) bool {
	_, ok := a.find(id)
	return ok
}

// A withdrawal is one with the proposal that it takes back.
type withdrawal struct {
	assay.Proposal
	assay.Withdrawal
}

// takenBack takes in a withdrawal that is on record.
func (a *asker) takenBack(w withdrawal) error {
	a.open = slices.DeleteFunc(a.open, func(p assay.Proposal) bool { return p.ID == w.ID })
	a.withdrawn[w.ID] = true
	a.discard(Discard{w.Proposal, w.Withdrawal, a.clock.Now()})
	err := a.tell(search.Withdrawn(w.Proposal))
	if err != nil {
		a.record.fail(err)
	}
	return err
}
