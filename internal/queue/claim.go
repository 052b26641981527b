package queue

import (
	"context"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// A claimKey identifies a claim: a repeated claim has the same key.
type claimKey struct{ ticket, worker string }

// claimed is the result of a claim.
type claimed struct {
	a     *attempt      // nil once it has ended and its run is forgotten
	ready chan struct{} // closed when the answer is known
	at    time.Time
}

// Claim implements [Control]. It returns [ErrStranger] to a worker that has not called Hello, and [ErrDraining] to a
// worker that is draining.
//
// A claim is remembered while its attempt is at the worker, and a few leases longer: the same ticket then yields
// nothing to run.
func (f *Fleet) Claim(ctx context.Context, t Ticket, id string) (Claim, error) {
	f.mu.Lock()
	defer f.unlock()
	w, err := f.claimant(t, id)
	if err != nil {
		return Claim{}, err
	}
	key := claimKey{t.ID, id}
	for c := f.claims[key]; c != nil; c = f.claims[key] {
		if err := wait(ctx, &f.mu, c.ready); err != nil {
			return Claim{}, err
		}
		if f.claims[key] == c { // it did not fail
			if c.a == nil {
				return Claim{Verdict: Drop}, nil
			}
			c.a.Heard = f.o.Now()
			return c.a.task(f.o, id), nil
		}
	}
	a := f.first(t.App, w)
	if a == nil {
		return Claim{Verdict: Drop}, nil
	}
	return f.begin(key, a, w)
}

// claimant returns the worker of a claim, if it may make it. The lock is held.
func (f *Fleet) claimant(t Ticket, id string) (*worker, error) {
	w := f.workers[id]
	switch {
	case f.down:
		return nil, errDown
	case w == nil:
		return nil, ErrStranger
	}
	w.heard = f.o.Now()
	switch {
	case w.order.Drain:
		return nil, ErrDraining
	case w.order.Quarantine:
		return nil, ErrQuarantined
	case !w.has(t.App):
		return nil, assay.Errorf(assay.ClassUsage, "worker %s has a ticket of %q, which it does not offer", w.Name, t.App)
	}
	return w, nil
}

// wait waits for a channel without a lock, which is held before and after.
func wait(ctx context.Context, mu *sync.Mutex, ch <-chan struct{}) error {
	mu.Unlock()
	defer mu.Lock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return assay.WithClass(assay.ClassUnavailable, context.Cause(ctx))
	}
}

// begin places an open attempt at a worker. It is recorded before the worker receives it. The lock is held, but
// released during the write.
func (f *Fleet) begin(key claimKey, a *attempt, w *worker) (Claim, error) {
	r, m := a.run, a.run.m
	f.shut(a)
	if r.job.Config != nil {
		m.ran.by(r.job.Config.Key(), w.Label())
	}
	a.State, a.worker, a.Worker, a.MachineClass = ledger.Placing, w.ID, w.Label(), w.MachineClass
	if m.MachineClass == ClassSame && m.class == "" {
		f.keepTo(m, w.MachineClass)
	}
	c := &claimed{a: a, ready: make(chan struct{}), at: f.o.Now()}
	f.claims[key], a.claim = c, c
	defer close(c.ready)
	err := f.write(m, assay.Event{Started: &assay.Start{RunID: a.id(), Worker: a.Worker, MachineClass: w.MachineClass}})
	if err != nil {
		delete(f.claims, key)
		f.putBack(a)
		return Claim{}, assay.WithClass(assay.ClassUnavailable, err)
	}
	m.firm = true
	f.o.Log.Info("attempt placed", append(LogID(a.id()), "worker", a.Worker)...)
	f.o.Waited(f.o.Now().Sub(a.Since))
	a.Heard, a.Since = f.o.Now(), f.o.Now()
	if m.left { // its attempts do not belong to this fleet any more; the record has this one
		a.State, r.Parted = ledger.Placed, true
		f.parted[m.Name] = true
		return Claim{}, errUnready
	}
	f.place(a, f.o.Now())
	f.claimedFor(m, f.o.Now())
	if r.Startable(a) {
		return a.task(f.o, w.ID), nil
	}
	// It was taken back meanwhile, or another attempt is ahead, and it has not begun.
	why := assay.WhyCancel
	if r.Counts() || a.Ahead {
		why = assay.WhyDuplicate
	}
	if err := f.book(context.Background(), a, assay.AttemptEnd{Why: why}, assay.Measurement{}); err != nil {
		return Claim{}, err
	}
	return Claim{Verdict: Drop}, nil
}

// putBack opens an attempt again that could not be recorded, if it is still wanted.
func (f *Fleet) putBack(a *attempt) {
	r := a.run
	if !r.m.firm && r.m.MachineClass == ClassSame {
		r.m.class = ""
	}
	a.worker, a.Worker, a.MachineClass = "", "", ""
	a.State = ledger.Ended
	if !r.m.left && !r.Counts() && r.Want == "" && len(r.Calls) > 0 {
		f.enqueue(a)
		return
	}
	r.Remove(a) // it is not on record, so it does not exist
	f.settle(r)
}

// task returns the answer to the claim of a worker that has become an attempt. The lock is held.
func (a *attempt) task(o Options, worker string) Claim {
	r := a.run
	if a.State != ledger.Placed || a.worker != worker {
		return Claim{Verdict: Drop}
	}
	job := r.job
	job.ID = a.id()
	if r.m.App != Commands {
		job.Argv = nil
	}
	task := Task{ID: job.ID, App: r.m.App, Job: job, Expected: r.m.expected(r)}
	if r.m.Values != nil {
		task.Values = r.m.Values(job.Config)
	}
	return Claim{Verdict: Go, Task: task, Lease: o.Lease, Beat: o.beat(job.Interval)}
}

// write appends an event to the record of a study. The lock is held before and after, but not during the write. The
// write outlives its caller, because otherwise its outcome would be unknown.
func (f *Fleet) write(m *member, e assay.Event) error {
	f.unlock()
	defer f.mu.Lock()
	return m.Record.Append(context.Background(), e)
}
