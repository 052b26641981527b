package queue

import (
	"context"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// expire books attempts that were silent for longer than a lease as lost.
//
// A server that was itself suspended could not receive beats: every lease is extended by the time of the suspension. A
// study whose record cannot be written does not delay the others.
func (f *Fleet) expire(ctx context.Context, losing *sync.WaitGroup) {
	f.mu.Lock()
	defer f.unlock()
	now := f.o.Now()
	if late := now.Sub(f.looked) - f.o.lookEvery(); late > f.o.Lease/2 {
		for _, a := range f.placed {
			a.Heard = a.Heard.Add(late)
		}
	}
	f.looked, f.slots = now, nil
	f.roster.look(f.studies, now)
	if now.Sub(f.forgot) > f.o.Lease {
		f.forgot = now
		f.forget(now)
	}
	silent := map[*member][]*attempt{}
	var of []*member
	for _, a := range f.placed {
		m := a.run.m
		if a.Silent(now) <= f.o.Lease || m.losing {
			continue
		}
		if silent[m] == nil {
			of = append(of, m)
		}
		silent[m] = append(silent[m], a)
	}
	for _, m := range of {
		m.losing = true
		losing.Go(func() { f.lose(ctx, m, silent[m]) })
	}
}

// lose books attempts of one study as lost.
func (f *Fleet) lose(ctx context.Context, m *member, silent []*attempt) {
	f.mu.Lock()
	defer f.unlock()
	defer func() { m.losing = false }()
	for _, a := range silent {
		if ctx.Err() != nil {
			return
		}
		b := assay.AttemptEnd{Why: assay.WhyLost, Reason: "no heartbeat for " + f.o.Lease.String()}
		if err := f.book(ctx, a, b, a.Latest); err != nil {
			f.o.Log.Warn("recording a lost run: "+err.Error(), LogID(a.id())...)
			return
		}
	}
}

// remembered is how many leases a worker's claims are remembered after they were made and
// have ended, and longer than a carrier repeats a ticket.
const remembered = 20

// forget drops claims and workers that are no longer needed. The lock is held.
func (f *Fleet) forget(now time.Time) {
	for key, c := range f.claims {
		if (c.a == nil || c.a.State >= ledger.Lost) && now.Sub(c.at) > remembered*f.o.Lease {
			delete(f.claims, key)
		}
	}
	for id, w := range f.workers {
		if w.running == 0 && now.Sub(w.heard) > max(24*time.Hour, f.o.Lease) {
			delete(f.workers, id)
			delete(f.orders, id)
			f.slots = nil
		}
	}
}
