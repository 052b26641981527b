package queue

import (
	"slices"

	"github.com/assay-run/assay"
)

// A machine is a worker as records name it.
type machine struct{ where, class string }

// An aside is why a worker takes nothing, and on the record of which studies that is.
type aside struct {
	why     string
	studies []string
}

// idle reports whether a worker under the order takes nothing.
func (o Order) idle() bool { return o.Drain || o.Aside }

// SetAside has a worker take nothing more until it is ordered to go on: what it measures has left what its
// class does, as the record of the study says. What runs there goes on.
func (r *Runner) SetAside(where, class, reason string) {
	f := r.f
	f.mu.Lock()
	f.setAside(r.m, machine{where, class}, reason)
	f.mu.Unlock()
	f.o.Warn("study " + r.m.Name + ": " + reason + ": it takes nothing more until assay workers resume " + where)
}

// setAside notes that a study has set a worker aside. The lock is held.
func (f *Fleet) setAside(m *member, who machine, why string) {
	a := f.asides[who]
	if a == nil {
		a = &aside{why: why}
		f.asides[who] = a
	}
	if !slices.Contains(a.studies, m.Name) {
		a.studies = append(a.studies, m.Name)
	}
	for _, w := range f.workers {
		f.obeyAside(w)
	}
	f.slots = nil
}

// obeyAside gives a worker the order that it was set aside, if it was. The lock is held.
func (f *Fleet) obeyAside(w *worker) {
	if a := f.asides[machine{w.Label(), w.Class}]; a != nil {
		w.order.Aside, w.order.Why = true, a.why
	}
}

// letGoOn has a worker of an ID go on, if it was set aside.
func (f *Fleet) letGoOn(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.workers[id]; w != nil {
		return f.goOn(w)
	}
	return nil
}

// goOn has a worker go on that was set aside: the records of the studies that did say so first, as far as
// these studies are here. The lock is held, but not while that is written.
func (f *Fleet) goOn(w *worker) error {
	who := machine{w.Label(), w.Class}
	a := f.asides[who]
	if a == nil {
		return nil
	}
	for _, study := range slices.Clone(a.studies) {
		m := f.studies[study]
		if m == nil || m.left {
			continue
		}
		err := f.write(m, assay.Event{Drifted: &assay.Drift{Where: who.where, Class: who.class, Over: true}})
		if err != nil {
			return assay.WithClass(assay.ClassUnavailable, err)
		}
	}
	delete(f.asides, who)
	for _, o := range f.workers {
		if o.Label() == who.where && o.Class == who.class {
			o.order.Aside, o.order.Why = false, ""
		}
	}
	return nil
}
