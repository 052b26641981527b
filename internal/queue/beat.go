package queue

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// observed limits the time a beat waits for the observer of the run, such as a stopping rule.
const observed = time.Second

// Beat implements [Control]. It returns [Cancel] for a run without a caller, and for an attempt that is not on record.
func (f *Fleet) Beat(ctx context.Context, b Beat) (Verdict, error) {
	f.mu.Lock()
	defer f.unlock()
	f.heardOf(b.Worker, f.o.Now())
	a, err := f.attempt(b.ID, b.Worker)
	switch {
	case a == nil && assay.ClassOf(err) == assay.ClassUnavailable:
		return "", err
	case a == nil:
		return Cancel, nil
	}
	r := a.run
	// An outcome that is being written decides.
	if err := f.written(ctx, r); err != nil {
		return "", err
	}
	if r.m.left {
		return "", errUnready
	}
	now := f.o.Now()
	if r.Revive(a, now) { // it was silent, and continues: nothing begins in its place
		f.withdraw(r)
		f.place(a, now)
	}
	if a.State != ledger.Placed {
		return f.verdict(a), nil
	}
	f.bind(a, b.Worker)
	a.beat(b, f.o.Lease, now)
	v := f.verdict(a)
	if v == Go && r.Idling() {
		return "", errUnready // it was lost: its caller will repeat the call, or has given up
	}
	if v == Go && f.observe(ctx, a) {
		v = f.verdict(a)
	}
	a.Halted = a.Halted || v != Go
	return v, nil
}

// beat takes in a beat of the attempt.
func (a *attempt) beat(b Beat, lease time.Duration, now time.Time) {
	if b.So.Elapsed >= a.Latest.Elapsed {
		a.tail = tails(b)
	}
	if a.Report(b.So, b.Gap, lease, now) {
		a.curve.add(b.So)
	}
}

// attempt returns an attempt of a worker, or the error why it has none. The lock is held.
func (f *Fleet) attempt(id assay.RunID, worker string) (*attempt, error) {
	m, err := f.member(id.Study)
	if err != nil {
		return nil, err
	}
	key := runKey{id.Trial, id.Repeat}
	r := m.runs[key]
	if r == nil {
		return nil, ErrUnknown
	}
	a, ok := r.Find(id.Attempt)
	if !ok || a.State < ledger.Placed || !f.of(a, worker) {
		return nil, ErrUnknown
	}
	return a, nil
}

// verdict decides whether an attempt continues. The lock is held.
func (f *Fleet) verdict(a *attempt) Verdict {
	r := a.run
	w := f.workers[a.worker]
	return Verdict(r.Verdict(a, f.o.Now(), f.o.Lease, w != nil && w.order.Evict))
}

// observe hands the measurement so far to the observers of the run, and waits for them. It reports whether it did: the
// verdict may have changed. The lock is held before and after.
func (f *Fleet) observe(ctx context.Context, a *attempt) bool {
	m := a.Latest
	m.Worker, m.MachineClass = a.Worker, a.MachineClass
	var to []*ledger.Call
	for _, c := range a.run.Calls {
		if c.Due(m) {
			to = append(to, c)
		}
	}
	if len(to) == 0 {
		return false
	}
	f.mu.Unlock()
	defer f.mu.Lock()
	ctx, cancel := context.WithTimeout(ctx, observed)
	defer cancel()
	for _, c := range to {
		o := ledger.Observation{M: m, Seen: make(chan struct{})}
		select {
		case c.Beats <- o:
			select {
			case <-o.Seen:
			case <-ctx.Done():
			}
		case <-c.Left:
		case <-ctx.Done():
		}
	}
	return true
}
