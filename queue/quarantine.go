package queue

import (
	"slices"

	"github.com/assay-run/assay"
)

// A machine is a worker as records name it.
type machine struct{ where, class string }

// A quarantine is why a worker takes nothing, and on the record of which studies that is.
type quarantine struct {
	why     string
	studies []string
}

// idle reports whether a worker under the order takes nothing.
func (o Order) idle() bool { return o.Drain || o.Quarantine }

// SetAside has a worker take nothing more until it is ordered to go on: what it measures has left what its
// class does, as the record of the study says. What runs there goes on.
func (r *Runner) SetAside(where, class, reason string) {
	f := r.f
	f.mu.Lock()
	f.setAside(r.m, machine{where, class}, reason)
	f.mu.Unlock()
	f.o.Warn("study " + r.m.Name + ": " + reason + ": it takes nothing more until assay workers resume " + where)
}

// setAside notes that a study has set a worker aside.
func (k *roster) setAside(m *member, who machine, why string) {
	q := k.quarantined[who]
	if q == nil {
		q = &quarantine{why: why}
		k.quarantined[who] = q
	}
	if !slices.Contains(q.studies, m.Name) {
		q.studies = append(q.studies, m.Name)
	}
	for _, w := range k.workers {
		k.obey(w)
	}
	k.slots = nil
}

// obey gives a worker the order that it was set aside, if it was.
func (k *roster) obey(w *worker) {
	if q := k.quarantined[machine{w.Label(), w.Class}]; q != nil {
		w.order.Quarantine, w.order.Why = true, q.why
	}
}

// goOn has a worker of an ID go on, if it was set aside: the records of the studies that did say so first, as far as
// these studies are here. The lock is held, but not while that is written.
func (f *Fleet) goOn(id string) error {
	w := f.workers[id]
	if w == nil {
		return nil
	}
	who := machine{w.Label(), w.Class}
	q := f.quarantined[who]
	if q == nil {
		return nil
	}
	for _, study := range slices.Clone(q.studies) {
		m := f.studies[study]
		if m == nil || m.left {
			continue
		}
		err := f.write(m, assay.Event{Drifted: &assay.Drift{Where: who.where, Class: who.class, Over: true}})
		if err != nil {
			return assay.WithClass(assay.ClassUnavailable, err)
		}
	}
	delete(f.quarantined, who)
	for _, o := range f.workers {
		if o.Label() == who.where && o.Class == who.class {
			o.order.Quarantine, o.order.Why = false, ""
		}
	}
	return nil
}
