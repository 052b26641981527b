package queue

import (
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
	"github.com/assay-run/assay/internal/pace"
)

// A roster is the workers that are known, what they are to do, and what they are at. The lock of the Fleet guards it.
type roster struct {
	lease   time.Duration
	workers map[string]*worker
	orders  map[string]Order // that hold, by the ID of the worker, which may not have said hello yet
	placed  []*attempt       // at workers, in no order
	slots   map[group]int    // nil until they are counted; see slotsOf

	quarantined map[machine]*quarantine
}

// A group is the machines of one class that have one application.
type group struct{ app, class string }

// heardOf notes that a worker was heard of.
func (k *roster) heardOf(id string, now time.Time) {
	if w := k.workers[id]; w != nil {
		w.heard = now
	}
}

// called returns the ID of a worker by that or its name.
func (k *roster) called(who string) (id string, err error) {
	if _, ordered := k.orders[who]; ordered || k.workers[who] != nil {
		return who, nil
	}
	var found []string
	for id, w := range k.workers {
		if w.Name == who {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", assay.Errorf(assay.ClassNotFound, "there is no worker %q", who)
	case 1:
		return found[0], nil
	}
	return "", assay.WithHint(assay.Errorf(assay.ClassConflict, "%d workers have the name %q", len(found), who),
		"name it by its ID")
}

// of reports whether an attempt is that of a worker. After a restart only its label is
// known, which another one may share: the first that is heard of has it then.
func (k *roster) of(a *attempt, worker string) bool {
	if a.worker != "" {
		return a.worker == worker
	}
	w := k.workers[worker]
	return w == nil || w.Label() == a.Where
}

// bind notes whose an attempt is that the record alone knew of.
func (k *roster) bind(a *attempt, id string) {
	if a.worker != "" {
		return
	}
	a.worker = id
	if w := k.workers[id]; w != nil && a.State == ledger.Placed {
		w.running++
	}
}

// place puts an attempt among those at workers.
func (k *roster) place(a *attempt, now time.Time) {
	a.State, a.index = ledger.Placed, len(k.placed)
	k.placed = append(k.placed, a)
	a.run.m.share.run(now, 1)
	if w := k.workers[a.worker]; w != nil {
		w.running++
	}
}

// unplace takes an attempt out of those at workers.
func (k *roster) unplace(a *attempt, now time.Time) {
	k.placed = drop(k.placed, a.index)
	if a.index < len(k.placed) {
		k.placed[a.index].index = a.index
	}
	a.run.m.share.run(now, -1)
	if w := k.workers[a.worker]; w != nil {
		w.running--
	}
}

// there reports whether a worker was heard of of late: within two leases, or two hellos if leases
// are short.
func (k *roster) there(w *worker, now time.Time) bool {
	return now.Sub(w.heard) <= max(2*k.lease, 2*pace.Of(HelloEvery))
}

// slotsOf returns how many slots there are for a study. The count is kept. It is made anew when a worker or an order
// changes, and at each look at the leases.
func (k *roster) slotsOf(m *member, now time.Time) int {
	if k.slots == nil {
		k.slots = map[group]int{}
		for _, w := range k.workers {
			if w.order.idle() || !k.there(w, now) {
				continue
			}
			for _, name := range w.Apps {
				k.slots[group{name, ""}] += w.Slots
				if w.Class != "" {
					k.slots[group{name, w.Class}] += w.Slots
				}
			}
		}
	}
	return k.slots[group{m.App, m.class}]
}

// room returns how many slots of a group of machines are free.
func (k *roster) room(g group, now time.Time) int {
	n := 0
	for _, w := range k.workers {
		if !w.order.idle() && k.there(w, now) && w.has(g.app) && (g.class == "" || g.class == w.Class) {
			n += max(w.Slots-w.running, 0)
		}
	}
	return n
}
