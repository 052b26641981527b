package worker

import "time"

// wanted drains a worker that has had no work for Options.Idle. It returns when over is closed. This releases the
// worker's resources, such as machines of a cluster.
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
