package queue

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// Tell implements [Control]. The first outcome of a run counts; each further one is booked as extra. It returns
// [ErrUnknown] for an attempt that is not on record.
func (f *Fleet) Tell(ctx context.Context, o Outcome) error {
	if !ledger.Tellable(o.Why) {
		return assay.Errorf(assay.ClassUsage, "an outcome cannot be %q", o.Why)
	}
	f.mu.Lock()
	defer f.unlock()
	f.heardOf(o.Worker, f.o.Now())
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
	b := assay.AttemptEnd{Why: o.Why, Reason: o.Reason, Staged: max(0, o.Staged)}
	if isHash(o.Files) { // it is on record for good
		b.Files = o.Files
	}
	return f.book(ctx, a, b, m)
}

// book writes the end of an attempt and puts it into effect, unless the attempt has ended before. Outcomes of one run
// are written one after the other: the first counts. The lock is held, but released during waits and writes.
func (f *Fleet) book(ctx context.Context, a *attempt, b assay.AttemptEnd, m assay.Measurement) error {
	r := a.run
	if err := f.written(ctx, r); err != nil {
		return err
	}
	if r.m.left && a.State != ledger.Ended {
		return errUnready
	}
	b.RunID, b.Measurement = a.id(), m
	b, ok := r.Book(a, b, f.o.Now(), f.o.Lease)
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
	f.o.Log.Info("attempt ended", append(LogID(a.id()), "worker", a.Worker, "why", b.Why, "reason", b.Reason,
		"elapsed_s", m.Elapsed.Seconds())...)
	if a.State == ledger.Placed && !r.m.left {
		f.unplace(a, f.o.Now())
	}
	r.End(a, b, m)
	a.tail = [2][]byte{}
	f.learn(a, b, m.Elapsed, f.o.Now())
	f.settle(r)
	return nil
}

// written waits until no outcome of a run is being written.
func (f *Fleet) written(ctx context.Context, r *run) error {
	for r.busy != nil {
		if err := wait(ctx, &f.mu, r.busy); err != nil {
			return err
		}
	}
	return nil
}

// learn records the duration of a booked attempt, for its worker and its study.
func (k *roster) learn(a *attempt, b assay.AttemptEnd, ran time.Duration, now time.Time) {
	w, m := k.workers[a.worker], a.run.m
	if w != nil {
		w.lost.book(b, now)
	}
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
