package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A Runner makes the runs of one study on a [Fleet]. Its runs outlive their callers, and
// the server too. A job without an attempt in its ID is a run of its own.
//
// What ends the context of a run is told apart by its cause:
//
//   - [assay.ErrDetached] leaves the run alone, and takes back one that has not begun.
//   - An error with a method Stops() bool says itself whether the measurement so far is to
//     be kept, as that of a stopping rule.
//   - Of any other, [context.Canceled], [context.DeadlineExceeded] and errors of the class
//     conflict cancel the run, from which nothing is learned then; the rest stop it.
type Runner struct {
	f *Fleet
	m *member
}

var (
	_ assay.Runner    = (*Runner)(nil)
	_ assay.Capacitor = (*Runner)(nil)
)

// A waiter is one call of Run.
type waiter struct {
	r        *run
	asked    int // the attempt
	interval time.Duration
	seen     time.Duration     // up to where the run was observed
	cause    error             // of the context, once it is done
	so       assay.Measurement // that was observed last
	beats    chan observation  // nil if nobody observes
	left     chan struct{}     // closed when Run returns
	done     chan struct{}     // closed when m and err are known
	m        assay.Measurement
	err      error
}

// An observation is a measurement so far on its way to whoever observes.
type observation struct {
	m    assay.Measurement
	seen chan struct{} // closed when it was observed
}

// finish lets a call of Run return. The lock is held.
func (w *waiter) finish(m assay.Measurement, err error) {
	w.r.waiters = slices.DeleteFunc(w.r.waiters, func(o *waiter) bool { return o == w })
	w.m, w.err = m, err
	close(w.done)
}

// errClosed is the error of a Runner that is closed.
var errClosed = assay.Errorf(assay.ClassConflict, "the study has left the fleet")

// Run implements [assay.Runner]. Run of an attempt that is booked returns its outcome, or
// that of another attempt at the run which counts.
func (r *Runner) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	if ctx.Err() != nil {
		return assay.Measurement{}, context.Cause(ctx)
	}
	w, err := r.begin(job, observe != nil)
	if err != nil {
		return assay.Measurement{}, err
	}
	defer close(w.left)
	ended := ctx.Done()
	var patience <-chan time.Time
	for {
		select {
		case <-w.done:
			return w.m, w.err
		case o := <-w.beats:
			observe(o.m)
			if ctx.Err() != nil && ended != nil { // before the beat is answered
				ended = nil
				if r.f.leave(w, context.Cause(ctx)) {
					close(o.seen)
					return w.m, w.err
				}
				patience = time.After(r.f.o.Lease)
			}
			close(o.seen)
		case <-ended:
			ended = nil
			if r.f.leave(w, context.Cause(ctx)) {
				return w.m, w.err
			}
			patience = time.After(r.f.o.Lease)
		case <-patience:
			r.f.giveUp(w)
		}
	}
}

// begin finds the run of a job or makes it, and waits for it.
func (r *Runner) begin(job assay.Job, observes bool) (*waiter, error) {
	f, m := r.f, r.m
	if m.App != Commands && (job.Prepare != nil || job.Cleanup != nil || job.Setup != nil || job.Service != nil ||
		job.Verify != nil) {
		return nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "%w: study %q brings commands of its own, "+
			"but runs the application %q of the workers", assay.ErrSetup, m.Name, m.App),
			"leave out prepare, cleanup, setup, service and verify")
	}
	f.mu.Lock()
	defer f.unlock()
	if m.left {
		return nil, errClosed
	}
	id := job.ID
	if id.Attempt <= 0 {
		m.unnamed++
		id = assay.RunID{Repeat: m.unnamed, Attempt: 1}
	}
	key := runKey{id.Trial, id.Repeat}
	if counts, known := m.told[attemptKey{key, id.Attempt}]; known {
		return nil, assay.Errorf(assay.ClassConflict, "trial %d of study %q: the outcome was handed over before "+
			"(of attempt %d: %v)", id.Trial, m.Name, id.Attempt, counts)
	}
	u := m.runs[key]
	if u == nil {
		u = &run{m: m, key: key}
		m.runs[key] = u
	}
	u.job, u.parted, u.over, u.want, u.idle = job, false, false, "", time.Time{}
	if p, ok := m.priorities[id.Trial]; ok {
		u.job.Priority = p
	}
	w := &waiter{r: u, asked: id.Attempt, interval: job.Interval, left: make(chan struct{}), done: make(chan struct{})}
	if observes && job.Interval > 0 {
		w.beats = make(chan observation)
	}
	u.waiters = append(u.waiters, w)
	f.settle(u)
	return w, nil
}

// handedKept is how many runs of a study that were handed over are kept at least, so that they can
// be asked for once more: twice as many as are open, and these.
const handedKept = 8

