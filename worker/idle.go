package worker

import "time"

// wanted drains a worker that nobody has wanted anything of for as long as Options.Idle says, until over is closed.
// What it holds, such as machines of a cluster, is somebody else's then.
func (w *worker) wanted(over <-chan struct{}) {
	for {
		w.mu.Lock()
		left := w.Idle
		if w.runs == 0 {
			left -= time.Since(w.idle)
		}
		w.mu.Unlock()
		if left <= 0 {
			w.out.f("there was nothing to run for %v: the worker ends", w.Idle)
			w.drain()
			return
		}
		t := time.NewTimer(left)
		select {
		case <-t.C:
		case <-over:
			t.Stop()
			return
		}
	}
}
