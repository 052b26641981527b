package queue

import (
	"context"
	"time"

	"github.com/assay-run/assay"
)

// observed is how long a beat waits for whoever observes the run, such as a stopping rule.
const observed = time.Second

// Beat implements [Control]. A run that nobody wants is to be cancelled, and so is an
// attempt that is not on record.
func (f *Fleet) Beat(ctx context.Context, b Beat) (Verdict, error) {
	f.mu.Lock()
	defer f.unlock()
	f.heardOf(b.Worker)
	a, err := f.attempt(b.ID, b.Worker)
	switch {
	case a == nil && assay.ClassOf(err) == assay.ClassUnavailable:
		return "", err
	case a == nil:
		return Cancel, nil
	}
	r := a.run
	// What is being written decides.
	for r.busy != nil {
		if err := f.wait(ctx, r.busy); err != nil {
			return "", err
		}
	}
	if r.m.left {
		return "", errUnready
	}
	if a.state == lost && !f.flaws.has(neverRevives) {
		f.revive(a)
	}
	if a.state != placed {
		return f.verdict(a), nil
	}
	f.bind(a, b.Worker)
	a.heard = f.now()
	if b.So.Elapsed >= a.so.Elapsed {
		a.tail = tails(b)
	}
	switch {
	case b.Gap > f.o.Lease && !f.flaws.has(ignoresGaps):
		a.tainted = true
	case b.So.Elapsed >= a.so.Elapsed: // beats may overtake each other
		a.so = b.So
		a.so.Stdout, a.so.Stderr = nil, nil
		a.curve.add(b.So)
	}
	v := f.verdict(a)
	if v == Go && len(r.waiters) == 0 && !r.parted && !r.idle.IsZero() {
		return "", errUnready // it was lost: whoever waited for it asks for it again, or has given it up
	}
	if v == Go && f.observe(ctx, a) {
		v = f.verdict(a)
	}
	a.halted = a.halted || v != Go
	return v, nil
}

// attempt returns an attempt of a worker, or why there is none. The lock is held.
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
	a := r.find(id.Attempt)
	if f.flaws.has(noFence) && len(r.attempts) > 0 {
		return r.attempts[len(r.attempts)-1], nil
	}
	if a == nil || a.state < placed || !f.of(a, worker) {
		return nil, ErrUnknown
	}
	return a, nil
}

// of reports whether an attempt is that of a worker. After a restart only its label is
// known, which another one may share: the first that is heard of has it then.
func (f *Fleet) of(a *attempt, worker string) bool {
	if a.worker != "" {
		return a.worker == worker
	}
	w := f.workers[worker]
	return w == nil || w.Label() == a.where
}

// bind notes whose an attempt is that the record alone knew of. The lock is held.
func (f *Fleet) bind(a *attempt, id string) {
	if a.worker != "" {
		return
	}
	a.worker = id
	if w := f.workers[id]; w != nil && a.state == placed {
		w.running++
	}
}

// revive takes an attempt back that was booked as lost: it was silent, and goes on. What
// has not begun waits for it. The lock is held.
func (f *Fleet) revive(a *attempt) {
	r := a.run
	if r.counted != nil || r.over {
		return
	}
	a.heard, a.ahead, a.halted = f.now(), false, false
	f.withdraw(r)
	f.place(a)
}

// verdict says whether an attempt goes on. The lock is held.
//
// Of two that are alive the one that has run longer does, since these runs are costly.
// The other one is told so for good, so that not both end.
func (f *Fleet) verdict(a *attempt) Verdict {
	r := a.run
	w := f.workers[a.worker]
	switch {
	case r.over, w != nil && w.order.Evict:
		return Cancel
	case r.counted != nil:
		return Duplicate
	case a.state != placed:
		return Cancel
	case r.want != "" && (r.want != Cancel || !f.flaws.has(ignoresCancel)):
		return r.want
	case len(r.waiters) == 0 && !r.parted && !r.idle.IsZero() && f.now().Sub(r.idle) > f.o.Lease:
		return Cancel // it was lost too often: nobody waits any more
	}
	now := f.now()
	var rival *attempt
	for _, o := range r.attempts {
		if o != a && (o.state == placed || o.state == placing) && !o.ahead && !o.tainted {
			rival = o
		}
	}
	switch {
	case f.flaws.has(revivesBlindly):
		return Go
	case a.tainted && rival == nil:
		return Cancel
	case a.ahead, a.tainted:
		return Duplicate
	case rival == nil:
		return Go
	}
	if p, q := a.progress(now), rival.progress(now); p < q || p == q && a.n > rival.n {
		a.ahead = true
		return Duplicate
	}
	rival.ahead = true
	return Go
}

// observe hands the measurement so far to whoever observes the run, and waits for it. It
// reports whether it did: what is wanted of the run may have changed. The lock is held
// before and after.
func (f *Fleet) observe(ctx context.Context, a *attempt) bool {
	m := a.so
	m.Where, m.Class = a.where, a.class
	var to []*waiter
	for _, w := range a.run.waiters {
		// At most once an interval of the run's own time.
		if w.beats != nil && w.cause == nil && m.Elapsed >= w.seen-w.seen%w.interval+w.interval {
			w.seen, w.so = m.Elapsed, m
			to = append(to, w)
		}
	}
	if len(to) == 0 {
		return false
	}
	f.mu.Unlock()
	defer f.mu.Lock()
	ctx, cancel := context.WithTimeout(ctx, observed)
	defer cancel()
	for _, w := range to {
		o := observation{m, make(chan struct{})}
		select {
		case w.beats <- o:
			select {
			case <-o.seen:
			case <-ctx.Done():
			}
		case <-w.left:
		case <-ctx.Done():
		}
	}
	return true
}

// silent returns how long an attempt was not heard of.
func (a *attempt) silent(now time.Time) time.Duration { return now.Sub(a.heard) }