// handed notes that a run which counts was handed over. The lock is held.
func (f *Fleet) handed(r *run) {
	m := r.m
	if r.counted == nil || slices.Contains(m.handed, r.key) {
		return
	}
	m.handed = append(m.handed, r.key)
	for range 2 { // so that there are fewer again when fewer are open
		if open := len(m.runs) - len(m.handed); len(m.handed) <= handedKept+2*open {
			return
		}
		if old := m.runs[m.handed[0]]; old != nil && !old.forget() {
			m.handed = append(m.handed, old.key) // an attempt at it is still alive
		}
		m.handed = m.handed[1:]
	}
}

// leave ends what a call of Run waits for, whose context is done. It reports whether Run
// returns now; it waits for the outcome otherwise.
func (f *Fleet) leave(w *waiter, cause error) bool {
	f.mu.Lock()
	defer f.unlock()
	select {
	case <-w.done:
		return true
	default:
	}
	r := w.r
	w.cause = cause
	if errors.Is(cause, assay.ErrDetached) {
		w.finish(assay.Measurement{}, cause)
		r.parted = true
	} else if len(r.waiters) > 1 {
		w.finish(r.last(stops(cause)), cause) // the run is for the others
	}
	if len(r.waiters) == 0 {
		f.withdraw(r)
		if len(r.attempts) == 0 {
			delete(r.m.runs, r.key)
		}
	}
	if w.gone() {
		return true
	}
	r.want = Cancel
	if stops(cause) {
		r.want = Stop
	}
	f.withdraw(r)
	if r.alive() == nil {
		w.giveUp()
		if len(r.attempts) == 0 {
			delete(r.m.runs, r.key)
		}
	}
	return w.gone()
}

// giveUp ends a call of Run that is to end, with what was seen so far. Another outcome of
// the run does not count any more. The lock is held.
func (w *waiter) giveUp() {
	w.r.over = true
	m := w.r.last(stops(w.cause))
	if m.Elapsed < w.so.Elapsed {
		m = w.so
	}
	w.finish(m, w.cause)
}

// gone reports whether the outcome of a call of Run is known.
func (w *waiter) gone() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// giveUp ends the wait for the outcome of a run that was to be ended: its worker is heard
// of and does not obey. An outcome that is being written is what the run has come to.
func (f *Fleet) giveUp(w *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w.r.busy != nil && !w.gone() {
		busy := w.r.busy
		f.mu.Unlock()
		select {
		case <-busy:
		case <-w.done:
		}
		f.mu.Lock()
	}
	if !w.gone() {
		w.giveUp()
	}
}

// stops reports whether a cause keeps the measurement so far; see [Runner].
func stops(cause error) bool {
	var s interface{ Stops() bool }
	switch {
	case errors.As(cause, &s):
		return s.Stops()
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return false
	}
	return assay.ClassOf(cause) != assay.ClassConflict
}

// withdraw takes back what is open of a run. The lock is held.
func (f *Fleet) withdraw(r *run) {
	for _, a := range slices.Clone(r.attempts) {
		if a.state == open {
			f.shut(a)
			r.attempts = slices.DeleteFunc(r.attempts, func(o *attempt) bool { return o == a })
		}
	}
}

// Capacity implements [assay.Capacitor]: Parallel, or else the slots of the workers that
// can run the study, at least 1.
func (r *Runner) Capacity() int {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if r.m.Parallel > 0 {
		return r.m.Parallel
	}
	return max(1, r.f.slotsOf(r.m))
}

// Place has runs of a study of the class "any" begin on machines of a class alone from now on, or on any
// again if it is "". It changes nothing for another study, and nothing of what runs.
func (r *Runner) Place(class string) {
	f, m := r.f, r.m
	f.mu.Lock()
	defer f.unlock()
	if m.Class != ClassAny || m.class == class {
		return
	}
	f.keepTo(m, class)
}

// SetPriority changes the priority of the study among studies.
func (r *Runner) SetPriority(p int) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.m.Priority = p
}

// Close takes the study out of the fleet. Calls of Run that still wait are let go, as
// with [assay.ErrDetached]. The workers whose runs were let go are told to ask again
// later, until the study joins again; what else runs is cancelled.
func (r *Runner) Close() {
	f, m := r.f, r.m
	f.mu.Lock()
	defer f.unlock()
	if m.left {
		return
	}
	m.left = true
	delete(f.studies, m.Name)
	for _, key := range slices.SortedFunc(maps.Keys(m.runs), runKey.compare) {
		u := m.runs[key]
		for _, w := range slices.Clone(u.waiters) {
			w.finish(assay.Measurement{}, assay.ErrDetached)
			u.parted = true
		}
		f.withdraw(u)
		for _, a := range u.attempts {
			if a.state == placed {
				f.unplace(a)
			}
			if a.alive() && u.parted && !u.over && u.counted == nil {
				f.parted[m.Name] = true
			}
		}
	}
}
