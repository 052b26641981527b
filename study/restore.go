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

// Restore undoes what Order and Withdraw did to trials that no attempt has begun at. One that waits
// goes back to where it would be without an order. In place of one that was withdrawn its
// configuration is proposed next, as a trial with a number of its own, see [assay.Batch.Restores]:
// that the other was taken back has been heard of, and stays on record.
//
// A trial that is not known is an error of the class not found; one that has begun, or of which
// nothing is to be undone, is one of the class conflict. Nothing is undone then.
func (h *Helm) Restore(ctx context.Context, by string, trials ...int64) error {
	trials = unique(trials)
	return h.command(ctx, func(ctx context.Context, l *loop, answer func(error)) {
		answer(l.restore(ctx, trials, by))
	})
}

// Discarded returns the trials that can be restored, the earliest first. It does not wait for the
// loop.
func (h *Helm) Discarded() []Discard {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.discarded)
}

// restore records that orders and withdrawals are undone, in one step, and obeys.
func (l *loop) restore(ctx context.Context, trials []int64, by string) error {
	var events []assay.Event
	batch := assay.Batch{By: by}
	var waiting []int64
	for _, id := range trials {
		switch d, ok := l.discarded[id]; {
		case ok:
			batch.Configs = append(batch.Configs, d.Config)
			batch.Restores = append(batch.Restores, id)
		case l.withdrawn[id] && l.journal.claimed(id):
			return assay.WithHint(assay.Errorf(assay.ClassConflict, "trial %d had begun before it was withdrawn", id),
				"assay study add gives its configuration again")
		case l.withdrawn[id]:
			return assay.Errorf(assay.ClassConflict, "trial %d was restored before", id)
		default:
			if err := l.unended([]int64{id}); err != nil {
				return err
			}
			if l.journal.begun(id) {
				return assay.Errorf(assay.ClassConflict, "trial %d has begun", id)
			}
			if _, leaves := l.leaving[id]; leaves {
				return assay.Errorf(assay.ClassConflict, "trial %d is being withdrawn", id)
			}
			if l.priority[id] == 0 {
				return assay.Errorf(assay.ClassConflict, "trial %d waits where it was: nothing is to be undone", id)
			}
			events = append(events, assay.Event{Ordered: &assay.Order{Trial: id, By: by}})
			waiting = append(waiting, id)
		}
	}
	giver, ok := assay.As[assay.Giver](l.Searcher)
	if len(batch.Configs) > 0 {
		if !ok {
			return assay.Errorf(assay.ClassUsage, "the search of study %q takes no configurations", l.Name)
		}
		events = append(events, assay.Event{Given: &batch})
	}
	if len(events) == 0 {
		return nil
	}
	if err := l.append(ctx, events...); err != nil {
		return err
	}
	for _, id := range waiting {
		l.rank(id, 0)
	}
	for _, id := range batch.Restores {
		delete(l.discarded, id)
	}
	if len(batch.Configs) > 0 {
		l.handOver(giver, batch.Configs)
	}
	l.showDiscarded()
	return nil
}

// discard notes that a trial was withdrawn, which can be undone unless it has begun.
func (l *loop) discard(d Discard) {
	if l.journal.claimed(d.ID) {
		return
	}
	l.discarded[d.ID] = d
	l.showDiscarded()
}

// recallDiscards finds out what can be restored by the record: what was withdrawn, in order, and
// what was restored. The open trials must still have those that were withdrawn.
func (l *loop) recallDiscards(all []Discard, restored []int64) {
	if len(all) == 0 {
		return
	}
	for _, d := range all {
		l.discarded[d.Trial] = d
	}
	for _, p := range l.open {
		if d, ok := l.discarded[p.ID]; ok {
			d.Proposal = p
			l.discarded[p.ID] = d
		}
	}
	for _, id := range restored {
		delete(l.discarded, id)
	}
	for t := range l.judge.all(0) { // one that had ended was not withdrawn
		delete(l.discarded, t.ID)
	}
	maps.DeleteFunc(l.discarded, func(id int64, d Discard) bool { return d.Config == nil || l.journal.claimed(id) })
	l.showDiscarded()
}

// showDiscarded hands what can be restored to the helm.
func (l *loop) showDiscarded() {
	if l.Helm == nil {
		return
	}
	all := slices.SortedFunc(maps.Values(l.discarded), func(a, b Discard) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	l.Helm.mu.Lock()
	defer l.Helm.mu.Unlock()
	l.Helm.discarded = all
}
