package queue

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// Tell implements [Control]. The first outcome of a run counts; each further one is
// booked as extra. It returns [ErrUnknown] for an attempt that is not on record.
func (f *Fleet) Tell(ctx context.Context, o Outcome) error {
	if !ledger.Tellable(o.Why) {
		return assay.Errorf(assay.ClassUsage, "an outcome cannot be %q", o.Why)
	}
	f.mu.Lock()
	defer f.unlock()
	f.heardOf(o.Worker, f.now())
	a, err := f.attempt(o.ID, o.Worker)
	if err != nil {
		if m := f.studies[o.ID.Study]; m != nil {
			if _, known := m.told[attemptKey{runKey{o.ID.Trial, o.ID.Repeat}, o.ID.Attempt}]; known {
				return nil
			}
		}
		return err
	}
	f.bind(a, o.Worker)
	m := o.Measurement
	m.Stdout, m.Stderr = o.Stdout, o.Stderr
	b := assay.Booking{Why: o.Why, Reason: o.Reason, Staged: max(0, o.Staged)}
	if isHash(o.Files) { // it is on record for good
		b.Files = o.Files
	}
	return f.book(ctx, a, b, m)
}

// book writes the end of an attempt and puts it into effect, unless it has ended before. Outcomes of one run are
// written one after the other: the first counts. The lock is held, but not while it waits and writes.
func (f *Fleet) book(ctx context.Context, a *attempt, b assay.Booking, m assay.Measurement) error {
	r := a.run
	if err := f.written(ctx, r); err != nil {
		return err
	}
	if r.m.left && a.State != ledger.Ended {
		return errUnready
	}
	b.RunID, b.Measurement = a.id(), m
	b, ok := r.Book(a, b, f.now(), f.o.Lease)
	if !ok {
		return nil
	}
	r.busy = make(chan struct{})
	defer func() {
		close(r.busy)
		r.busy = nil
	}()
	if err := f.write(r.m, assay.Event{Booked: &b}); err != nil {
		return assay.WithClass(assay.ClassUnavailable, err)
	}
	if a.State == ledger.Placed && !r.m.left {
		f.unplace(a, f.now())
	}
	r.End(a, b, m)
	a.tail = [2][]byte{}
	f.learn(a, b, m.Elapsed)
	f.settle(r)
	return nil
}

// written waits until nothing of a run is being written.
func (f *Fleet) written(ctx context.Context, r *run) error {
	for r.busy != nil {
		if err := wait(ctx, &f.mu, r.busy); err != nil {
			return err
		}
	}
	return nil
}

// learn takes note of how long an attempt ran that was booked, for its worker and its study.
func (k *roster) learn(a *attempt, b assay.Booking, ran time.Duration) {
	w, m := k.workers[a.worker], a.run.m
	if w != nil && b.Why != assay.WhyLost {
		w.done++
	}
	if !b.Counts() {
		m.atLeast(ran)
		return
	}
	m.learn(ran)
	if b.Why == "" {
		m.pace(w, ran)
	}
}
