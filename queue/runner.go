package queue

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
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

// errClosed is the error of a Runner that is closed.
var errClosed = assay.Errorf(assay.ClassConflict, "the study has left the fleet")

// Run implements [assay.Runner]. Run of an attempt that is booked returns its outcome, or
// that of another attempt at the run which counts.
func (r *Runner) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	if ctx.Err() != nil {
		return assay.Measurement{}, context.Cause(ctx)
	}
	u, c, err := r.begin(job, observe != nil)
	if err != nil {
		return assay.Measurement{}, err
	}
	defer close(c.Left)
	ended := ctx.Done()
	var patience <-chan time.Time
	for {
		select {
		case <-c.Done:
			return c.M, c.Err
		case o := <-c.Beats:
			observe(o.M)
			if ctx.Err() != nil && ended != nil { // before the beat is answered
				ended = nil
				if r.f.leave(u, c, context.Cause(ctx)) {
					close(o.Seen)
					return c.M, c.Err
				}
				patience = time.After(r.f.o.Lease)
			}
			close(o.Seen)
		case <-ended:
			ended = nil
			if r.f.leave(u, c, context.Cause(ctx)) {
				return c.M, c.Err
			}
			patience = time.After(r.f.o.Lease)
		case <-patience:
			r.f.giveUp(u, c)
		}
	}
}

// begin finds the run of a job or makes it, and waits for it.
func (r *Runner) begin(job assay.Job, observes bool) (*run, *ledger.Call, error) {
	f, m := r.f, r.m
	if m.App != Commands && (job.Prepare != nil || job.Cleanup != nil || job.Setup != nil || job.Service != nil ||
		job.Verify != nil) {
		return nil, nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "%w: study %q brings commands of its own, "+
			"but runs the application %q of the workers", assay.ErrSetup, m.Name, m.App),
			"leave out prepare, cleanup, setup, service and verify")
	}
	f.mu.Lock()
	defer f.unlock()
	if m.left {
		return nil, nil, errClosed
	}
	id := job.ID
	if id.Attempt <= 0 {
		m.unnamed++
		id = assay.RunID{Repeat: m.unnamed, Attempt: 1}
	}
	key := runKey{id.Trial, id.Repeat}
	if counts, known := m.told[attemptKey{key, id.Attempt}]; known {
		return nil, nil, assay.Errorf(assay.ClassConflict, "trial %d of study %q: the outcome was handed over before "+
			"(of attempt %d: %v)", id.Trial, m.Name, id.Attempt, counts)
	}
	u := m.runs[key]
	if u == nil {
		u = &run{m: m, key: key}
		m.runs[key] = u
	}
	u.job, u.Parted, u.Closed, u.Want, u.Idle = job, false, false, "", time.Time{}
	if p, ok := m.priorities[id.Trial]; ok {
		u.job.Priority = p
	}
	c := u.Wait(id.Attempt, job.Interval, observes)
	f.settle(u)
	return u, c, nil
}

// handedKept is how many runs of a study that were handed over are kept at least, so that they can
// be asked for once more: twice as many as are open, and these.
const handedKept = 8

// hand notes that a run which counts was handed over.
func (m *member) hand(r *run) {
	if !r.Counts() || slices.Contains(m.handed, r.key) {
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
func (f *Fleet) leave(r *run, c *ledger.Call, cause error) bool {
	f.mu.Lock()
	defer f.unlock()
	if c.Over() {
		return true
	}
	r.Leave(c, cause)
	if c.Over() && len(r.Calls) > 0 {
		return true
	}
	f.withdraw(r)
	if !c.Over() && !r.Alive() {
		r.GiveUp(c)
	}
	if c.Over() && len(r.Attempts) == 0 {
		delete(r.m.runs, r.key)
	}
	return c.Over()
}

// giveUp ends the wait for the outcome of a run that was to be ended: its worker is heard
// of and does not obey. An outcome that is being written is what the run has come to.
func (f *Fleet) giveUp(r *run, c *ledger.Call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r.busy != nil && !c.Over() {
		busy := r.busy
		f.mu.Unlock()
		select {
		case <-busy:
		case <-c.Done:
		}
		f.mu.Lock()
	}
	if !c.Over() {
		r.GiveUp(c)
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
	return max(1, r.f.slotsOf(r.m, r.f.now()))
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
		for _, c := range slices.Clone(u.Calls) {
			u.Leave(c, assay.ErrDetached)
		}
		f.withdraw(u)
		for _, a := range u.Attempts {
			if a.State == ledger.Placed {
				f.unplace(a, f.now())
			}
			if a.Alive() && u.Parted && !u.Closed && !u.Counts() {
				f.parted[m.Name] = true
			}
		}
	}
}
