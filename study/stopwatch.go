package study

import (
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A stopwatch is the time of a study: it goes on while a session runs, and stands before it,
// and in a pause. It is safe for concurrent use as far as the clock is.
type stopwatch struct {
	clock assay.Clock

	mu     sync.Mutex
	before time.Duration // spent at its last start
	began  time.Time     // when that was; zero while it stands
}

// read sets the time spent on record, while the stopwatch stands.
func (w *stopwatch) read(spent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = max(w.before, spent)
}

// start has it go on, as if since a time. One that goes is left as it is.
func (w *stopwatch) start(since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began.IsZero() {
		w.began = since
	}
}

// halt has it stand.
func (w *stopwatch) halt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.began = w.spent(), time.Time{}
}

// now returns the time, and the time that the study has spent.
func (w *stopwatch) now() (time.Time, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock.Now(), w.spent()
}

func (w *stopwatch) spent() time.Duration {
	if w.began.IsZero() {
		return w.before
	}
	return w.before + w.clock.Now().Sub(w.began)
}
