package queue

import (
	"context"
	"maps"
	"slices"
	"time"
)

// refillEvery is the interval of the search for lost tickets.
const refillEvery = 5 * time.Second

// A healing is how often tickets were offered to machines that have room and take none.
type healing struct {
	next  time.Time
	pause time.Duration
}

// Between two offers to idle machines, the first and the longest pause.
const (
	firstPause = 2 * refillEvery
	lastPause  = 10 * time.Minute
)

// refill replaces tickets that a carrier has lost. It offers the missing number of tickets of an application. The depth
// of a queue does not show which tickets are missing, so it also offers some to machines that have free slots, can run
// the open attempts and do not ask for them.
func (f *Fleet) refill(ctx context.Context) {
	f.mu.Lock()
	names := make([]string, 0, len(f.apps))
	for name, p := range f.apps {
		if p.open > 0 {
			names = append(names, name)
		}
	}
	f.mu.Unlock()
	for _, name := range names {
		ctx, cancel := context.WithTimeout(ctx, refillEvery)
		depth, err := f.carrier.Depth(ctx, name)
		cancel()
		if err != nil {
			f.o.Log.Warn("asking how much work waits: " + err.Error())
			continue
		}
		f.mu.Lock()
		p := f.apps[name]
		f.offer(p, p.wanted()-depth)
		f.heal(name, p)
		f.unlock()
	}
}

// offer adds tickets for n of the wanted attempts of an application, in turn for each of
// its studies.
func (l *line) offer(p *app, n int) {
	for round := 0; n > 0; round++ {
		for _, m := range p.studies {
			if round < len(m.open) && n > 0 && !m.held {
				l.pending = append(l.pending, l.newTicket(m))
				n--
			}
		}
	}
}

// heal offers tickets to machines that have room. A group of machines that takes none all
// the same is offered some ever more rarely. The lock is held.
func (f *Fleet) heal(name string, p *app) {
	now := f.o.Now()
	open := map[string]int{}
	for _, m := range p.studies {
		if !m.held {
			open[m.class] += len(m.open)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(open)) {
		n, h := open[class], p.idle[class]
		if h == nil {
			h = &healing{now.Add(firstPause), firstPause}
			p.idle[class] = h
		}
		if now.Before(h.next) {
			continue
		}
		h.pause = min(2*h.pause, lastPause)
		h.next = now.Add(h.pause)
		for range min(n, f.room(group{name, class}, now)) {
			f.pending = append(f.pending, Ticket{ID: f.ticket(), App: name, MachineClass: class})
		}
	}
	for class := range p.idle {
		if open[class] == 0 {
			delete(p.idle, class)
		}
	}
}

// claimedFor notes that a run of a study was claimed: its tickets get to workers.
func (l *line) claimedFor(m *member, now time.Time) {
	if h := l.apps[m.App].idle[m.class]; h != nil {
		h.pause, h.next = firstPause, now.Add(firstPause)
	}
}
