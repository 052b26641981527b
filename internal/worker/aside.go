package worker

import (
	"context"

	"github.com/assay-run/assay/internal/queue"
)

// setAside starts or ends the quarantine of the worker, as ordered in the reply to a hello. Slots that wait for a
// ticket stop waiting, so that no ticket is held until its lease ends.
func (w *worker) setAside(o queue.Order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case o.Quarantine && w.aside == nil:
		w.aside = make(chan struct{})
		w.endWaits()
		w.out.f("set aside by the server: %s; nothing more is taken until it is to go on", o.Why)
	case !o.Quarantine && w.aside != nil:
		close(w.aside)
		w.aside = nil
		w.waits, w.endWaits = context.WithCancel(w.take)
		w.out.f("the worker goes on")
	}
}

// next waits for a ticket, until the worker takes nothing more or is in quarantine.
func (w *worker) next() (queue.Delivery, error) {
	w.mu.Lock()
	ctx := w.waits
	w.mu.Unlock()
	return w.Carrier.Take(ctx, w.self.Apps, w.self.MachineClass)
}

// isAside returns a channel that is closed when the quarantine ends; nil if the worker is not in quarantine.
func (w *worker) isAside() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.aside
}

// waitAside waits while the worker is in quarantine. It returns false if the worker takes nothing more.
func (w *worker) waitAside() bool {
	aside := w.isAside()
	if aside == nil {
		return true
	}
	select {
	case <-aside:
		return true
	case <-w.take.Done():
		return false
	}
}
