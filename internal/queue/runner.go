package queue

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// A Runner makes the runs of one study on a [Fleet]. Its runs outlive their callers, and the server too. A job without
// an attempt in its ID is a run of its own.
//
// The cause of the end of a run's context decides what happens to the run:
//
//   - [assay.ErrDetached] leaves the run alone, and takes back one that has not begun.
//   - An error with a method Stops() bool, such as the error of a stopping rule, decides whether the measurement so
//     far is kept.
//   - Otherwise [context.Canceled], [context.DeadlineExceeded] and errors of class conflict cancel the run, and its
//     measurement is discarded; all other errors stop it.
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

// Run implements [assay.Runner]. For a booked attempt, Run returns its outcome, or the outcome of the attempt that
// counts.
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

// leave handles the end of a caller's context. It reports whether Run returns now; otherwise Run waits for the outcome.
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

// giveUp ends the wait for the outcome of a run whose worker is connected but does not obey. If an outcome is being
// written, it becomes the result of the run.
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
	return max(1, r.f.slotsOf(r.m, r.f.o.Now()))
}

// Place restricts new runs of a study of class "any" to machines of the given class, or lifts the restriction if class
// is "". It affects neither other studies nor current runs.
func (r *Runner) Place(class string) {
	f, m := r.f, r.m
	f.mu.Lock()
	defer f.unlock()
	if m.MachineClass != ClassAny || m.class == class {
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

// End books the attempts that are still at workers, for a study that has ended: one whose run another attempt has
// decided, or whose worker did not obey. It waits for one that is being placed. Their cost is on record then, and their
// workers end them: an ended study need not have a later session that books them. An error is one of the record.
func (r *Runner) End(ctx context.Context) error {
	f, m := r.f, r.m
	f.mu.Lock()
	defer f.unlock()
	for _, key := range slices.SortedFunc(maps.Keys(m.runs), runKey.compare) {
		u := m.runs[key]
		if u == nil {
			continue // forgotten meanwhile
		}
		for _, a := range slices.Clone(u.Attempts) {
			if a.State == ledger.Placing {
				if err := wait(ctx, &f.mu, a.claim.ready); err != nil {
					return err
				}
			}
			if a.State != ledger.Placed {
				continue
			}
			why := assay.WhyCancel
			if u.Counts() {
				why = assay.WhyDuplicate
			}
			if err := f.book(ctx, a, assay.AttemptEnd{Why: why}, a.Latest); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close removes the study from the fleet. Waiting calls of Run return as with [assay.ErrDetached]. The workers of their
// runs are asked to retry later, until the study joins again; other runs of the study are cancelled.
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
				f.unplace(a, f.o.Now())
			}
			if a.Alive() && u.Parted && !u.Closed && !u.Counts() {
				f.parted[m.Name] = true
			}
		}
	}
}
