package queue

import (
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
	"github.com/assay-run/assay/internal/proc"
)

// A roster has the known workers, their orders and their attempts. The lock of the Fleet guards it.
type roster struct {
	lease   time.Duration
	workers map[string]*worker
	orders  map[string]Order // in force, by the ID of the worker, which may not have called Hello yet
	placed  []*attempt       // at workers, in no order
	slots   map[group]int    // nil until they are counted; see slotsOf

	quarantined map[machine]*quarantine
}

// A group has the machines of one class that have one application.
type group struct{ app, class string }

// heardOf records the time of a worker's latest call.
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

// of reports whether an attempt belongs to a worker. After a restart only the worker's label is known, which another
// worker may share: the first one to call gets the attempt.
func (k *roster) of(a *attempt, worker string) bool {
	if a.worker != "" {
		return a.worker == worker
	}
	w := k.workers[worker]
	return w == nil || w.Label() == a.Worker
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

// there reports whether a worker has called recently: within two leases, or two hellos if leases are short. A worker
// that is shut out is not there.
func (k *roster) there(w *worker, now time.Time) bool {
	return w.shut.IsZero() && now.Sub(w.heard) <= max(2*k.lease, 2*proc.Paced(HelloEvery))
}

// slotsOf returns the number of slots for a study. The count is cached. It is refreshed when a worker or an order
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
				if w.MachineClass != "" {
					k.slots[group{name, w.MachineClass}] += w.Slots
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
		if !w.order.idle() && k.there(w, now) && w.has(g.app) && (g.class == "" || g.class == w.MachineClass) {
			n += max(w.Slots-w.running, 0)
		}
	}
	return n
}
