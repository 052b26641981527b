package queue

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/proc"
)

// A worker is the Fleet's state of a worker. The lock of the Fleet guards it.
type worker struct {
	Worker
	heard   time.Time
	said    time.Time // hello
	running int
	done    int
	order   Order
	lost    Losses
	shut    time.Time // see [Fleet.ShutOut]; 0 after a later Hello
}

// Losses are the attempts of a worker that do not count, since the server started.
type Losses struct {
	Elapsed time.Duration // of all of them
	Last    time.Time     // when the last one was booked; 0 if there is none
	Why     string        // of the last one, for people
}

// book takes in the end of an attempt. An attempt that was lost and counts after all is taken back.
func (l *Losses) book(b assay.AttemptEnd, at time.Time) {
	if l.Elapsed = max(0, l.Elapsed+b.Lost()); !b.Counts() {
		l.Last, l.Why = at, cmp.Or(b.Reason, b.Why)
	} else if b.Undo > 0 && l.Elapsed == 0 {
		*l = Losses{}
	}
}

// ShutOut notes that workers can connect no longer, because their token is over. It holds until a worker's
// next Hello, at least for [HelloEvery].
func (f *Fleet) ShutOut(is func(id string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, w := range f.workers {
		if is(id) {
			w.shut, f.slots = f.o.Now(), nil
		}
	}
}

// Label returns the name of a worker as the record has it: its name, or else its ID.
func (w Worker) Label() string { return cmp.Or(w.Name, w.ID) }

// has reports whether the worker offers an application.
func (w *worker) has(app string) bool { return slices.Contains(w.Apps, app) }

// left returns the rest of the worker's lifetime, 0 for no limit. A worker that should be gone has a moment left.
func (w *worker) left(now time.Time) time.Duration {
	if w.Until <= 0 {
		return 0
	}
	return max(w.Until-now.Sub(w.said), 1)
}

// Hello implements [Control].
func (f *Fleet) Hello(_ context.Context, w Worker) (Order, error) {
	if w.ID == "" {
		return Order{}, assay.Errorf(assay.ClassUsage, "a worker without an ID called Hello")
	}
	if err := serves(f.o.Version, w.Version); err != nil {
		return Order{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return Order{}, errDown
	}
	k := f.workers[w.ID]
	if k == nil {
		k = &worker{order: f.orders[w.ID]}
		for _, a := range f.placed {
			if a.worker == w.ID {
				k.running++
			}
		}
		f.workers[w.ID] = k
	}
	if f.o.Now().Sub(k.shut) >= proc.Paced(HelloEvery) { // an earlier call was under way when the token ended
		k.shut = time.Time{}
	}
	k.Worker, k.heard, k.said = w, f.o.Now(), f.o.Now()
	f.obey(k)
	f.slots = nil
	return k.order, nil
}

// Order gives an order to a worker, by its ID or its name. The worker receives it with its next Hello, and an eviction
// with its next beat. It replaces an earlier order; the zero Order has the worker continue, and ends a quarantine. An
// order that cannot be stored (see [Options]) does not take effect.
func (f *Fleet) Order(who string, o Order) error {
	o.Drain = o.Drain || o.Evict
	f.ordering.Lock()
	defer f.ordering.Unlock()
	f.mu.Lock()
	id, err := f.called(who)
	next := maps.Clone(f.orders)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if o == (Order{}) {
		f.mu.Lock()
		err := f.goOn(id)
		f.mu.Unlock()
		if err != nil {
			return err
		}
	}
	if next[id] = o; o == (Order{}) {
		delete(next, id)
	}
	if f.o.Keep != nil {
		if err := f.o.Keep(maps.Clone(next)); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders, f.slots = next, nil
	if w := f.workers[id]; w != nil { // it may have been forgotten
		w.order = o
		f.obey(w)
	}
	return nil
}

// kept returns a copy of orders, which may be nil.
func kept(orders map[string]Order) map[string]Order {
	own := map[string]Order{}
	maps.Copy(own, orders)
	return own
}

// A WorkerState is the state of a worker.
type WorkerState struct {
	Worker
	Order
	Silent  time.Duration // since the last call
	Heard   time.Time
	Running int     // attempts that it has
	Done    int     // outcomes since the server started
	Load    float64 // the share of its slots that are taken
	Ratio   float64 // run times relative to its class, 0 if unknown: see [Fleet.Workers]
	Away    bool    // silent for longer than a lease
	Lost    Losses
	ShutOut time.Time // when its token was revoked or expired; 0 if it was not
}

// Workers returns all workers that have called in the last day, by name and ID.
//
// Ratio is a ratio of medians over the latest runs of the running studies, among machines of one class. It requires
// five runs of the worker, and another worker.
func (f *Fleet) Workers() []WorkerState {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.o.Now()
	ratios := ratios(f.studies)
	all := make([]WorkerState, 0, len(f.workers))
	for _, w := range f.workers {
		s := WorkerState{
			Worker: w.Worker, Order: w.order, Silent: now.Sub(w.heard), Heard: w.heard, Running: w.running, Done: w.done,
			Load: float64(w.running) / float64(max(w.Slots, 1)), Away: !f.there(w, now),
			Ratio: ratios[w.ID], Lost: w.lost, ShutOut: w.shut,
		}
		if s.Until > 0 {
			s.Until = w.left(now)
		}
		s.Apps = slices.Clone(s.Apps)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b WorkerState) int {
		return cmp.Or(cmp.Compare(a.Label(), b.Label()), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// HelloEvery is the interval at which an idle worker calls Hello.
const HelloEvery = 10 * time.Second
