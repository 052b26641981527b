package study

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A Discard is a trial that was withdrawn before a run of it had begun: it can be restored.
type Discard struct {
	assay.Proposal
	assay.Withdrawal
	At time.Time
}

// Restore undoes the effect of Order and Withdraw on trials without an attempt. A waiting trial goes back to its
// place without an order. In place of a withdrawn trial its configuration is proposed next, as a trial with a number
// of its own, see [assay.Batch.Restores]: the searcher knows of the withdrawal, which stays on record.
//
// A trial that is not known is an error of the class not found; one that has begun, or with nothing to undo, is one
// of the class conflict. Nothing is undone then.
func (h *Control) Restore(ctx context.Context, by string, trials ...int64) error {
	trials = unique(trials)
	return h.command(ctx, func(ctx context.Context, l *loop, answer func(error)) {
		answer(l.restore(ctx, trials, by))
	})
}

// Discarded returns the trials that can be restored, the earliest first. It does not wait for the
// loop.
func (h *Control) Discarded() []Discard {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.discarded)
}

// restore records that orders and withdrawals are undone, in one step, and obeys. It returns whether
// configurations were given.
func (a *asker) restore(ctx context.Context, trials []int64, by string) (given bool, err error) {
	var events []assay.Event
	batch := assay.Batch{By: by}
	var waiting []int64
	for _, id := range trials {
		switch d, ok := a.discarded[id]; {
		case ok:
			batch.Configs = append(batch.Configs, d.Config)
			batch.Restores = append(batch.Restores, id)
		case a.withdrawn[id] && a.record.claimed(id):
			return false, assay.WithHint(assay.Errorf(assay.ClassConflict, "trial %d had begun before it was withdrawn", id),
				"assay study add gives its configuration again")
		case a.withdrawn[id]:
			return false, assay.Errorf(assay.ClassConflict, "trial %d was restored before", id)
		default:
			if err := a.unended([]int64{id}); err != nil {
				return false, err
			}
			if a.record.begun(id) {
				return false, assay.Errorf(assay.ClassConflict, "trial %d has begun", id)
			}
			if a.away.leaves(id) {
				return false, assay.Errorf(assay.ClassConflict, "trial %d is being withdrawn", id)
			}
			if a.priority[id] == 0 {
				return false, assay.Errorf(assay.ClassConflict, "trial %d waits at its own place: there is nothing to undo", id)
			}
			events = append(events, assay.Event{Ordered: &assay.Order{Trial: id, By: by}})
			waiting = append(waiting, id)
		}
	}
	giver, ok := assay.As[assay.Enqueuer](a.Searcher)
	if len(batch.Configs) > 0 {
		if !ok {
			return false, assay.Errorf(assay.ClassUsage, "the search of study %q takes no configurations", a.Name)
		}
		events = append(events, assay.Event{Given: &batch})
	}
	if len(events) == 0 {
		return given, nil
	}
	if err := a.record.append(ctx, events...); err != nil {
		return false, err
	}
	for _, id := range waiting {
		a.rank(id, 0)
	}
	for _, id := range batch.Restores {
		delete(a.discarded, id)
	}
	if len(batch.Configs) > 0 {
		a.handOver(giver, batch.Configs)
	}
	a.showDiscarded()
	return len(batch.Configs) > 0, nil
}

// discard notes that a trial was withdrawn, which can be undone unless it has begun.
func (a *asker) discard(d Discard) {
	if a.record.claimed(d.ID) {
		return
	}
	a.discarded[d.ID] = d
	a.showDiscarded()
}

// recallDiscards finds the trials that can be restored by the record: the withdrawn ones, in order, and the restored
// ones. The open trials must still include the withdrawn ones.
func (a *asker) recallDiscards(all []Discard, restored []int64) {
	if len(all) == 0 {
		return
	}
	for _, d := range all {
		a.discarded[d.Trial] = d
	}
	for _, p := range a.open {
		if d, ok := a.discarded[p.ID]; ok {
			d.Proposal = p
			a.discarded[p.ID] = d
		}
	}
	for _, id := range restored {
		delete(a.discarded, id)
	}
	maps.DeleteFunc(a.discarded, func(id int64, d Discard) bool {
		_, ended := a.away.state(id) // one that had ended was not withdrawn
		return d.Config == nil || ended || a.record.claimed(id)
	})
	a.showDiscarded()
}

// showDiscarded hands the trials that can be restored to the [Control].
func (a *asker) showDiscarded() {
	if a.Control == nil {
		return
	}
	all := slices.SortedFunc(maps.Values(a.discarded), func(a, b Discard) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	a.Control.mu.Lock()
	defer a.Control.mu.Unlock()
	a.Control.discarded = all
}
