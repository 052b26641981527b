package worker

import "github.com/assay-run/assay/queue"

// setAside has the worker take nothing, or go on, as the server says: it hears of either with an answer to
// its hello.
func (w *worker) setAside(o queue.Order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case o.Quarantine && w.aside == nil:
		w.aside = make(chan struct{})
		w.out.f("set aside by the server: %s; nothing more is taken until it is to go on", o.Why)
	case !o.Quarantine && w.aside != nil:
		close(w.aside)
		w.aside = nil
		w.out.f("the worker goes on")
	}
}

// isAside returns what is closed when the worker goes on; nil if it was not set aside.
func (w *worker) isAside() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.aside
}

// waitAside waits while the worker is set aside. It returns false if nothing more is to be taken.
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
