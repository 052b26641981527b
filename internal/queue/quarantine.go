package queue

import (
	"slices"

	"github.com/assay-run/assay"
)

// A machine is a worker as records name it.
type machine struct{ where, class string }

// A quarantine is the reason why a worker takes nothing, and the studies that have it on record.
type quarantine struct {
	why     string
	studies []string
}

// idle reports whether a worker under the order takes nothing.
func (o Order) idle() bool { return o.Drain || o.Quarantine }

// SetAside quarantines a worker until it is ordered to continue: by the record of the study, its measurements have
// drifted from the measurements of its class. Its current runs continue.
func (r *Runner) SetAside(where, class, reason string) {
	f := r.f
	f.mu.Lock()
	f.setAside(r.m, machine{where, class}, reason)
	f.mu.Unlock()
	f.o.Log.Warn(reason+": it takes nothing more until assay workers resume "+where, "study", r.m.Name)
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
	if q := k.quarantined[machine{w.Label(), w.MachineClass}]; q != nil {
		w.order.Quarantine, w.order.Why = true, q.why
	}
}

// goOn ends the quarantine of a worker. It first writes this to the records of the studies that set the worker aside,
// as far as these studies have joined. The lock is held, but released during the write.
func (f *Fleet) goOn(id string) error {
	w := f.workers[id]
	if w == nil {
		return nil
	}
	who := machine{w.Label(), w.MachineClass}
	q := f.quarantined[who]
	if q == nil {
		return nil
	}
	for _, study := range slices.Clone(q.studies) {
		m := f.studies[study]
		if m == nil || m.left {
			continue
		}
		err := f.write(m, assay.Event{Drifted: &assay.Drift{Worker: who.where, MachineClass: who.class, Over: true}})
		if err != nil {
			return assay.WithClass(assay.ClassUnavailable, err)
		}
	}
	delete(f.quarantined, who)
	for _, o := range f.workers {
		if o.Label() == who.where && o.MachineClass == who.class {
			o.order.Quarantine, o.order.Why = false, ""
		}
	}
	return nil
}
